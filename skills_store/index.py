"""All skills of a folder, fast: only what changed since the last look is read again.

A file counts as unchanged while its change time, size and inode are the same.  Whatever looks like a skill and is none
is listed as broken or told in the notes.  The last look is kept in the repository, so that another process need not
read every skill again; that file is a help and never a source: damaged, old or missing it costs time and nothing else.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple

from skills_store.document import MAX_BYTES, read
from skills_store.entry import MISSPELLED, NEVER, Entry, Seen, broken_entry, read_entry, stamp, stamps
from skills_store.names import SIDECAR, SKILL_FILE, SKIPPED_FOLDERS

VERSION = 2
KEPT = "assistant-index.json"
SAVE_AFTER = 64
LARGE = 3_000
CATEGORY_FILE = "DESCRIPTION.md"
Trust = Literal["", "sidecars", "files"]
_order = attrgetter("category", "name", "path")


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
    """The branch when the sidecars were last looked at."""
    fresh: int = 0
    """How many skills had to be read."""


NOTHING = Snapshot()


class Index:
    """Keeps the last look at a folder, so that the next one costs two file states for each skill."""

    def __init__(self, root: Path, external: str = "", large: int = LARGE) -> None:
        self.root, self.external, self.large = root, external, large
        self.kept = None if external else root / ".git" / KEPT
        self.trouble = ""
        self._last: Snapshot | None = None
        self._unsaved = 0
        self._lock = Lock()

    def look(self, generation: str = "", trust: Trust = "") -> Snapshot:
        """The skills as they are now.

        Of very many skills some is taken on trust where that is asked for: what the sidecars said before, unless the
        generation moved since; or what all files said, so that only skills that came or went are seen.
        """
        with self._lock:
            last = self._last or (load(self.kept) if self.kept else NOTHING)
            if len(last.entries) <= self.large or (trust == "sidecars" and generation != last.generation):
                trust = ""
            now = scan_folder(self.root, last, last.generation if trust else generation, self.external, trust)
            self._last = now
            self._unsaved += now.fresh if now is not last else 0
            if self._unsaved > SAVE_AFTER and self.kept and self.kept.parent.is_dir():
                self.trouble = save(self.kept, now)
                self._unsaved = 0
            return now


def scan_folder(
    root: Path,
    last: Snapshot = NOTHING,
    generation: str = "",
    external: str = "",
    trust: Trust = "",
    now_ns: Callable[[], int] = time.time_ns,
) -> Snapshot:
    """The skills below a folder, taken from the last look where nothing changed."""
    look = _Look(str(root), dict(last.shelves), trust, external, now_ns())
    shelves = tuple(look.shelves())
    same = len(shelves) == len(last.shelves) and all(a[1] is b[1] for a, b in zip(shelves, last.shelves, strict=True))
    if same and generation == last.generation:
        return last
    return assemble(shelves, generation, look.fresh)


def assemble(shelves: tuple[tuple[str, Shelf], ...], generation: str, fresh: int = 0) -> Snapshot:
    """A snapshot of some categories, its skills in an order that does not depend on the folder's."""
    entries = sorted((entry for _, shelf in shelves for entry in shelf.entries), key=_order)
    lines = tuple((category, shelf.line) for category, shelf in shelves if shelf.line)
    notes = tuple(note for _, shelf in shelves for note in shelf.notes)
    return Snapshot(tuple(entries), lines, notes, shelves, generation, fresh)


def find(entries: Iterable[Entry], name: str) -> tuple[Entry, ...]:
    """The skills that a name means: `category/name` means one at most, a bare name each one of that name."""
    if "/" in name:
        return tuple(entry for entry in entries if name in (entry.identity, entry.path))[:1]
    return tuple(entry for entry in entries if entry.name == name)


