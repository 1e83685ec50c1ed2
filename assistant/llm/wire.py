"""Requests as bytes.  Messages come last, so each body starts with the whole of the one before."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock
from typing import Any

from assistant.core.messages import Message, Request
from assistant.llm.dialect import Dialect

REMEMBERED_BYTES = 8 * 1024 * 1024


class Encoder:
    """Writes request bodies; what was encoded for the last request is not encoded again for the next."""

    def __init__(self, model: str, extra: Mapping[str, Any] | None = None) -> None:
        self._fixed = {"model": model, "stream": True, **(extra or {})}
        self._known: OrderedDict[tuple[int, bool], tuple[object, bytes]] = OrderedDict()
        self.remembered_bytes = 0
        self._lock = Lock()

    def body(self, request: Request, dialect: Dialect) -> bytes:
        """The whole body of a request."""
        head = self._fixed | ({"stream_options": {"include_usage": True}} if dialect.usage else {})
        parts = [dumped({"role": "system", "content": request.system})] if request.system else []
        with self._lock:
            tools = self._remembered(request.tools, False, partial(dumped, request.tools)) if request.tools else b""
            for message in request.messages:
                parts.append(self._remembered(message, dialect.reasoning, partial(encoded, message, dialect)))
        named = [
            dumped(head)[:-1],
            *([b'"tools":' + tools] if tools else []),
            b'"messages":[' + b",".join(parts) + b"]}",
        ]
        return b",".join(named)

    def _remembered(self, value: object, reasoning: bool, make: Callable[[], bytes]) -> bytes:
        key = (id(value), reasoning)
        known = self._known.get(key)
        if known is not None and known[0] is value:
            self._known.move_to_end(key)
            return known[1]
        made = make()
        self._known[key] = (value, made)
        self.remembered_bytes += len(made)
        while self.remembered_bytes > REMEMBERED_BYTES and self._known:
            _, (_, dropped) = self._known.popitem(last=False)
            self.remembered_bytes -= len(dropped)
        return made


def dumped(value: Any) -> bytes:
    """Compact JSON in UTF-8; half characters, which UTF-8 cannot say, become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def encoded(message: Message, dialect: Dialect) -> bytes:
    """One message as the provider gets it."""
    if message.role == "tool":
        return dumped({"role": "tool", "tool_call_id": message.answers, "content": message.wire_text})
    if not message.calls:
        return dumped({"role": message.role, "content": message.wire_text})
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.calls
    ]
    reasoning = {"reasoning_content": message.reasoning} if dialect.reasoning else {}
    return dumped({"role": "assistant", "content": message.wire_text or None, **reasoning, "tool_calls": calls})
