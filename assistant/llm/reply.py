"""A reply put together from the provider's pieces.  Knows every provider's habits and no network."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.core.messages import Call, Chunk, Usage
from assistant.errors import PersonMustAct
from assistant.llm.faults import Passing
from assistant.llm.thinking import Thinking

CUT = "\n\n[The answer was cut at the model's output limit.]"


@dataclass(slots=True)
class Pieces:
    """One call while it arrives."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class Reply:
    """Takes the pieces of one reply, tells text at once and calls whole."""

    def __init__(self, taken: set[str], new_id: Callable[[], str]) -> None:
        self._taken = taken
        self._new_id = new_id
        self._thinking = Thinking()
        self._calls: list[Pieces] = []
        self._at: dict[int, Pieces] = {}
        self._usage: Usage | None = None
        self._ended = ""
        self._spoke = False
        self._thought = False

    def take(self, piece: Mapping[str, Any]) -> Iterator[Chunk]:
        """What one piece of the stream adds."""
        if isinstance(piece.get("usage"), Mapping):
            self._usage = usage_of(piece["usage"])
        for choice in (piece.get("choices") or [])[:1]:
            self._ended = choice.get("finish_reason") or self._ended
            delta = choice.get("delta") or choice.get("message") or {}
            for thought in (delta.get("reasoning_content"), delta.get("reasoning")):
                if isinstance(thought, str) and thought:
                    yield from self._told([Chunk(reasoning=clean(thought))])
                    break
            for kind, text in texts(delta.get("content")):
                yield from self._told([Chunk(reasoning=text)] if kind == "thinking" else self._thinking.split(text))
            for place, part in enumerate(delta.get("tool_calls") or []):
                self._add(part, place)

    def finish(self) -> Iterator[Chunk]:
        """Calls, then usage; raises when there is nothing to show for it."""
        yield from self._told(self._thinking.rest())
        cut = self._ended == "length"
        calls = list(self._finished_calls(cut))
        if cut and self._spoke and not calls:
            yield Chunk(text=CUT)
        yield from (Chunk(call=call) for call in calls)
        if self._usage:
            yield Chunk(usage=self._usage)
        if not self._spoke and not calls:
            raise self._nothing()

    def _told(self, chunks: Iterator[Chunk] | list[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self._spoke = self._spoke or bool(chunk.text.strip())
            self._thought = self._thought or bool(chunk.reasoning)
            yield chunk

    def _nothing(self) -> Exception:
        if self._ended == "content_filter":
            return PersonMustAct("The provider's content filter withheld the answer: ask in other words.")
        if self._ended == "length":
            return Passing("The model spent its whole output limit on thinking and gave no answer.", tries=2)
        if self._thought:
            return Passing("The model thought but gave no answer.", tries=3)
        return Passing("The model gave an empty answer.", tries=3)

    def _add(self, part: Mapping[str, Any], place: int) -> None:
        """A piece belongs to the call at its index, unless it clearly begins another one."""
        index = part.get("index")
        index = place if index is None else index
        function = part.get("function") or {}
        call_id, name, arguments = part.get("id") or "", function.get("name") or "", function.get("arguments") or ""
        pieces = self._at.get(index)
        if pieces is None or begins_another(pieces, call_id, name):
            pieces = self._at[index] = Pieces()
            self._calls.append(pieces)
        pieces.id = pieces.id or call_id
        pieces.name = pieces.name or name
        pieces.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

    def _finished_calls(self, cut: bool) -> Iterator[Call]:
        for pieces in self._calls:
            arguments, fault = read_arguments(pieces, cut and pieces is self._calls[-1])
            if fault and not self._ended:
                raise Passing("The stream broke off inside a tool call.")
            if not pieces.id or pieces.id in self._taken:
                pieces.id = self._new_id()
            self._taken.add(pieces.id)
            yield Call(pieces.id, pieces.name or "unnamed", arguments, fault)


def begins_another(pieces: Pieces, call_id: str, name: str) -> bool:
    """Whether a piece at the same index starts a second call: another id, or a new name after a whole call."""
    if call_id and pieces.id:
        return call_id != pieces.id
    return bool(name and pieces.name and pieces.arguments and not read_arguments(pieces, True)[1])


def texts(content: Any) -> Iterator[tuple[str, str]]:
    """The texts of a content field, which is a string, nothing, or a list of typed parts."""
    if isinstance(content, str) and content:
        yield "text", clean(content)
    for part in content if isinstance(content, list) else []:
        if part.get("type") == "thinking":
            yield from (("thinking", text) for _, text in texts(part.get("thinking")))
        elif isinstance(part.get("text"), str):
            yield "text", clean(part["text"])


def read_arguments(pieces: Pieces, cut: bool) -> tuple[str, str]:
    """The arguments as the text of a JSON object, and what was wrong with them if they were none."""
    raw = pieces.arguments.strip()
    if not raw and not cut:
        return "{}", ""
    try:
        value = json.loads(raw, strict=False, parse_constant=no_constant)
    except (ValueError, RecursionError) as problem:
        if cut:
            return (
                "{}",
                "the call was cut off at the output limit, so it did not run: send less at once, in several calls",
            )
        return (
            "{}",
            f"the arguments are not valid JSON ({problem}); they began {raw[:120]!r}: send the whole call again",
        )
    if not isinstance(value, dict):
        return "{}", f"the arguments must be a JSON object, not {raw[:120]!r}: send the whole call again"
    return clean(raw if raw.isprintable() else json.dumps(value, ensure_ascii=False)), ""


def clean(text: str) -> str:
    """The text with split characters joined; what is only half a character becomes a replacement mark."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def no_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which are no JSON."""
    raise ValueError(f"{name} is no JSON")


def usage_of(counts: Mapping[str, Any]) -> Usage:
    """Token counts under any of the names that providers use."""
    details = counts.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or counts.get("prompt_cache_hit_tokens") or 0
    return Usage(counts.get("prompt_tokens") or 0, counts.get("completion_tokens") or 0, cached)
