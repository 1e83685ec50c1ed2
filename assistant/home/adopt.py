"""Copies skills and memories of another program's home into one of ours; the other home is only read."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.errors import PersonMustAct
from assistant.home.files import sync_file, write_whole
from assistant.home.first_start import prepare, unwritable
from assistant.home.lock import held
from assistant.home.place import Home, person, pointer

MEMORIES = ("MEMORY.md", "USER.md")
ARCHIVE = ".archive"


@dataclass(frozen=True, slots=True)
class Adopted:
    """What came over, and what did not and why."""

    source: str
    skills: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Sentences."""
    unused_settings: tuple[str, ...] = ()


def own_place(environ: Mapping[str, str]) -> Path:
    """Where a home of our own goes when `~/.hermes` belongs to another program."""
    return person(environ) / ".hermes-assistant"


def adopt(source: Path, home: Home, template: Path, unused: Sequence[str] = ()) -> Adopted:
    """Copy what is not there yet; doing it again copies nothing twice.  Tell the place with `remember` afterwards."""
    source = source.absolute()
    if not (source / "skills").is_dir() and not (source / "memories").is_dir():
        raise PersonMustAct(f"{source} has neither skills/ nor memories/. Name the home of the other program.")
    if source.resolve() == home.root.resolve():
        raise PersonMustAct(f"{source} is the home itself. Choose another place for ours with --home PATH.")
    prepare(home, template)
    try:
        with held(home):
            skills, skipped = _copy_skills(source / "skills", home.skills)
            memories, kept = _copy_memories(source / "memories", home.memories)
            result = Adopted(str(source), skills, memories, (*skipped, *kept), tuple(unused))
            write_whole(home.adopted, json.dumps(asdict(result), indent=2, ensure_ascii=False).encode())
    except OSError as fault:
        raise unwritable(home.root, fault) from None
    return result


def remember(home: Home, environ: Mapping[str, str]) -> Path:
    """Record the home's place where every later start looks; the note that says so."""
    note = pointer(environ)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        write_whole(note, f"{home.root.absolute()}\n".encode())
    except OSError as fault:
        raise unwritable(note.parent, fault) from None
    return note


def unused_settings(home: Home) -> tuple[str, ...]:
    """Settings of the other program that have no meaning here, for the doctor."""
    try:
        told: Any = json.loads(home.adopted.read_text(encoding="utf-8"))
        return tuple(str(name) for name in told["unused_settings"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _copy_skills(source: Path, target: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Each skill folder whole; the names that came over, and sentences about the rest."""
    copied: list[str] = []
    skipped: list[str] = []
    for folder in _skill_folders(source):
        place = _place(folder.relative_to(source))
        if os.path.lexists(target / place):
            skipped.append(f"{place} is already here; the copy in {folder} was left alone.")
            continue
        skipped += _copy_folder(folder, target / place)
        copied.append(str(place))
    return tuple(copied), tuple(skipped)


def _skill_folders(source: Path) -> Iterator[Path]:
    """Folders with a SKILL.md, never one inside another, never through a link."""
    for at, folders, files in os.walk(source):
        inside = Path(at) != source
        folders[:] = sorted(name for name in folders if not name.startswith(".") or (name == ARCHIVE and not inside))
        if "SKILL.md" in files and inside:
            folders.clear()
            yield Path(at)


def _place(path: Path) -> Path:
    """`category/name`: no category becomes `general`, several become one word; the archive keeps its own."""
    parts = list(path.parts)
    root = [parts.pop(0)] if parts[0] == ARCHIVE and len(parts) > 1 else []
    *categories, name = parts
    category = re.sub(r"[^a-z0-9._-]+", "-", "-".join(categories).lower()).strip("-._") or "general"
    return Path(*root, category, name)


def _copy_folder(source: Path, target: Path) -> list[str]:
    """Bytes and modes of every ordinary file, all of them or none; links are not followed and named."""
    left: list[str] = []

    def unwanted(at: str, names: list[str]) -> list[str]:
        odd = [name for name in names if _odd(Path(at, name))]
        left.extend(f"{Path(at, name)} is a link or a special file and was not copied." for name in odd)
        return [*odd, *(name for name in names if name == ".git")]

    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".draft-"))
    try:
        shutil.copytree(source, draft / "copy", ignore=unwanted)
        (draft / "copy").rename(target)
        sync_file(target.parent)
    finally:
        shutil.rmtree(draft)
    return left


def _odd(path: Path) -> bool:
    """Neither a file nor a folder of this tree."""
    return path.is_symlink() or not (path.is_file() or path.is_dir())


def _copy_memories(source: Path, target: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The memory files that we do not have yet; an empty one counts as none."""
    copied: list[str] = []
    kept: list[str] = []
    for name in MEMORIES:
        theirs, ours = source / name, target / name
        if not theirs.is_file() or not theirs.read_bytes().strip():
            continue
        if ours.is_file() and ours.read_bytes().strip():
            kept.append(f"{ours} is already written; {theirs} was left alone.")
            continue
        write_whole(ours, theirs.read_bytes())
        copied.append(name)
    return tuple(copied), tuple(kept)
