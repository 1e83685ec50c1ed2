"""The form of a backup: a tar of a manifest and a few files known by name, each with its hash."""

import hashlib
import json
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from assistant.errors import PersonMustAct

FORMAT = 1
MANIFEST = "manifest.json"
NAMES = ("assistant.db", "skills.bundle", "memories.bundle", "config.yaml", "SOUL.md")
MANIFEST_LIMIT = 100_000
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds."""

    created: str
    version: str
    hashes: Mapping[str, str]


def write(path: Path, folder: Path, manifest: Manifest) -> None:
    """Pack the named files of a folder."""
    note = {"format": FORMAT, "created": manifest.created, "version": manifest.version, "sha256": dict(manifest.hashes)}
    (folder / MANIFEST).write_text(json.dumps(note, indent=2), encoding="utf-8")
    with tarfile.open(path, "w:gz", compresslevel=6) as tar:
        for name in (MANIFEST, *manifest.hashes):
            tar.add(folder / name, name, recursive=False, filter=_nobody)


def unpack(path: Path, folder: Path) -> Manifest:
    """Write the files of a backup into an empty folder, under their own names only, and check every hash."""
    return _checked(path, lambda name: (folder / name).open("xb"))


def verify(path: Path) -> Manifest:
    """Read a whole backup and check every hash."""
    return _checked(path, lambda _name: Path(os.devnull).open("wb"))


def hash_of(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(path: Path, target_of: Callable[[str], IO[bytes]]) -> Manifest:
    """Copy every part to where it goes; one whose hash is not the manifest's ends it."""
    with _opened(path) as tar:
        manifest, members = _contents(tar, path)
        for name, member in members.items():
            with _stream(tar, member) as source, target_of(name) as target:
                if _copied(source, target) != manifest.hashes[name]:
                    raise _broken(path, f"{name} is not what was written")
    return manifest


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    """A tar for reading; what is none, or ends too early, is told."""
    try:
        with tarfile.open(path, "r:gz") as tar:
            yield tar
    except (tarfile.TarError, zlib.error, EOFError, ValueError) as fault:
        raise _broken(path, str(fault) or "it ends too early") from None
    except OSError as fault:
        raise PersonMustAct(f"{path} cannot be read as a backup: {fault.strerror or fault}.") from None


def _contents(tar: tarfile.TarFile, path: Path) -> tuple[Manifest, dict[str, tarfile.TarInfo]]:
    """The manifest and exactly the members it names: plain files with known names, each once."""
    members = tar.getmembers()
    names = [member.name for member in members]
    odd = [member.name for member in members if not member.isreg() or member.name not in (MANIFEST, *NAMES)]
    if odd or len(set(names)) != len(names) or names[:1] != [MANIFEST]:
        raise _broken(path, f"it holds {odd[0]!r}" if odd else "its parts are not those of a backup")
    manifest = _manifest(tar, members[0], path)
    if set(manifest.hashes) != set(names[1:]):
        raise _broken(path, "parts are missing or too many")
    return manifest, {member.name: member for member in members[1:]}


def _manifest(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> Manifest:
    """The note about what a backup holds."""
    if member.size > MANIFEST_LIMIT:
        raise _broken(path, "its manifest is too long")
    with _stream(tar, member) as file:
        note: Any = json.loads(file.read())
    try:
        if note["format"] > FORMAT:
            raise PersonMustAct(f"{path} was made by a newer version ({note['version']}). Update this program first.")
        return Manifest(str(note["created"]), str(note["version"]), dict(note["sha256"]))
    except (KeyError, TypeError):
        raise _broken(path, "its manifest is not one") from None


def _stream(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """The bytes of a plain file."""
    stream = tar.extractfile(member)
    if stream is None:
        raise tarfile.TarError(f"{member.name} is not a file")
    return stream


def _copied(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy a file piece by piece; its hash."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK):
        target.write(chunk)
        digest.update(chunk)
    return digest.hexdigest()


def _nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without the names of this machine's people."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _broken(path: Path, why: str) -> PersonMustAct:
    """A file that is no whole backup."""
    return PersonMustAct(f"{path} is not a whole backup: {why}. Nothing was changed; use another copy.")
