"""Lines for a terminal: Markdown and styled words, never wider than the window, whatever script they are in."""

import re
from collections.abc import Callable

from rich.cells import cell_len, chop_cells, set_cell_size

from assistant.client.blocks import split
from assistant.client.text import clean

STYLES = {"quiet": "2", "good": "32", "bad": "31", "strong": "1", "accent": "36"}
_STYLING = re.compile(r"\x1b\[[0-9;]*m")
WIDEST = 100
"""Longer lines are hard to read."""


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells; a wide character is never halved."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 1 else ""


def bare_cells(line: str) -> int:
    """The cells of a painted line."""
    return cell_len(_STYLING.sub("", line))


class Paint:
    """Turns what is to be shown into lines for one window."""

    def __init__(self, columns: Callable[[], int], *, colour: bool = True, markdown: bool = True) -> None:
        self._columns = columns
        self._colour = colour
        self._as_markdown = markdown

    @property
    def width(self) -> int:
        """Cells a line may take now."""
        return max(8, min(self._columns(), WIDEST))

    def style(self, text: str, name: str) -> str:
        """The text in one of the few styles."""
        code = STYLES.get(name) if self._colour else None
        return f"\x1b[{code}m{text}\x1b[0m" if code and text else text

    def line(self, *parts: tuple[str, str]) -> str:
        """One line of (text, style) parts, cut where the window ends."""
        room = self.width
        painted = ""
        for text, style in parts:
            shown = cut(text, room)
            painted += self.style(shown, style)
            room -= cell_len(shown)
            if shown != text:
                break
        return painted

    def markdown(self, source: str) -> list[str]:
        """A Markdown text as lines."""
        if not self._as_markdown:
            return self.wrapped(source)
        from assistant.client.markdown import lines_of

        blocks = [lines_of(block, self.width, colour=self._colour) for block in split(clean(source))]
        return [line for number, lines in enumerate(blocks) for line in ([""] if number else []) + lines]

    def wrapped(self, text: str, indent: str = "") -> list[str]:
        """Plain text as lines, nothing left out."""
        room = self.width - cell_len(indent)
        return [indent + piece for line in clean(text).rstrip().split("\n") for piece in wrap(line, room)]


def wrap(line: str, width: int) -> list[str]:
    """One line folded by cells: at spaces where it can be, inside a long word where it must be."""
    pieces: list[str] = []
    while cell_len(line) > width:
        head = chop_cells(line, width)[0]
        space = -1 if line[len(head)] == " " else head.rfind(" ")
        head = head[:space] if space > width // 3 else head
        pieces.append(head.rstrip(" "))
        line = line[len(head) :].lstrip(" ")
    return [*pieces, line]