class _Look:
    """One look at a folder, with the shelves of the last one at hand."""

    def __init__(self, root: str, last: dict[str, Shelf], trust: Trust, external: str, now: int) -> None:
        self.root, self.last, self.trust, self.external, self.now = root, last, trust, external, now
        self.real_root = os.path.realpath(root)
        self.fresh = 0

    def shelves(self) -> Iterator[tuple[str, Shelf]]:
        """Each category with its skills; the one without a name holds skills that stand directly below the root."""
        listing, notes = self.listing("")
        folders = list(self.folders("", listing, notes))
        flat = [name for name in folders if os.path.lexists(f"{self.root}/{name}/{SKILL_FILE}")]
        if flat or notes:
            yield "", self.filled("", flat, listing, notes)
        for category in sorted(set(folders) - set(flat)):
            yield category, self.category(category)

    def category(self, category: str) -> Shelf:
        """The skills of one category: the last shelf itself where nothing changed."""
        last = self.last.get(category)
        folder = stamp(f"{self.root}/{category}", self.now)
        if last and not last.notes and last.folder == folder != NEVER:
            listing, notes = last.listing, list[str]()
        else:
            listing, notes = self.listing(category)
        if last and not last.notes and last.listing == listing and self.unchanged(last, category):
            return last if last.folder == folder else last._replace(folder=folder)
        return self.filled(category, self.folders(category, listing, notes), listing, notes)._replace(folder=folder)

    def unchanged(self, last: Shelf, category: str) -> bool:
        """Is each file of the shelf the one that was read?"""
        if NEVER in last.stamps or self.line_stamp(category, last.listing) != last.line_stamp:
            return False
        if self.trust == "files":
            return True
        folders = [f"{self.root}/{entry.path}" for entry in last.entries]
        if stamps([f"{folder}/{SKILL_FILE}" for folder in folders]) != last.stamps:
            return False
        return self.trust != "" or self.external != "" or self.same_sides(folders, last.sides)

    def same_sides(self, folders: list[str], sides: list[str]) -> bool:
        """Is each sidecar the one that was read, or still absent?"""
        present = [f"{folder}/{SIDECAR}" for folder, side in zip(folders, sides, strict=True) if side]
        absent = (f"{folder}/{SIDECAR}" for folder, side in zip(folders, sides, strict=True) if not side)
        known = [side for side in sides if side]
        return NEVER not in known and stamps(present) == known and not any(map(os.path.lexists, absent))

    def filled(self, category: str, names: Iterable[str], listing: list[str], notes: list[str]) -> Shelf:
        """A shelf made folder by folder; an entry whose files did not change is taken over."""
        last = self.last.get(category)
        rows = zip(last.entries, last.stamps, last.sides, strict=True) if last else ()
        known = {entry.path: Seen(entry, stamped, side) for entry, stamped, side in rows}
        line_stamp = self.line_stamp(category, listing)
        line = _first_line(f"{self.root}/{category}/{CATEGORY_FILE}") if line_stamp else ""
        shelf = Shelf(listing, [], [], [], notes, line, line_stamp)
        for name in names:
            path = f"{category}/{name}" if category else name
            folder = f"{self.root}/{path}"
            seen = self.kept(known.get(path), folder)
            if seen is None:
                self.fresh += 1
                seen = read_entry(folder, path, self.inside, self.now, self.external)
            if seen is None:
                self.without_skill(shelf, folder, path)
            else:
                _put(shelf, *seen)
        return shelf

    def kept(self, last: Seen | None, folder: str) -> Seen | None:
        """What was seen last time, if neither of its files changed."""
        if last is None or stamp(f"{folder}/{SKILL_FILE}", self.now) != last.stamp or last.stamp == NEVER:
            return None
        if self.trust or self.external:
            return last
        return last if stamp(f"{folder}/{SIDECAR}", self.now) == last.side != NEVER else None

    def without_skill(self, shelf: Shelf, folder: str, path: str) -> None:
        """A folder in the place of a skill that has no SKILL.md: say why, so that nothing is lost without a word."""
        with os.scandir(folder) as found:
            items = sorted((item.name, item.is_dir(follow_symlinks=False)) for item in found)
        deep = [name for name, is_folder in items if is_folder and os.path.lexists(f"{folder}/{name}/{SKILL_FILE}")]
        if SKILL_FILE.lower() in (name.lower() for name, _ in items):
            _put(shelf, broken_entry(path, MISSPELLED, self.external), "", "")
            shelf.notes.append(f"{path}: {MISSPELLED}")
        for name in deep:
            said = f"the skill lies too deep; move it to {path.split('/')[0]}/{name}"
            _put(shelf, broken_entry(f"{path}/{name}", said, self.external), "", "")
        if deep or not shelf.notes or not shelf.notes[-1].startswith(f"{path}:"):
            shelf.notes.append(f"{path}: the folder holds no {SKILL_FILE}")

    def listing(self, category: str) -> tuple[list[str], list[str]]:
        """What lies in a category (folders end with `/`, links with `@`), and a note when it cannot be read."""
        try:
            with os.scandir(f"{self.root}/{category}") as found:
                return [item.name + _mark(item) for item in found if item.name[0] != "."], []
        except FileNotFoundError:
            return [], []
        except OSError as wrong:
            return [], [f"{category or self.root}: the folder cannot be read: {wrong.strerror}"]

    def folders(self, category: str, listing: list[str], notes: list[str]) -> Iterator[str]:
        """The names of a listing that may be skills or categories; links that lead nowhere or out are noted."""
        for item in sorted(listing):
            name = item[:-1]
            if name in SKIPPED_FOLDERS or item[-1] not in "/@":
                continue
            if item[-1] == "@" and not self.inside(f"{self.root}/{category}/{name}"):
                place = f"{category}/{name}" if category else name
                notes.append(
                    f"{place}: a link that leads nowhere, in a circle or out of the skills folder; passed over"
                )
            elif item[-1] == "/" or os.path.isdir(f"{self.root}/{category}/{name}"):
                yield name

    def inside(self, link: str) -> bool:
        """Does a link lead to something that exists below the root, and neither hidden nor around the link itself?"""
        target = os.path.realpath(link)
        below = target.startswith(self.real_root + "/") and "/." not in target[len(self.real_root) :]
        around = os.path.realpath(os.path.dirname(link)) + "/"
        return below and os.path.exists(target) and not around.startswith(target + "/")

    def line_stamp(self, category: str, listing: list[str]) -> str:
        """The stamp of the category's description; empty when there is none."""
        return stamp(f"{self.root}/{category}/{CATEGORY_FILE}", self.now) if f"{CATEGORY_FILE} " in listing else ""


