"""What the endpoints work with, and what each of them is."""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from assistant.runtime.local import LocalRuns
from assistant.runtime.parts import Parts
from assistant.server.feeds import Feeds
from assistant.server.gate import Door

B = TypeVar("B", bound=BaseModel)
ANSWERING, ASIDE = 8, 8
"""Threads that answer requests, and threads that ask a model something small on the side."""


@dataclass(slots=True)
class Service:
    """One server's parts."""

    parts: Parts
    runs: LocalRuns
    door: Door
    feeds: Feeds
    answering: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(ANSWERING, "answer"))
    aside: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(ASIDE, "aside"))

    def close(self) -> None:
        """Let the threads go."""
        for pool in (self.answering, self.aside):
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read and checked."""

    path: Mapping[str, str]
    headers: Mapping[str, str]
    query: Any = None
    body: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered when it is more than an object with the usual status."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One line of the contract; routes and `/openapi.json` are both made from it."""

    method: str
    path: str
    summary: str
    answer: Callable[[Service, Asked], Any] | None = None
    """Answers in a thread of the pool."""
    respond: Callable[[Service, Request, Asked], Awaitable[Response]] | None = None
    """Answers in the event loop: streams."""
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    returns: str = "Object"
    """The name of the answer's schema."""
    status: int = 200
    media: str = "application/json"
    quick: bool = False
    """Answers from memory, in the event loop: also while every thread is busy."""
    faults: tuple[int, ...] = ()
    """Statuses it may answer besides those that every endpoint may."""


def listed(data: list[Any], has_more: bool = False) -> dict[str, Any]:
    """A list of the contract."""
    return {"object": "list", "data": data, "has_more": has_more}


def page(rows: list[Any], limit: int) -> tuple[list[Any], bool]:
    """The first `limit` of rows that were asked for with one more, and whether there are more."""
    return rows[:limit], len(rows) > limit
