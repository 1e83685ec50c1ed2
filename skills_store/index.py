"""All skills of a folder, fast: only what changed since the last look is read again.

A file counts as unchanged while its change time, size and inode are the same.  Whatever looks like a skill and is none
is listed as broken or told in the notes.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock

from skills_store import index_cache
from skills_store.document import MAX_BYTES, read
from skills_store.entry import MISSPELLED, NEVER, Entry, Seen, broken_entry, read_entry, stamp, stamps
from skills_store.index_values import NOTHING, Shelf, Snapshot, assemble
from skills_store.names import SIDECAR, SKILL_FILE, SKIPPED_FOLDERS

SAVE_AFTER = 64
CATEGORY_FILE = "DESCRIPTION.md"


class Index:
    """Keeps the last look at a folder, so that the next one costs one file status for each skill."""

    def __init__(self, root: Path, external: str = "") -> None:
        self.root, self.external = root, external
        self.trouble = ""
        self._last: Snapshot | None = None
        self._unsaved = 0
        self._lock = Lock()

    def look(self, generation: str = "") -> Snapshot:
        """The skills as they are now.

        Sidecars are only written through the store: with the same non-empty generation they are taken as unchanged.
        """
        with self._lock:
            last = self._kept() if self._last is None else self._last
            now = scan_folder(self.root, last, generation, self.external)
            self._last = now
            if now is not last:
                self._keep(now)
            return now

    def _kept(self) -> Snapshot:
        file = None if self.external else index_cache.cache_file(self.root)
        return index_cache.load(file) if file else NOTHING

    def _keep(self, now: Snapshot) -> None:
        """Write the look down once reading what it has and the file lacks would cost more than writing it."""
        self._unsaved += now.fresh
        file = None if self.external else index_cache.cache_file(self.root)
        if file and self._unsaved > SAVE_AFTER:
            self.trouble = index_cache.save(file, now)
            self._unsaved = 0


def scan_folder(
    root: Path,
    last: Snapshot = NOTHING,
    generation: str = "",
    external: str = "",
    now_ns: Callable[[], int] = time.time_ns,
) -> Snapshot:
    """The skills below a folder, taken from the last look where nothing changed."""
    settled = bool(generation) and generation == last.generation
    look = _Look(str(root), dict(last.shelves), settled, external, now_ns())
    shelves = tuple(look.shelves())
    if generation == last.generation and _same(shelves, last.shelves):
        return last
    return assemble(shelves, generation, look.fresh)


def find(entries: Iterable[Entry], name: str) -> tuple[Entry, ...]:
    """The skills that a name means: `category/name` means one at most, a bare name each one of that name."""
    if "/" in name:
        return tuple(entry for entry in entries if name in (entry.identity, entry.path))[:1]
    return tuple(entry for entry in entries if entry.name == name)


def _same(new: tuple[tuple[str, Shelf], ...], old: tuple[tuple[str, Shelf], ...]) -> bool:
    return len(new) == len(old) and all(a[1] is b[1] for a, b in zip(new, old, strict=True))


class _Look:
    """One look at a folder, with the shelves of the last one at hand."""

    def __init__(self, root: str, last: dict[str, Shelf], settled: bool, external: str, now: int) -> None:
        self.root, self.last, self.settled, self.external, self.now = root, last, settled, external, now
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
        folders = [f"{self.root}/{entry.path}" for entry in last.entries]
        if stamps([f"{folder}/{SKILL_FILE}" for folder in folders]) != last.stamps:
            return False
        return self.settled or self.external != "" or self.same_sides(folders, last.sides)

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
        return last if self.settled or self.side(folder) == last.side != NEVER else None

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

    def side(self, folder: str) -> str:
        """The stamp of a skill's sidecar; foreign roots have none that counts."""
        return "" if self.external else stamp(f"{folder}/{SIDECAR}", self.now)

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
