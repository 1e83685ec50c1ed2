"""Reasoning that a model writes as tags at the start of its text."""

from collections.abc import Iterator

from assistant.core.messages import Chunk

TAGS = ("<think>", "<thinking>", "<thought>")


class Thinking:
    """Tells tagged reasoning at the very start of a text from the text, piece by piece."""

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._looking = True
        self._trimming = False

    def split(self, text: str) -> Iterator[Chunk]:
        """The piece, or what can be said of it by now."""
        if self._looking and not self._closing:
            text = self._open(text)
        if self._closing:
            yield from self._inside(text)
        elif not self._looking:
            text = text.lstrip() if self._trimming else text
            self._trimming = self._trimming and not text
            yield from [Chunk(text=text)] if text else []

    def rest(self) -> Iterator[Chunk]:
        """What was held back when the text ended."""
        held, self._held = self._held, ""
        if held:
            yield Chunk(reasoning=held) if self._closing else Chunk(text=held)

    def _open(self, text: str) -> str:
        """Hold the text back until it is clear whether it starts with a tag; what is left to say."""
        self._held += text
        start = self._held.lstrip()
        for tag in TAGS:
            if start.startswith(tag):
                self._closing, self._held = tag.replace("<", "</"), ""
                return start[len(tag) :]
        if any(tag.startswith(start) for tag in TAGS):
            return ""
        self._looking = False
        text, self._held = self._held, ""
        return text

    def _inside(self, text: str) -> Iterator[Chunk]:
        thought, closed, after = (self._held + text).partition(self._closing)
        self._held = "" if closed else possible_start(thought, self._closing)
        thought = thought[: len(thought) - len(self._held)]
        if thought:
            yield Chunk(reasoning=thought)
        if closed:
            self._closing, self._looking, self._trimming = "", False, True
            yield from self.split(after)


def possible_start(text: str, tag: str) -> str:
    """The end of the text that may be the beginning of the tag."""
    return next((tag[:n] for n in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:n])), "")
