"""A store to play with: real git, a stepped clock, counted ids, and the person's own git beside it."""

import itertools
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from skills_store.change import Change, FileEdit, blob_hash
from skills_store.library import Library, Outside, StoreSettings
from skills_store.plan import Wish
from skills_store.values import Actor, Cause, Evidence, Owner
from skills_store.vault import Vault

YOU = Cause(Actor.YOU)
ASSISTANT = Cause(Actor.ASSISTANT, run="r9", session="s9")
REVIEW = Cause(Actor.REVIEW, "the person said so", "s1", "r1", "", (Evidence(12, "use tabs"), Evidence(15, "always")))
CURATOR = Cause(Actor.CURATOR, "unused for 40 days")
SKILL = "art/maps"
BODIES = {"maps": "# How\n\n1. Draw the coast.\n2. Name the rivers.\n3. Add a scale.\n"}


def text(name: str = "maps", about: str = "Use when drawing maps") -> str:
    body = BODIES.get(name, f"# {name.title()}\n\nEverything about {name} is in {name * 3}.\n")
    return f"---\nname: {name}\ndescription: {about}\n---\n\n{body}"


def clock() -> Callable[[], datetime]:
    ticks = itertools.count()
    return lambda: datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(seconds=next(ticks))


def ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"chg_{next(numbers)}"


def library(root: Path, outside: Outside | None = None, **settings: object) -> Library:
    return Library(root, clock(), ids(), StoreSettings(**settings), None, outside)


def vault(root: Path, told: Callable[[str], None] = lambda _step: None) -> Vault:
    return Vault(root, clock(), ids(), told=told)


def git(root: Path, *words: str, **environment: str) -> str:
    """What the person does with plain git."""
    who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
    who |= {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    done = subprocess.run(
        ["git", *words],
        cwd=root,
        env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull} | who | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def status(root: Path) -> str:
    return git(root, "status", "--porcelain", "--untracked-files=all")


def authors(root: Path) -> list[str]:
    """Who made the commits, the oldest first."""
    return git(root, "log", "--reverse", "--format=%an").split()


def write(root: Path, path: str, content: str | bytes) -> Path:
    """An edit by hand."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def change(
    root: Path, after: dict[str, bytes | None], cause: Cause = REVIEW, folders: tuple[str, ...] = (SKILL,)
) -> Change:
    """A change of some files to some bytes, made for the files as they are."""
    edits = []
    for path, data in after.items():
        place = root / path
        edits.append(FileEdit(path, blob_hash(place.read_bytes()) if place.exists() else None, data))
    return Change("maps", "art", "patch", tuple(edits), cause, Owner.AGENT, "a change", folders)


def reader(of: Library) -> Callable[[str], str | None]:
    """A run that has viewed everything as it is now."""

    def seen(path: str) -> str | None:
        found = of.vault.files.read(path)
        return None if found is None else found.blob

    return seen


def created(root: Path, cause: Cause = REVIEW, **settings: object) -> Library:
    """A library with one skill, `art/maps`."""
    made = library(root, **settings)
    made.manage(Wish("create", "maps", category="art", content=text()), cause)
    return made