def _mark(item: "os.DirEntry[str]") -> str:
    return "/" if item.is_dir(follow_symlinks=False) else "@" if item.is_symlink() else " "


def _put(shelf: Shelf, entry: Entry, stamped: str, side: str) -> None:
    shelf.entries.append(entry)
    shelf.stamps.append(stamped)
    shelf.sides.append(side)


def _first_line(file: str) -> str:
    """What a category's file says in one line: its description, or its first line that is no heading."""
    try:
        with open(file, "rb") as opened:
            document = read(opened.read(MAX_BYTES))
    except OSError:
        return ""
    lines = (line.strip() for line in document.body.splitlines())
    return document.description or next((line for line in lines if line and line[0] not in "#-"), "")


def load(file: Path) -> Snapshot:
    """The look that was kept, or an empty one."""
    try:
        version, generation, shelves = json.loads(file.read_bytes())
        if version != VERSION:
            return NOTHING
        return assemble(tuple((category, _shelf(*rest)) for category, *rest in shelves), str(generation))
    except (OSError, ValueError, TypeError, IndexError, RecursionError):
        return NOTHING


def save(file: Path, snapshot: Snapshot) -> str:
    """Keep a look, whole or not at all; why it could not be kept, or an empty text."""
    data = json.dumps([VERSION, snapshot.generation, [[name, *shelf] for name, shelf in snapshot.shelves]])
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        draft.write_text(data, "utf-8")
        os.replace(draft, file)
    except OSError as wrong:
        draft.unlink(missing_ok=True)
        return f"the index is not kept and will be built anew: {wrong.strerror}"
    return ""


def _shelf(listing: list[str], rows: list[list[Any]], *rest: Any) -> Shelf:
    entries = [Entry._make((*row[:9], tuple(row[9]), row[10], tuple(row[11]), row[12])) for row in rows]
    shelf = Shelf(listing, entries, *rest)
    if not len(entries) == len(shelf.stamps) == len(shelf.sides):
        raise ValueError("the columns of the kept index differ in length")
    return shelf
