"""Skills that come and go: bundled ones copied in, folders and archives taken in and written out."""

import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from skills_store import document
from skills_store.change import EXECUTABLE, Change, FileEdit, blob_hash
from skills_store.errors import StoreBrokenError, StoreError
from skills_store.files import OnDisk, ignored
from skills_store.history import patterns
from skills_store.names import DEFAULT_CATEGORY, SIDECAR, SKILL_FILE, category_problem, file_path_problem, name_problem
from skills_store.proposing import Proposal, Proposing, stamp
from skills_store.sidecar import Sidecar
from skills_store.skill import Skill
from skills_store.values import Actor, Cause, Owner

MAX_FILES = 500
MAX_BYTES = 10 * 1024 * 1024
KEPT_BESIDE = {"LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE", "README.md"}
Parcel = Mapping[str, tuple[bytes, bool]]
"""Bytes by path, and whether they can be run."""


def importing(proposing: Proposing, path: Path, cause: Cause, category: str) -> Proposal:
    """A skill from outside as a proposal."""
    parcel = rooted(bounded(opened(path), path), path)
    name = document.read(parcel[SKILL_FILE][0]).name or path.name.partition(".")[0]
    category = category or DEFAULT_CATEGORY
    if problem := name_problem(name) or category_problem(category):
        raise StoreError(problem, "invalid", "correct `name` in its header and try again")
    for inner in parcel:
        if inner != SKILL_FILE and inner not in KEPT_BESIDE and (problem := file_path_problem(inner)):
            raise StoreError(f"{path}: {problem}", "invalid", "leave that file out, or move it")
    if found := proposing.shelves.folders(name):
        raise StoreError(
            f"the skill {name!r} exists already, in {found[0]}", "exists", "rename or archive that one first"
        )
    known = Sidecar(Owner.INSTALLED, maker=cause.actor.value, source=path.name, created=stamp(proposing.vault.clock()))
    change = change_of(parcel, f"{category}/{name}", known, None, replace(cause, why=cause.why or f"from {path.name}"))
    return proposing.judged(change, proposing.facts(change, None))


def change_of(parcel: Parcel, folder: str, known: Sidecar, skill: Skill | None, cause: Cause) -> Change:
    """The change that makes a folder hold just these files."""
    old = {} if skill is None else skill.files
    before = {path: found.blob for path, found in old.items()}
    after = {**parcel, SIDECAR: (known.write(), False)}
    edits = [
        FileEdit(f"{folder}/{path}", before.get(path), data, EXECUTABLE if run else None)
        for path, (data, run) in after.items()
        if before.get(path) != blob_hash(data)
    ]
    edits += [FileEdit(f"{folder}/{path}", found.blob, None) for path, found in old.items() if path not in after]
    category, _, name = folder.rpartition("/")
    action = "seed" if cause.actor is Actor.SEED else "import"
    return Change(name, category, action, tuple(edits), cause, known.owner, action, (folder,))


def opened(path: Path) -> Iterator[tuple[str, bytes, bool]]:
    """The files of a folder or an archive: path, bytes, whether it can be run."""
    if path.is_dir():
        return in_folder(path)
    if zipfile.is_zipfile(path):
        return in_zip(path)
    if path.is_file() and tarfile.is_tarfile(path):
        return in_tar(path)
    raise StoreError(
        f"{path} is no folder, .zip or .tar.gz", "not_found", "give the folder of a skill or an archive of it"
    )


def in_folder(path: Path) -> Iterator[tuple[str, bytes, bool]]:
    """Plain files below a folder; links and leftovers are passed over."""
    for file in sorted(path.rglob("*")):
        inner = file.relative_to(path)
        if file.is_file() and not any((path / part).is_symlink() for part in [inner, *inner.parents]):
            yield inner.as_posix(), file.read_bytes(), bool(file.stat().st_mode & 0o100)


def in_zip(path: Path) -> Iterator[tuple[str, bytes, bool]]:
    """Plain files of a zip archive."""
    with zipfile.ZipFile(path) as archive:
        for item in archive.infolist():
            mode = item.external_attr >> 16
            if not item.is_dir() and mode & 0o170000 in (0, 0o100000):
                with archive.open(item) as file:
                    yield item.filename, file.read(MAX_BYTES + 1), bool(mode & 0o100)


def in_tar(path: Path) -> Iterator[tuple[str, bytes, bool]]:
    """Plain files of a tar archive."""
    with tarfile.open(path) as archive:
        for item in archive:
            file = archive.extractfile(item) if item.isreg() else None
            if file is not None:
                yield item.name, file.read(MAX_BYTES + 1), bool(item.mode & 0o100)


