"""Brings a backup back: proved first, swapped in last, and what it replaces is kept."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assistant.backup.archive import unpack
from assistant.core.ports import Clock
from assistant.errors import PersonMustAct
from assistant.home import Home
from assistant.home.files import sync_file
from assistant.home.first_start import refuse_foreign, unwritable
from assistant.home.lock import held

BESIDE_DATABASE = ("assistant.db-wal", "assistant.db-shm")
"""They belong to the old database and would spoil the new one."""


@dataclass(frozen=True, slots=True)
class Target:
    """How the parts that are not plain files are brought back."""

    unbundle: Callable[[Path, Path], object]
    """From a file with every ref to a new folder with all of them checked out."""
    damage: Callable[[Path], list[str]]
    """What is wrong with a database."""
    busy: Callable[[], str]
    """Who uses the home now, in words; empty: nobody."""
    clock: Clock


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back."""

    parts: tuple[str, ...]
    created: str
    replaced: Path | None
    """Where everything that was replaced is kept."""


def would_replace(home: Home) -> tuple[str, ...]:
    """What a restore would put aside, in words."""
    return tuple(_told(home.root / name) for name in _present(home))


def restore(file: Path, home: Home, target: Target, replace: bool = False) -> Restored:
    """Bring everything back into an empty home; into another only with the person's word, keeping what was there."""
    refuse_foreign(home)
    if who := target.busy():
        raise PersonMustAct(f"{home.root} is in use by {who}. Stop it first: assistant down")
    if not file.is_file():
        raise PersonMustAct(f"{file} is not a file. Name the file that assistant backup wrote.")
    if not replace and (there := would_replace(home)):
        raise PersonMustAct(
            f"{home.root} is not empty; restoring would replace: {', '.join(there)}. "
            "Nothing was changed. Restore with --replace (what is there is kept aside), or elsewhere with --home PATH."
        )
    try:
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with held(home), tempfile.TemporaryDirectory(dir=home.root, prefix=".restore-") as name:
            return _bring_back(file, home, target, Path(name))
    except OSError as fault:
        raise unwritable(home.root, fault) from None


def _bring_back(file: Path, home: Home, target: Target, folder: Path) -> Restored:
    """Prove every part before anything in the home moves."""
    manifest = unpack(file, folder)
    staged = [_staged(folder / name, target) for name in manifest.hashes]
    aside = _put_aside(home, target.clock)
    for part in staged:
        part.rename(home.root / part.name)
    sync_file(home.root)
    return Restored(tuple(part.name for part in staged), manifest.created, aside)


def _staged(part: Path, target: Target) -> Path:
    """A part in the form it has in a home."""
    if part.suffix == ".bundle":
        target.unbundle(part, part.with_suffix(""))
        return part.with_suffix("")
    if part.suffix == ".db" and (faults := target.damage(part)):
        raise PersonMustAct(f"the database in the backup is damaged ({faults[0]}). Nothing was changed.")
    part.chmod(0o644)
    return part


def _put_aside(home: Home, clock: Clock) -> Path | None:
    """Move all that is there into one folder of the home; the moves undo nothing and lose nothing."""
    there = _present(home)
    if not there:
        return None
    aside = home.root / f"replaced-{clock():%Y%m%dT%H%M%SZ}"
    aside.mkdir(mode=0o700)
    for name in there:
        (home.root / name).rename(aside / name)
    sync_file(aside)
    return aside


def _present(home: Home) -> tuple[str, ...]:
    """The parts that the home has now; an empty folder counts as none and is taken away when its part comes."""
    parts = (home.database, *(home.root / name for name in BESIDE_DATABASE), home.config, home.soul)
    folders = tuple(folder for folder in (home.skills, home.memories) if folder.is_dir() and any(folder.iterdir()))
    return tuple(path.name for path in (*(part for part in parts if os.path.lexists(part)), *folders))


def _told(path: Path) -> str:
    """A part with its size."""
    if path.is_dir():
        count = sum(len(files) for at, _, files in os.walk(path) if ".git" not in Path(at).parts)
        return f"{path.name}/ ({count} files)"
    return f"{path.name} ({path.lstat().st_size} bytes)"
