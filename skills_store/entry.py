"""One skill as the index knows it, made from its folder."""

import json
import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from skills_store.change import blob_hash
from skills_store.document import MAX_BYTES, Document, read
from skills_store.names import DEFAULT_CATEGORY, SIDECAR, SKILL_FILE, category_problem, name_problem
from skills_store.text import prompt_line
from skills_store.values import Owner

MAX_SHOWN_DESCRIPTION = 1_024
PINS = frozenset({"", "frozen", "keep"})
MISSPELLED = f"the file is called {SKILL_FILE.lower()}; rename it to {SKILL_FILE}"
STATES = frozenset({"active", "stale", "archived"})

UNSETTLED_NS = 50_000_000
NEVER = "?"

Standing = tuple[str, bool, str, str]
"""Owner, adopted, state, pin."""
_YOURS: Standing = (Owner.YOU.value, False, "active", "")
_EXTERNAL: Standing = (Owner.EXTERNAL.value, False, "active", "")
UNREADABLE_SIDECAR = f"{SIDECAR} cannot be read; until it can, only you may change this skill"


class Entry(NamedTuple):
    """A skill in a list: who it is, whose it is, and what is wrong with it.  A tuple, because there may be 10,000."""

    name: str
    category: str
    description: str
    path: str
    owner: str = Owner.YOU.value
    adopted: bool = False
    state: str = "active"
    pin: str = ""
    broken: str | None = None
    platforms: tuple[str, ...] = ()
    hash: str = ""
    warnings: tuple[str, ...] = ()
    external: str = ""

    @property
    def identity(self) -> str:
        """The name that is never ambiguous."""
        return f"{self.category}/{self.name}"


def stamp(file: str, now_ns: int) -> str:
    """What stays the same while a file does: its change time, size and inode; empty when there is no file.

    A link, and a file written in the moment of the look, get a stamp that no later one equals.
    """
    try:
        return stamp_of(os.lstat(file), now_ns)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return NEVER


def stamps(files: list[str]) -> list[str]:
    """The stamps of many settled files at once; an empty list when one of them is gone."""
    try:
        found = map(os.lstat, files)
        return [f"{one.st_ctime_ns:x}.{one.st_size:x}.{one.st_ino:x}" for one in found]
    except OSError:
        return []


def stamp_of(found: os.stat_result, now_ns: int) -> str:
    """The stamp of a file whose status is known."""
    changed = found.st_ctime_ns
    if changed > now_ns - UNSETTLED_NS or stat.S_ISLNK(found.st_mode):
        return NEVER
    return f"{changed:x}.{found.st_size:x}.{found.st_ino:x}"


class Seen(NamedTuple):
    """An entry with the stamps of the two files it was made from."""

    entry: Entry
    stamp: str
    side: str


def read_entry(folder: str, path: str, inside: Callable[[str], bool], now_ns: int, external: str = "") -> Seen | None:
    """The skill in a folder; whatever is wrong with it becomes its `broken` or `warnings`.  None without a SKILL.md.

    `inside` tells whether a link may be followed; `external` names the foreign root, whose sidecars say nothing to us.
    """
    data, wrong, stamped = _contents(f"{folder}/{SKILL_FILE}", inside, now_ns)
    if not stamped:
        return None
    category, _, name = path.rpartition("/")
    document = read(data)
    spelling, remark = _spelling(folder)
    said, doubt, side = (_EXTERNAL, (), "") if external else _sidecar(folder, inside, now_ns)
    entry = Entry(
        name,
        category or DEFAULT_CATEGORY,
        document.description[:MAX_SHOWN_DESCRIPTION],
        path,
        *said,
        wrong or spelling or _broken(document, name, category),
        document.platforms,
        "" if wrong else blob_hash(data),
        _warnings(document, name, category) + remark + doubt,
        external,
    )
    return Seen(entry, stamped, side)


def broken_entry(path: str, reason: str, external: str = "") -> Entry:
    """A folder that was meant to be a skill and is none, listed with the reason."""
    category, _, name = path.rpartition("/")
    standing = _EXTERNAL if external else _YOURS
    return Entry(name, category or DEFAULT_CATEGORY, "", path, *standing, reason, external=external)


def _contents(file: str, inside: Callable[[str], bool], now_ns: int) -> tuple[bytes, str, str]:
    """A regular file's bytes, why they are not read, and the stamp of the file, which is empty when there is none."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return b"", "the file is missing", ""
    except OSError as wrong:
        if not os.path.islink(file):
            return b"", f"{os.path.basename(file)} cannot be read: {wrong.strerror}", NEVER
        if not inside(file):
            return b"", f"{os.path.basename(file)} is a link that leads nowhere or out of the skills folder", NEVER
        return *_contents(os.path.realpath(file), inside, now_ns)[:2], NEVER
    try:
        found = os.fstat(handle)
        stamped = stamp_of(found, now_ns)
        if not stat.S_ISREG(found.st_mode):
            return b"", f"{os.path.basename(file)} is not a regular file", stamped
        if found.st_size > MAX_BYTES:
            said = f"{os.path.basename(file)} has {found.st_size:,} bytes; at most {MAX_BYTES:,} are read"
            return b"", said, stamped
        return os.read(handle, found.st_size + 1), "", stamped
    finally:
        os.close(handle)


def _broken(document: Document, name: str, category: str) -> str | None:
    if wrong := name_problem(name) or category_problem(category):
        return f"{wrong}; rename the folder"
    return f"line {document.broken.line}: {document.broken.message}" if document.broken else None


def _warnings(document: Document, name: str, category: str) -> tuple[str, ...]:
    found = tuple(f"line {problem.line}: {problem.message}" for problem in document.warnings)
    if not category:
        found = (*found, f"the skill stands outside a category; move its folder into {DEFAULT_CATEGORY}/")
    if document.broken or document.name == name:
        return found
    said = prompt_line(document.name, 80)
    wrong = f"the header says `name: {said}`" if said else "the header has no `name`"
    return (*found, f"line {document.line_of('name')}: {wrong}; the folder's name {name!r} counts")


def _spelling(folder: str) -> tuple[str, tuple[str, ...]]:
    """Why the skill is broken, or what to warn of, when a `skill.md` stands in its folder, on any file system."""
    try:
        small = os.lstat(f"{folder}/{SKILL_FILE.lower()}")
    except OSError:
        return "", ()
    if SKILL_FILE in os.listdir(folder):
        both = small.st_ino != os.lstat(f"{folder}/{SKILL_FILE}").st_ino
        return "", (f"{SKILL_FILE.lower()} stands beside {SKILL_FILE}, which counts; remove one",) if both else ()
    return MISSPELLED, ()


def _sidecar(folder: str, inside: Callable[[str], bool], now_ns: int) -> tuple[Standing, tuple[str, ...], str]:
    """What the sidecar says, a doubt about it, and its stamp; without a readable one the skill is the person's."""
    data, wrong, stamped = _contents(f"{folder}/{SIDECAR}", inside, now_ns)
    if not stamped:
        return _YOURS, (), stamped
    try:
        said = json.loads(data)
        pin, state = said.get("pin") or "", said.get("state") or "active"
        known = not wrong and pin in PINS and state in STATES
        standing = (Owner(said.get("owner", Owner.YOU.value)).value, bool(said.get("adopted")), state, pin)
    except (ValueError, TypeError, AttributeError, RecursionError):
        known, standing = False, _YOURS
    return (standing, (), stamped) if known else (_YOURS, (UNREADABLE_SIDECAR,), stamped)
