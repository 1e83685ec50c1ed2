"""A model that plays a script.  Strict: a request too many, or a reply never asked for, fails the test.

    model = ScriptedModel(calls("read_file", path="a.txt"), says("It says hello."))
    …
    model.finished()

A reply is a list of pieces, an exception, or a function of the request that returns either.  A piece is a Chunk, an
exception (raised after the pieces before it), `UNTIL_STOPPED`, a `threading.Event` to wait for, or a function without
arguments that is called at that point.
"""

import json
import re
from collections.abc import Iterator
from itertools import count
from threading import Event, Lock
from typing import Any

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Chunk, Request, Usage

UNTIL_STOPPED = "until stopped"
PATIENCE = 30.0
Reply = Any


class ScriptedModel:
    """Plays replies in order, for any number of threads; calls without an id get one that the session lacks."""

    tools_supported = True
    window = 128_000

    def __init__(self, *replies: Reply, name: str = "scripted") -> None:
        self.name = name
        self.replies: list[Reply] = list(replies)
        self.requests: list[Request] = []
        self.surplus = 0
        self._numbers = count(1)
        self._lock = Lock()

    def script(self, *replies: Reply) -> None:
        """Say these too, after all that is still unsaid."""
        with self._lock:
            self.replies.extend(replies)

    def finished(self) -> None:
        """Fail unless every reply was asked for, and none beyond the last."""
        assert not self.surplus, f"{self.surplus} requests came after the script's end"
        assert not self.replies, f"never asked for: {self.replies}"

    def stream(self, request: Request, interrupt: Interrupt) -> Iterator[Chunk]:
        """The next reply of the script."""
        pieces = self._next(request)
        for piece in pieces:
            if interrupt.is_set():
                return
            if isinstance(piece, BaseException):
                raise piece
            if piece is UNTIL_STOPPED:
                assert interrupt.wait(PATIENCE), "nobody stopped the run"
            elif isinstance(piece, Event):
                with interrupt.waking(piece.set):
                    assert piece.wait(PATIENCE), "nobody set the event that the script waits for"
            elif isinstance(piece, Chunk):
                yield self._named(piece, request)
            else:
                piece()

    def _next(self, request: Request) -> list[Any]:
        with self._lock:
            self.requests.append(request)
            if not self.replies:
                self.surplus += 1
                raise AssertionError(f"the script has no reply for request number {len(self.requests)}")
            reply = self.replies.pop(0)
        if callable(reply):
            reply = reply(request)
        return [reply] if isinstance(reply, BaseException) else list(reply)

    def _named(self, chunk: Chunk, request: Request) -> Chunk:
        call = chunk.call
        if call is None or call.id:
            return chunk
        taken = {earlier.id for message in request.messages for earlier in message.calls}
        with self._lock:
            fresh = next(name for n in self._numbers if (name := f"call-{n}") not in taken)
        return Chunk(call=Call(fresh, call.name, call.arguments, call.fault))


def says(text: str) -> list[Any]:
    """Plain text, word by word."""
    return [Chunk(text=piece) for piece in re.findall(r"\s*\S+\s*$|\s*\S+|\s+", text)]


def thinks(text: str) -> list[Any]:
    """Reasoning; put it before what follows with `+`."""
    return [Chunk(reasoning=text)]


def calls(tool_name: str, /, **arguments: object) -> list[Any]:
    """One tool call."""
    return calls_many((tool_name, arguments))


def calls_many(*wanted: tuple[str, dict[str, Any]]) -> list[Any]:
    """Several tool calls in one reply."""
    return [Chunk(call=Call("", name, json.dumps(arguments, ensure_ascii=False))) for name, arguments in wanted]


def used(input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> list[Any]:
    """What the reply cost; put it last with `+`."""
    return [Chunk(usage=Usage(input_tokens, output_tokens, cached_tokens))]


def restarts(reason: str = "the connection broke") -> list[Any]:
    """What came before it in this reply is void."""
    return [Chunk(restarted=reason)]
