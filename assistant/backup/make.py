"""Makes a backup: whole, checked, and only then under its name."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.backup.archive import NAMES, Manifest, hash_of, verify, write
from assistant.core.ports import Clock
from assistant.errors import PersonMustAct
from assistant.home import Home
from assistant.home.files import sync_file
from assistant.home.first_start import refuse_foreign, unwritable

PLAIN = ("config.yaml", "SOUL.md")


@dataclass(frozen=True, slots=True)
class Source:
    """How the parts that are not plain files are read."""

    copy_database: Callable[[Path, Path], None]
    """A consistent copy of a live database: from, to."""
    damage: Callable[[Path], list[str]]
    """What is wrong with a database."""
    bundles: Mapping[str, Callable[[Path], object]]
    """`skills` and `memories`: commits what was edited by hand, then writes every ref into one file; none if empty."""
    clock: Clock
    version: str


def backup(home: Home, target: Path, source: Source) -> tuple[str, ...]:
    """Write everything but secrets into one file; the names of its parts.

    An earlier backup under the same name is replaced once the new one is proved whole; any other file is left alone.
    """
    refuse_foreign(home)
    _refuse_other_file(target)
    try:
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".backup-") as name:
            folder = Path(name)
            _gather(home, folder, source)
            parts = tuple(name for name in NAMES if (folder / name).exists())
            if not parts:
                raise PersonMustAct(f"there is nothing to back up in {home.root}.")
            manifest = Manifest(source.clock().isoformat(), source.version, {p: hash_of(folder / p) for p in parts})
            draft = folder / "draft"
            write(draft, folder, manifest)
            verify(draft)
            draft.chmod(0o600)
            sync_file(draft)
            draft.replace(target)
            sync_file(target.absolute().parent)
    except OSError as fault:
        raise unwritable(target.absolute().parent, fault) from None
    return parts


def _gather(home: Home, folder: Path, source: Source) -> None:
    """All parts in one folder; a damaged database ends it."""
    if home.database.exists():
        copy = folder / home.database.name
        source.copy_database(home.database, copy)
        if faults := source.damage(copy):
            raise PersonMustAct(
                f"{home.database} is damaged ({faults[0]}); no backup was written. See assistant doctor."
            )
    for name, bundle in source.bundles.items():
        bundle(folder / f"{name}.bundle")
    for name in PLAIN:
        if (home.root / name).is_file():
            shutil.copyfile(home.root / name, folder / name)


def _refuse_other_file(target: Path) -> None:
    """Only a backup may be replaced by a backup."""
    if target.is_dir():
        raise PersonMustAct(f"{target} is a folder; name a file, for example {target / 'assistant.backup'}.")
    if not target.exists():
        return
    try:
        verify(target)
    except PersonMustAct:
        raise PersonMustAct(
            f"{target} exists and is not a whole backup; it was left alone. Name another file."
        ) from None
