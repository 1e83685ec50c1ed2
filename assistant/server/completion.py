"""A run's events in the shape of OpenAI's chat completions."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.server.faults import Fault, fault
from assistant.server.feeds import Frame

BEGINS_AGAIN = "\n\n[the answer begins again]\n\n"
FAILED_STATUS = {"try_later": 503, "person_must_act": 400, "refused": 400}
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Head:
    """What every piece of one completion repeats."""

    id: str
    created: int
    model: str

    def chunk(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        """A piece of a stream."""
        return data(
            {
                "id": self.id,
                "object": "chat.completion.chunk",
                "created": self.created,
                "model": self.model,
                "choices": choices,
            }
            | more
        )

    def delta(self, finish: str | None = None, **said: Any) -> bytes:
        """A piece that says something."""
        return self.chunk([{"index": 0, "delta": said, "finish_reason": finish}])

    def whole(self, text: str, usage: Mapping[str, int], **more: Any) -> dict[str, Any]:
        """A completion that is no stream."""
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        head = {"id": self.id, "object": "chat.completion", "created": self.created, "model": self.model}
        return head | {"choices": [choice], "usage": usage_of(usage)} | more


class Telling:
    """Turns the frames of one run into pieces of a stream.

    A plain client can only append.  When a reply is asked again, the part of the new one that repeats what was said
    already is left out; where it differs, the client is told that the answer begins again.
    """

    def __init__(self, head: Head, with_usage: bool) -> None:
        self.head = head
        self.with_usage = with_usage
        self.told = ""
        """Of the message that is being said."""
        self.void = ""
        """What was said of it before it was asked again, as far as it is not repeated yet."""
        self.between = ""
        """What goes between the last message and the next."""

    def begin(self) -> bytes:
        """The first piece."""
        return self.head.delta(role="assistant", content="")

    def pieces(self, frame: Frame) -> Iterator[bytes]:
        """What a frame adds."""
        said = json.loads(frame.data)
        match frame.type:
            case "message.delta":
                yield from self._say(said["text"])
            case "reasoning.delta":
                yield self.head.delta(reasoning_content=said["text"])
            case "message.restarted":
                self.void, self.told = self.told, ""
            case "message.completed":
                yield from self._complete(said["text"])
            case "tool.started":
                yield progress(said["tool"], said["preview"], said["call_id"], "running")
            case "tool.completed":
                yield progress(said["tool"], said["preview"], said["call_id"], "completed")
            case "run.completed" | "run.failed" | "run.cancelled":
                yield from self._end(frame.type, said)
            case _:
                pass

    def _say(self, text: str) -> Iterator[bytes]:
        self.told += text
        if self.void:
            if self.void.startswith(self.told):
                return
            text = self.told[len(self.void) :] if self.told.startswith(self.void) else BEGINS_AGAIN + self.told
            self.void = ""
        if text:
            yield self.head.delta(content=self.between + text)
            self.between = ""

    def _complete(self, text: str) -> Iterator[bytes]:
        if text.startswith(self.told):
            yield from self._say(text[len(self.told) :])
        self.between = "\n\n" if self.told else self.between
        self.told = self.void = ""

    def _end(self, kind: str, said: Mapping[str, Any]) -> Iterator[bytes]:
        if kind == "run.failed":
            yield data(failure(said["error"], said.get("code", "")).body())
        else:
            yield self.head.delta("stop")
            if self.with_usage:
                yield self.head.chunk([], usage=usage_of(said.get("usage", {})))
        yield DONE


def progress(tool: str, label: str, call_id: str, status: str) -> bytes:
    """A tool's state, as an event that plain clients skip."""
    told = {"tool": tool, "label": label or tool, "toolCallId": call_id, "status": status}
    return f"event: hermes.tool.progress\ndata: {json.dumps(told, ensure_ascii=False)}\n\n".encode()


def failure(error: str, code: str) -> Fault:
    """Why a run has no answer, as an error response."""
    return fault(FAILED_STATUS.get(code, 500), error, code or "fault")


def usage_of(usage: Mapping[str, int]) -> dict[str, Any]:
    """Tokens in OpenAI's words."""
    sent, said = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
    return {
        "prompt_tokens": sent,
        "completion_tokens": said,
        "total_tokens": sent + said,
        "prompt_tokens_details": {"cached_tokens": usage.get("cached_tokens", 0)},
    }


def data(value: Mapping[str, Any]) -> bytes:
    """A value as the data of an event."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()
