"""One way to print: JSON exactly as the contract says, or aligned columns for people."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, TextIO
from zoneinfo import ZoneInfo

from rich.cells import cell_len, set_cell_size

from assistant.client.text import clean, one_line

Item = Mapping[str, Any]
Made = Callable[[Item], str]
TIMES = ("when", "updated", "created_at", "last_used")
GAP = "  "
QUIET, GOOD, BAD = "2", "32", "31"


@dataclass(frozen=True, slots=True)
class Streams:
    """Where output goes, and where words about it go."""

    out: TextIO
    notes: TextIO


@dataclass(frozen=True, slots=True)
class Show:
    """Where a command's output goes, and in which form."""

    json: bool = False
    colour: bool = False
    width: int = 0
    """Cells a line may take; 0: as long as it is, for pipes."""
    zone: str = ""
    streams: Streams = field(default_factory=lambda: Streams(sys.stdout, sys.stderr))

    def out(self, text: str) -> None:
        """A line of output."""
        self.streams.out.write(text + "\n")

    def note(self, text: str) -> None:
        """A line for people, never part of the output."""
        self.streams.out.flush()
        lines = clean(text).split("\n")
        if self.streams.notes.isatty():
            lines = [piece for line in lines for piece in folded(line, get_terminal_size().columns)]
        self.streams.notes.write("\n".join(lines) + "\n")
        self.streams.notes.flush()

    def items(self, items: Sequence[Item], columns: str, nothing: str, **made: Made) -> None:
        """A list: an array, or a table of some fields and of what is `made`; an empty one says so among the notes."""
        if self.json:
            self.value(list(items))
        elif items:
            for line in self.table(items, columns.split(), made):
                self.out(line)
        else:
            self.note(nothing)

    def thing(self, item: Item | Sequence[Item], lines: Iterable[str]) -> None:
        """One thing: an object, or lines; a list where lines say more than a table."""
        if self.json:
            self.value(item)
            return
        for line in lines:
            self.out(clean(line))

    def value(self, value: Any) -> None:
        """Any value as JSON."""
        self.out(json.dumps(value, ensure_ascii=False, indent=2, default=plain))

    def diff(self, text: str) -> None:
        """A difference, coloured where there is colour."""
        for line in clean(text).rstrip("\n").split("\n"):
            code = {"+": GOOD, "-": BAD, "@": QUIET}.get(line[:1], "") if line[:3] not in ("+++", "---") else QUIET
            self.out(self.ink(line, code))

    def table(self, items: Sequence[Item], columns: Sequence[str], made: Mapping[str, Made]) -> list[str]:
        """Aligned lines, the headings first; only the last column is cut where the window ends."""
        rows = [[self.cell(item, name, made.get(name)) for name in columns] for item in items]
        heads = [name.upper().replace("_", " ") for name in columns]
        widths = [max(cell_len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
        lines = [self.line(row, widths) for row in [heads, *rows]]
        return [self.ink(lines[0], QUIET), *lines[1:]]

    def line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        """One row, padded by cells."""
        text = GAP.join(set_cell_size(value, width) for value, width in zip(row, widths, strict=True)).rstrip()
        if self.width and cell_len(text) > self.width:
            return set_cell_size(text, self.width - 1).rstrip() + "…"
        return text

    def cell(self, item: Item, name: str, made: Made | None) -> str:
        """What stands in one column."""
        value = made(item) if made else self.when(item[name]) if name in TIMES else item[name]
        return one_line("" if value is None else str(value))

    def ink(self, text: str, code: str) -> str:
        """The text in a colour, where there is colour."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text

    def when(self, time: str | datetime | None) -> str:
        """A time as a person reads it, in the zone of the settings."""
        if not time:
            return ""
        moment = datetime.fromisoformat(time) if isinstance(time, str) else time
        return f"{moment.astimezone(ZoneInfo(self.zone) if self.zone else None):%Y-%m-%d %H:%M}"


def folded(line: str, width: int) -> list[str]:
    """A long line as several, broken at spaces alone, so that paths and commands can be copied."""
    return wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]


def plain(value: object) -> Any:
    """What JSON has no form for."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
