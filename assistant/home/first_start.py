"""The first start fills in what is missing in a home and overwrites nothing."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from assistant.errors import PersonMustAct
from assistant.home.files import write_new
from assistant.home.lock import held
from assistant.home.place import Home

SECRETS = b"""# Secrets, one a line: NAME=value.  They fill in variables that the environment does not set.
# This file is never printed and never goes into git.
"""
COPIED = ("config.yaml", "SOUL.md", ".gitignore")
MODES = {".env": 0o600}


def find_template() -> Path:
    """The template that came with the package, or that of the source tree."""
    packaged = Path(__file__).parents[1] / "home_template"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "~hermes_home_template"


def find_git(environ: Mapping[str, str]) -> Path:
    """The git program; without it nothing that is learned could be kept."""
    found = shutil.which("git", path=environ.get("PATH", os.defpath))
    if found is None:
        raise PersonMustAct(
            "git is not installed, or not on PATH. Everything learned is kept in git: install it "
            "(Debian, Ubuntu: sudo apt install git; macOS: xcode-select --install) and try again."
        )
    return Path(found)


def prepare(home: Home, template: Path) -> tuple[Path, ...]:
    """Fill in what is missing, under the home lock; the paths that were made.

    The skills of the template are not copied here: the library seeds them, so that their owner and commit are right.
    """
    try:
        refuse_foreign(home)
        if not any(_lacks(home)):
            _refuse_unwritable(home)
            return ()
        contents = {name: (template / name).read_bytes() for name in COPIED} | {home.env_file.name: SECRETS}
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with held(home):
            return _fill(home, contents)
    except OSError as fault:
        raise unwritable(home.root, fault) from None


def refuse_foreign(home: Home) -> None:
    """Nothing is written into a home of another program."""
    if home.foreign:
        raise PersonMustAct(
            f"{home.root} belongs to another program (it has a state.db and no assistant.db), so nothing is written "
            f"there. To copy its skills and memories into a home of our own: assistant setup --adopt {home.root}"
        )


def unwritable(place: Path, fault: OSError) -> PersonMustAct:
    """The fault of a place that cannot be written, in words."""
    return PersonMustAct(
        f"{fault.filename or place} cannot be written: {fault.strerror or fault}. "
        f"Make {place} something that you may write, or choose another one with --home PATH or HERMES_HOME."
    )


def _lacks(home: Home) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The folders and the files that are not there yet."""
    files = [home.root / name for name in COPIED] + [home.env_file]
    return (
        tuple(folder for folder in home.folders if not folder.is_dir()),
        tuple(file for file in files if not os.path.lexists(file)),
    )


def _fill(home: Home, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Make what is missing, now that nobody else does."""
    folders, files = _lacks(home)
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    made = [file for file in files if write_new(file, contents[file.name], MODES.get(file.name, 0o644))]
    return (*folders, *made)


def _refuse_unwritable(home: Home) -> None:
    """A complete home may still be somebody else's."""
    if not os.access(home.root, os.W_OK | os.X_OK):
        raise PermissionError(13, "permission denied", str(home.root))
