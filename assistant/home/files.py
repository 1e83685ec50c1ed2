"""Files are written whole: a reader, or a crash, sees the old bytes or the new."""

import os
import stat
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Replace a file, or make it; an old one keeps its mode, a link keeps leading where it led."""
    target = Path(os.path.realpath(path))
    kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    draft = _drafted(target, data, kept if mode is None else mode)
    try:
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_file(target.parent)


def write_new(path: Path, data: bytes, mode: int = 0o644) -> bool:
    """Make a file that is not there; says whether it did, and never touches one that is.  Call it under a lock."""
    if os.path.lexists(path):
        return False
    write_whole(path, data, mode)
    return True


def sync_file(path: Path) -> None:
    """Make a file's bytes, or a folder's names, durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _drafted(path: Path, data: bytes, mode: int) -> Path:
    """The bytes, safe on the disk under a name nobody reads."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft
