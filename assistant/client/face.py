"""What a chat is made of: where it is, what it may use, and the terminal as it needs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from assistant.client.input import Lost
from assistant.client.slash import Command
from assistant.core.ports import Runs, Told
from assistant.errors import AssistantError

T = TypeVar("T")


@dataclass(slots=True)
class Place:
    """Where the conversation is; the caller's commands may move it."""

    session_id: str = ""
    """Empty: the next message begins a session."""
    model: str = ""
    run_id: str = ""
    """The run that is followed, or is to be followed at the start."""


class Face(Protocol):
    """The terminal, as the conversation needs it."""

    def print(self, lines: list[str]) -> None:
        """Put finished lines above what moves."""
        ...

    def refresh(self) -> None:
        """Something that moves has changed."""
        ...

    def later(self, work: Callable[[], T], then: Callable[[T | AssistantError], None], lane: str) -> None:
        """Do slow work elsewhere, in order within its lane, and come back with what it gave or raised."""
        ...

    def follow(self, run_id: str, tell: Callable[[Told | Lost], None]) -> None:
        """Have the events of a run told here, from the first."""
        ...

    def give_back(self, text: str) -> None:
        """Put words back where they were typed."""
        ...

    def leave(self) -> None:
        """End the chat."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """What the chat is given by whoever builds it."""

    runs: Runs
    place: Place
    commands: Mapping[str, Command]
    skill_names: Callable[[], list[str]]
    unfinished: Callable[[str], str] = lambda session_id: ""
    """The run of a session that is queued or running now, or nothing."""
    notify: bool = True
    """Whether reviews that saved or staged something get a line."""


@dataclass(frozen=True, slots=True)
class Look:
    """How the chat may look: with colours or without, Markdown drawn or as it is, tool lines or only their faults."""

    colour: bool = True
    markdown: bool = True
    tools: bool = True
