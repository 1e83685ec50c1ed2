"""The demo's model: it plays a script and reads nothing."""

from collections.abc import Iterator, Sequence
from itertools import count

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Chunk, Request
from assistant.demo.words import Reply
from assistant.errors import PersonMustAct


class ScriptedModel:
    """One reply a request, in order; `pace` is how long each piece takes, in seconds."""

    name = "scripted"
    window = 128_000
    tools_supported = True

    def __init__(self, replies: Sequence[Reply], pace: float = 0.0) -> None:
        self._replies = iter(replies)
        self._pace = pace
        self._numbers = count(1)

    def stream(self, request: Request, interrupt: Interrupt) -> Iterator[Chunk]:
        """The next reply."""
        reply = next(self._replies, None)
        if reply is None:
            raise PersonMustAct("the demo's script is at its end")
        for chunk in reply:
            if interrupt.wait(self._pace):
                return
            yield self._numbered(chunk)

    def _numbered(self, chunk: Chunk) -> Chunk:
        call = chunk.call
        return Chunk(call=Call(f"call_{next(self._numbers)}", call.name, call.arguments)) if call else chunk
