"""A change as a value: which files become what, by whom, why.  Computed purely, checked purely, applied once."""

import difflib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from skills_store.names import SIDECAR
from skills_store.values import Cause, Owner

PLAIN = 0o644
EXECUTABLE = 0o755


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file: what it must be now (`before`, a blob hash or None for absent) and what it becomes (None: gone)."""

    path: str
    """Below the root, with `/` between the parts."""
    before: str | None
    after: bytes | None
    mode: int | None = None
    """None keeps the mode of the file, or gives a new file the usual one."""


@dataclass(frozen=True, slots=True)
class Change:
    """A set of file edits with its story; the only thing that the vault applies."""

    name: str
    category: str
    action: str
    edits: tuple[FileEdit, ...]
    cause: Cause
    owner: Owner = Owner.YOU
    subject: str = ""
    folders: tuple[str, ...] = ()
    """Folders whose hand edits are committed first; the edited files are looked at anyway."""
    strategy: str = ""
    """How a patch found its place."""
    extra: tuple[tuple[str, str], ...] = field(default=())
    """More trailers for the commit."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file the change touches, in order."""
        return tuple(edit.path for edit in self.edits)


def blob_hash(data: bytes) -> str:
    """The name git gives these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def fingerprint(change: Change, before: Mapping[str, bytes]) -> str:
    """The same for every proposal of the same lines, wherever they stand; the sidecar with its times is left out."""
    digest = hashlib.sha1(usedforsecurity=False)
    for edit in sorted(change.edits, key=lambda item: item.path):
        if not edit.path.endswith(SIDECAR):
            lines = unified(edit.path, before.get(edit.path), edit.after, 0).splitlines()
            whole = "" if edit.after is None or as_text(edit.after) is not None else blob_hash(edit.after)
            told = [edit.path, whole, *(line for line in lines if not line.startswith("@@"))]
            digest.update("\0".join(told).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def as_text(data: bytes | None) -> str | None:
    """The bytes as text; None for nothing and for what is not text."""
    if data is None or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def unified(path: str, before: bytes | None, after: bytes | None, around: int = 3) -> str:
    """The difference of two versions of a file, as people read it, with some lines around each place."""
    old, new = as_text(before or b""), as_text(after or b"")
    if old is None or new is None:
        return f"{path}: binary file, {len(before or b'')} bytes before, {len(after or b'')} after\n"
    source = f"a/{path}" if before is not None else "/dev/null"
    target = f"b/{path}" if after is not None else "/dev/null"
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), source, target, n=around)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def diff_of(versions: Iterable[tuple[str, bytes | None, bytes | None]]) -> str:
    """The differences of several files, one after another; the sidecar is left out unless it is all there is."""
    told = [(path, unified(path, before, after)) for path, before, after in versions]
    without = [text for path, text in told if not path.endswith(SIDECAR)]
    return "".join(without or [text for _path, text in told])
