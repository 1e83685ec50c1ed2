"""A model behind an OpenAI-compatible address: one request, one attempt."""

import json
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Chunk, Request
from assistant.errors import AssistantError, PersonMustAct
from assistant.llm.catalogue import window_of
from assistant.llm.client import Endpoint, WebPage
from assistant.llm.dialect import Dialect, learnt
from assistant.llm.faults import Passing, Refusal, Unreachable, Where, explain, retry_after, web_page, words_of
from assistant.llm.late import http, library
from assistant.llm.reply import Reply
from assistant.llm.wire import Encoder


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def random_id() -> str:
    """An id for a call that came without one."""
    return f"call_{uuid4().hex[:24]}"


class OpenAIModel:
    """Asks once; faults that another attempt may outlive leave as `Passing`, so wrap it in `Retrying`."""

    tools_supported = True

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        window: int = 0,
        extra: Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] = now,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self.name = name
        self.window = window or window_of(name)
        self._endpoint = endpoint
        self._where = Where(name, endpoint.url)
        self._encoder = Encoder(name, extra)
        self._clock = clock
        self._new_id = new_id
        self._dialect = Dialect()

    def stream(self, request: Request, interrupt: Interrupt) -> Iterator[Chunk]:
        """The reply's pieces; asked again at once when the refusal teaches how this endpoint wants it."""
        if interrupt.is_set():
            return
        check(self._endpoint)
        tried: set[Dialect] = set()
        while (dialect := self._dialect) not in tried:
            tried.add(dialect)
            try:
                yield from self._attempt(request, dialect, interrupt)
                return
            except library().APIStatusError as problem:
                refusal = self._refusal(problem)
                self._dialect = learnt(refusal, dialect) or dialect
                last = explain(refusal, self._where), problem
        fault, cause = last
        raise fault from cause

    def _attempt(self, request: Request, dialect: Dialect, interrupt: Interrupt) -> Iterator[Chunk]:
        taken = {call.id for message in request.messages for call in message.calls}
        reply = Reply(taken, self._new_id)
        try:
            for event in self._endpoint.stream(self._encoder.body(request, dialect), interrupt):
                self._check(event)
                yield from reply.take(event)
        except library().APIStatusError:
            if interrupt.is_set():
                return
            raise
        except (library().APIConnectionError, http().HTTPError, OSError, *UNREADABLE) as problem:
            if interrupt.is_set():
                return
            raise unreachable(problem, self._where) from problem
        except WebPage as problem:
            raise web_page(self._where) from problem
        if not interrupt.is_set():
            yield from reply.finish()

    def _check(self, event: Any) -> None:
        """Raise what an event says went wrong."""
        if not isinstance(event, Mapping):
            raise Passing(f"{self._where.url} sent something that is no reply: {str(event)[:80]!r}")
        if error := event.get("error"):
            words, code = words_of(event, self._endpoint.key)
            number = error.get("code") if isinstance(error, Mapping) else None
            status = number if isinstance(number, int) and 400 <= number < 600 else STATUS_OF.get(code, 500)
            raise explain(Refusal(status, words, code), self._where)

    def _refusal(self, problem: Any) -> Refusal:
        words, code = words_of(problem.body, self._endpoint.key)
        return Refusal(problem.status_code, words, code, retry_after(problem.response.headers, self._clock))


UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError)
STATUS_OF = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "context_length_exceeded": 400,
    "exceed_context_size_error": 400,
    "invalid_request_error": 400,
    "invalid_api_key": 401,
    "model_not_found": 404,
}
"""The status that an error inside a stream would have had, by its code."""


def check(endpoint: Endpoint) -> None:
    """Refuse an address or a key that could not even be sent."""
    try:
        parts = urlsplit(endpoint.url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        usable = usable and not any(character.isspace() for character in endpoint.url)
        http().URL(endpoint.url)
    except (ValueError, http().InvalidURL):
        usable = False
    if not usable:
        raise PersonMustAct(f"model.base_url {endpoint.url!r} is no address: it must look like https://host/v1")
    if not (endpoint.key.isascii() and endpoint.key.isprintable()):
        raise PersonMustAct("The API key holds characters that no key has: copy it again into the home's .env")


def unreachable(problem: BaseException, where: Where) -> AssistantError:
    """Why there was no whole response, found in the chain of causes."""
    causes = list(chain(problem))
    for known in CAUSES:
        if found := next((cause for cause in causes if isinstance(cause, known.kind)), None):
            return known.explained(found, where)
    if any("Timeout" in type(cause).__name__ for cause in causes):
        return Passing(f"{where.url} was silent for too long.", tries=3)
    if any("UnsupportedProtocol" in type(cause).__name__ for cause in causes):
        return Unreachable(f"{where.url} leads to an address that cannot be used: check model.base_url.")
    return Passing(f"The connection to {where.url} broke off ({causes[-1] or type(causes[-1]).__name__}).", tries=4)


def chain(problem: BaseException | None) -> Iterator[BaseException]:
    """An exception and what caused it."""
    while problem is not None:
        yield problem
        problem = problem.__cause__ or problem.__context__


@dataclass(frozen=True, slots=True)
class Cause:
    """What a fault of the connection means: in words, whether it may pass, and whether a person must act then."""

    kind: type[BaseException]
    words: str
    tries: int = 0
    act: bool = True

    def explained(self, cause: BaseException, where: Where) -> AssistantError:
        """The fault for whoever must act."""
        said = self.words.format(url=where.url, cause=getattr(cause, "verify_message", cause))
        return Passing(said, tries=self.tries, act=self.act) if self.tries else Unreachable(said)


CAUSES = (
    Cause(
        ssl.SSLCertVerificationError,
        "{url} could not prove who it is ({cause}): check the address, this machine's clock, and that its "
        "certificates (ca-certificates) are installed.",
    ),
    Cause(ssl.SSLError, "{url} did not make a secure connection ({cause}): does it want http:// ?", 2),
    Cause(ConnectionRefusedError, "Nothing listens at {url}: start the model's server, or set another model.", 3),
    Cause(socket.gaierror, "The host of {url} was not found: check the address and the network.", 3),
    *(Cause(kind, "{url} sent something that cannot be read ({cause}).", 3, act=False) for kind in UNREADABLE),
)
"""The first kind found among the causes decides."""
