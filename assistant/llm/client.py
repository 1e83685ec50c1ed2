"""The way to a provider: one HTTP connection a request, which a stop can cut at once."""

import json
import socket
import ssl
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import Any
from weakref import finalize

from assistant.core.interrupt import Interrupt
from assistant.llm.late import http, library

CONNECT_SECONDS = 2.0
"""While a connection is being made there is nothing to cut, so a stop waits for this at most."""
LINGER_SECONDS = 0.05
"""After the last event, how long the server may take to end the response so that the connection can be used again."""
MADE = ("connect_tcp.complete", "start_tls.complete")


class Line:
    """One connection with its own client; it serves one request at a time, so cutting it cuts only that request."""

    def __init__(self, client: Callable[..., Any], trust: ssl.SSLContext, patience: float) -> None:
        limits = http().Timeout(patience, connect=CONNECT_SECONDS)
        hooks = {"request": [self._watch]}
        self._http = http().Client(verify=trust, timeout=limits, follow_redirects=True, event_hooks=hooks)
        self.client = client(http_client=self._http)
        self.cut_off = False
        self.lingering = False
        self.used = False
        self._socket: socket.socket | None = None

    def cut(self) -> None:
        """End whatever is read or written on the connection now; from any thread."""
        self.cut_off = True
        if self._socket is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection back to the system."""
        self._http.close()

    def _watch(self, request: Any) -> None:
        request.extensions["trace"] = self._note

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        if not event.endswith(MADE):
            return
        stream = info["return_value"]
        self._socket, read = stream.get_extra_info("socket"), stream.read
        stream.read = lambda size, timeout=None: read(size, LINGER_SECONDS if self.lingering else timeout)
        if self.cut_off:
            self.cut()


class Endpoint:
    """One address with its key, and the connections to it that are free."""

    def __init__(self, base_url: str, api_key: str = "", patience: float = 180.0) -> None:
        self.url = base_url.rstrip("/").removesuffix("/chat/completions")
        self.key = api_key.strip()
        self.patience = patience
        """Seconds of silence after which a stream counts as broken."""
        self._free: list[Line] = []
        finalize(self, hang_up, self._free)
        self._lock = Lock()
        self._trust: ssl.SSLContext | None = None

    def stream(self, body: bytes, interrupt: Interrupt) -> Iterator[Any]:
        """The events of the answer to a chat request, or its one JSON value; exceptions are those of `openai`."""
        with self._line(interrupt) as line:
            response = asked(line, body)
            try:
                yield from events(response, line)
                line.used = True
            finally:
                response.close()

    def close(self) -> None:
        """Close the free connections."""
        with self._lock:
            hang_up(self._free)

    @contextmanager
    def _line(self, interrupt: Interrupt) -> Iterator[Line]:
        with self._lock:
            free = next((line for line in self._free if not line.cut_off), None)
            self._free[:] = [line for line in self._free if line is not free and not line.cut_off]
        line = free or self._new_line()
        line.lingering = False
        try:
            with interrupt.waking(line.cut):
                yield line
        finally:
            if line.cut_off:
                line.close()
            else:
                with self._lock:
                    self._free.append(line)

    def _new_line(self) -> Line:
        if self._trust is None:
            secure = self.url.startswith("https:")
            self._trust = http().create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

        def client(**more: Any) -> Any:
            return library().OpenAI(base_url=self.url, api_key=self.key or "none", max_retries=0, **more)

        return Line(client, self._trust, self.patience)


def hang_up(lines: list[Line]) -> None:
    """Close connections; also when the endpoint is forgotten."""
    while lines:
        lines.pop().close()


class WebPage(Exception):
    """Raised when the answer is a page for people."""


def asked(line: Line, body: bytes) -> Any:
    """The response to a chat request; a connection that the server gave up between two requests is made anew."""
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    ask = partial(
        line.client.post,
        "/chat/completions",
        cast_to=http().Response,
        content=body,
        options={"headers": headers},
        stream=True,
    )
    try:
        return ask()
    except library().APIConnectionError as problem:
        if not line.used or line.cut_off or isinstance(problem, library().APITimeoutError):
            raise
    line.used = False
    return ask()


def events(response: Any, line: Line) -> Iterator[Any]:
    """The JSON values of a response, whether it is a stream of events or one value."""
    kind = response.headers.get("content-type", "")
    if kind.startswith("text/html"):
        raise WebPage
    if kind.startswith("application/json"):
        text = response.read()
        yield from [json.loads(text)] if text.strip() else []
        return
    lines = data_lines(response.iter_bytes())
    for text in lines:
        if text == b"[DONE]":
            break
        yield json.loads(text)
    line.lingering = True
    with suppress(http().HTTPError):
        deque(lines, maxlen=0)


def data_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The data of each event; only line feeds end a line, since JSON may hold other line separators."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (text[5:].strip() for text in whole if text.startswith(b"data:"))
    if rest.startswith(b"data:"):
        yield rest[5:].strip()
