"""What a look at a folder of skills found, as values."""

from operator import attrgetter
from typing import NamedTuple

from skills_store.entry import Entry


class Shelf(NamedTuple):
    """One category as it was seen: what lies in it, and for each skill an entry and the stamps of its two files."""

    listing: list[str]
    entries: list[Entry]
    stamps: list[str]
    sides: list[str]
    notes: list[str]
    line: str = ""
    line_stamp: str = ""
    folder: str = ""
    """The stamp of the category's folder, which changes whenever something comes to lie in it or leaves it."""


class Snapshot(NamedTuple):
    """What a look found: the skills in order, a line about some categories, what was passed over and why."""

    entries: tuple[Entry, ...] = ()
    categories: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    shelves: tuple[tuple[str, Shelf], ...] = ()
    generation: str = ""
    fresh: int = 0
    """How many skills had to be read."""


NOTHING = Snapshot()
_order = attrgetter("category", "name", "path")


def assemble(shelves: tuple[tuple[str, Shelf], ...], generation: str, fresh: int = 0) -> Snapshot:
    """A snapshot of some categories, its skills in an order that does not depend on the folder's."""
    entries = sorted((entry for _, shelf in shelves for entry in shelf.entries), key=_order)
    lines = tuple((category, shelf.line) for category, shelf in shelves if shelf.line)
    notes = tuple(note for _, shelf in shelves for note in shelf.notes)
    return Snapshot(tuple(entries), lines, notes, shelves, generation, fresh)