def bounded(files: Iterator[tuple[str, bytes, bool]], path: Path) -> dict[str, tuple[bytes, bool]]:
    """The files, if they are few and small enough and stay where they belong."""
    found: dict[str, tuple[bytes, bool]] = {}
    size = 0
    for name, data, run in files:
        parts = PurePosixPath(name).parts
        if name.startswith("/") or ".." in parts or "\\" in name:
            raise StoreError(
                f"{path} holds a file that leads out of it: {name!r}", "invalid", "do not trust that archive"
            )
        if any(ignored(part) for part in parts) or parts[-1] == SIDECAR:
            continue
        size += len(data)
        found["/".join(parts)] = (data, run)
        if len(found) > MAX_FILES or size > MAX_BYTES:
            raise StoreError(f"{path} is larger than {MAX_FILES} files or {MAX_BYTES:,} bytes", "invalid")
    return found


def rooted(files: dict[str, tuple[bytes, bool]], path: Path) -> Parcel:
    """The files below the folder that holds SKILL.md."""
    tops = sorted((name for name in files if name.rpartition("/")[2] == SKILL_FILE), key=lambda name: name.count("/"))
    if not tops:
        raise StoreError(f"{path} holds no {SKILL_FILE}", "invalid", "give the folder of one skill")
    if len(tops) > 1 and tops[1].count("/") == tops[0].count("/"):
        raise StoreError(
            f"{path} holds several skills: {', '.join(tops[:5])}", "ambiguous", "give the folder of one skill"
        )
    base = tops[0].removesuffix(SKILL_FILE)
    return {name.removeprefix(base): found for name, found in files.items() if name.startswith(base)}


def export(skill: Skill, to: Path) -> Path:
    """Write a skill's files, without our sidecar, to a new folder or archive."""
    if to.exists():
        raise StoreError(f"{to} exists already", "exists", "give a name that is free")
    files = {path: found for path, found in skill.files.items() if path != SIDECAR and not found.link}
    draft = to.with_name(f".{to.name}.draft")
    try:
        write = next((writer for end, writer in WRITERS if to.name.endswith(end)), as_folder)
        write(draft, skill.name, files)
        draft.replace(to)
    except OSError as problem:
        shutil.rmtree(draft, ignore_errors=True) if draft.is_dir() else draft.unlink(missing_ok=True)
        raise StoreBrokenError(f"cannot write {to}: {problem.strerror}", "choose another place") from problem
    return to


def as_zip(place: Path, name: str, files: Mapping[str, OnDisk]) -> None:
    """The files in a zip archive."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, found in files.items():
            item = zipfile.ZipInfo(f"{name}/{path}")
            item.external_attr = (0o100000 | found.mode) << 16
            archive.writestr(item, found.data)


def as_tar(place: Path, name: str, files: Mapping[str, OnDisk]) -> None:
    """The files in a tar archive."""
    with tarfile.open(place, mode="w:gz") as archive:
        for path, found in files.items():
            head = tarfile.TarInfo(f"{name}/{path}")
            head.size, head.mode = len(found.data), found.mode
            archive.addfile(head, io.BytesIO(found.data))


def as_folder(place: Path, _name: str, files: Mapping[str, OnDisk]) -> None:
    """The files in a folder."""
    for path, found in files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(found.data)
        target.chmod(found.mode)
    place.mkdir(exist_ok=True)


WRITERS = ((".zip", as_zip), (".tar.gz", as_tar), (".tgz", as_tar))


def seed(proposing: Proposing, folder: Path) -> tuple[str, ...]:
    """Bring the store's bundled skills up to what a folder holds; the names that changed."""
    changes = [
        change for bundled in sorted(folder.rglob(SKILL_FILE)) if (change := seeding(proposing, folder, bundled.parent))
    ]
    if changes:
        proposing.vault.apply(changes)
    return tuple(change.name for change in changes)


def seeding(proposing: Proposing, folder: Path, bundled: Path) -> Change | None:
    """What one bundled skill needs: to come in, to be brought up to date, or to be left as the person has it."""
    inner = bundled.relative_to(folder).as_posix()
    category, _, name = inner.rpartition("/")
    place = f"{category.rpartition('/')[2] or DEFAULT_CATEGORY}/{name}"
    parcel = bounded(in_folder(bundled), bundled)
    hashes = {path: blob_hash(data) for path, (data, _run) in parcel.items()}
    known = Sidecar(Owner.BUNDLED, maker=Actor.SEED.value, created=stamp(proposing.vault.clock()), seeded=hashes)
    cause = Cause(Actor.SEED)
    found = proposing.shelves.folders(name)
    if not found:
        gone = any(commit.action == "seed" for commit in proposing.vault.history.log(patterns(name)))
        return None if gone else change_of(parcel, place, known, None, cause)
    skill = proposing.shelves.load(found[0])
    old = skill.sidecar
    now = {path: item.blob for path, item in skill.files.items() if path != SIDECAR}
    if len(found) > 1 or old.owner is not Owner.BUNDLED or now != dict(old.seeded) or now == hashes:
        return None
    return change_of(parcel, found[0], replace(old, seeded=hashes), skill, cause)
