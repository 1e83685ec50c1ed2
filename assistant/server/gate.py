"""What every request passes: which host it names, where it comes from, whose it is, how long it is."""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse

from assistant.server.faults import BadRequest, Fault, fault

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES = 10_000_000
"""A request's body may be this long."""
OPEN_TO_ALL = ("/health",)
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})
ADDED = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


@dataclass(frozen=True, slots=True)
class Door:
    """Who may come in."""

    tokens: tuple[str, ...]
    host: str = "127.0.0.1"
    """The address that is listened on."""
    allowed_hosts: Sequence[str] = field(default=())

    def host_allowed(self, named: str) -> bool:
        """Whether a request may name this host; a name of somebody else's would mean a page that pretends to be us."""
        name = bare(named)
        if name in THIS_MACHINE or name in (self.host, *(host.lower() for host in self.allowed_hosts)):
            return True
        return self.host in ANY_ADDRESS and is_address(name)

    def origin_allowed(self, origin: str, host: str) -> bool:
        """Whether a page may ask: our own, or one of a host that the settings name."""
        named = urlsplit(origin).netloc.lower()
        return bool(named) and (named == host.lower() or bare(named) in {h.lower() for h in self.allowed_hosts})

    def token_fits(self, authorization: str) -> bool:
        """Whether the request carries one of our tokens; takes equally long for every wrong one."""
        kind, _, token = authorization.partition(" ")
        given = token.strip().encode("utf-8", "surrogateescape")
        fits = [hmac.compare_digest(given, known.encode()) for known in self.tokens]
        return kind.lower() == "bearer" and any(fits)

    def refusal(self, path: str, headers: MutableMapping[str, str]) -> Fault | None:
        """Why a request may not come in, if so."""
        host = headers.get("host", "")
        if not self.host_allowed(host):
            why = f"this server does not answer for the host {host!r}: add it to server.allowed_hosts"
            return fault(403, why, "host_not_allowed")
        origin = headers.get("origin")
        if origin is not None and not self.origin_allowed(origin, host):
            why = f"pages of {origin!r} may not use this server: add its host to server.allowed_hosts"
            return fault(403, why, "origin_not_allowed")
        if path not in OPEN_TO_ALL and not self.token_fits(headers.get("authorization", "")):
            why = "send `Authorization: Bearer TOKEN`; a local server's token is in server.json of its home"
            return fault(401, why, "unauthorized")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > BODY_BYTES:
            return too_long()
        return None


class Gate:
    """The door in front of an application."""

    def __init__(self, app: App, door: Door) -> None:
        self.app = app
        self.door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self.door.refusal(scope["path"], headers)
        if refused is not None:
            answer = JSONResponse(refused.body(), refused.status, dict(refused.headers()))
            await answer(scope, receive, adding(send))
            return
        await self.app(scope, bounded(receive), adding(send))


def adding(send: Send) -> Send:
    """Every answer carries the headers that keep it from being stored or guessed at."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *ADDED]
        await send(message)

    return sending


def bounded(receive: Receive) -> Receive:
    """A body without a declared length is measured as it comes."""
    heard = 0

    async def receiving() -> Message:
        nonlocal heard
        message = await receive()
        heard += len(message.get("body", b""))
        if heard > BODY_BYTES:
            told = too_long()
            raise BadRequest(told.message, told.code, status=told.status)
        return message

    return receiving


def too_long() -> Fault:
    """The body is longer than anything we take."""
    return fault(413, f"the body may have {BODY_BYTES:,} bytes at most", "body_too_long")


def bare(named: str) -> str:
    """A host without its port and brackets."""
    name = named.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name if name.count(":") > 1 else name.partition(":")[0]


def is_address(name: str) -> bool:
    """Whether it is an address: no foreign page can claim one by its name."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
