"""Files below one root: read, listed and replaced whole, never through a link that leads elsewhere."""

import errno
import fnmatch
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from skills_store.change import EXECUTABLE, PLAIN, blob_hash
from skills_store.errors import StoreBrokenError, StoreError

IGNORED = (".git", "__pycache__", ".DS_Store", "*.pyc", "*~", ".*.sw?", ".#*")
OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MANY = 64
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A file as it is now."""

    data: bytes
    mode: int
    link: bool = False

    @property
    def blob(self) -> str:
        """The name git gives the bytes."""
        return blob_hash(self.data)

    @property
    def git_mode(self) -> str:
        """The mode as git stores it."""
        return "120000" if self.link else "100755" if self.mode & stat.S_IXUSR else "100644"


@dataclass(frozen=True, slots=True)
class Step:
    """One whole-file write to come, its bytes already on disk."""

    path: str
    draft: Path
    before: OnDisk | None


class Files:
    """The work tree of a vault."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.drafts = root / ".git" / "assistant-drafts"

    def read(self, path: str) -> OnDisk | None:
        """The file now, or None; a link is told as a link, never followed."""
        with self.folder_of(path) as place:
            return None if place is None else read_at(place, path.rpartition("/")[2])

    def exists(self, path: str) -> bool:
        """Something lies there."""
        return os.path.lexists(f"{self.root}/{path}")

    def folders(self, below: str) -> set[str]:
        """The folders of a place; hidden ones and links are passed over."""
        try:
            with os.scandir(self.root / below) as entries:
                return {e.name for e in entries if e.name[0] != "." and e.is_dir(follow_symlinks=False)}
        except (FileNotFoundError, NotADirectoryError):
            return set()

    def under(self, folder: str) -> dict[str, OnDisk]:
        """Every file of a folder that git would keep, by its path below the root."""
        with self.folder_of(f"{folder}/x") as place:
            return {} if place is None else dict(walk(place, folder))

    @contextmanager
    def folder_of(self, path: str, make: bool = False) -> Iterator[int | None]:
        """The open folder that holds a path; None when it is not there.  A link on the way is refused."""
        parts = safe_parts(path)[:-1]
        try:
            place = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            if make:
                raise
            yield None
            return
        try:
            for part in parts:
                deeper = self.enter(place, part, path, make)
                if deeper is None:
                    yield None
                    return
                os.close(place)
                place = deeper
            yield place
        finally:
            os.close(place)

    def enter(self, place: int, part: str, path: str, make: bool) -> int | None:
        """One folder deeper."""
        if make:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=place)
        try:
            return os.open(part, OPEN_FOLDER, dir_fd=place)
        except FileNotFoundError:
            return None
        except OSError as problem:
            if problem.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            if not make:
                return None
            raise StoreBrokenError(
                f"{part!r} on the way to {path} is a link or a file, not a folder of this store",
                f"put a real folder in its place below {self.root}; nothing was changed",
            ) from problem

    def prepare(self, path: str, data: bytes, mode: int | None, durable: bool = True) -> Step:
        """Write the new bytes inside git's folder, unseen; when they are not `durable`, the caller flushes them."""
        with self.folder_of(path, make=True) as place:
            if place is None:
                raise StoreBrokenError(f"the folder of {path} cannot be made")
            before = read_at(place, path.rpartition("/")[2])
        draft = self.drafts / blob_hash(path.encode("utf-8", "surrogateescape"))
        self.drafts.mkdir(exist_ok=True)
        draft.unlink(missing_ok=True)
        try:
            with os.fdopen(os.open(draft, NEW_FILE, 0o666), "wb") as file:
                file.write(data)
                file.flush()
                fit_mode(file.fileno(), mode, before)
                if durable:
                    os.fsync(file.fileno())
        except OSError:
            draft.unlink(missing_ok=True)
            self.prune(path)
            raise
        return Step(path, draft, before)

    def discard(self, step: Step) -> None:
        """Forget a prepared file, and the folders that were made for it."""
        step.draft.unlink(missing_ok=True)
        self.prune(step.path)

    def publish(self, step: Step) -> None:
        """Put a prepared file in its place, in one step."""
        with self.folder_of(step.path) as place:
            if place is None:
                raise StoreBrokenError(f"the folder of {step.path} went away while it was written")
            os.replace(step.draft, step.path.rpartition("/")[2], dst_dir_fd=place)

    def remove(self, path: str) -> None:
        """Take a file away, and the folders that this empties."""
        with self.folder_of(path) as place:
            if place is None:
                return
            with suppress(FileNotFoundError):
                os.unlink(path.rpartition("/")[2], dir_fd=place)
        self.prune(path)

    def settle(self, paths: Iterable[str]) -> None:
        """Make what was put in place or taken away durable, folder by folder."""
        folders = {path.rpartition("/")[0] for path in paths}
        if flushed_together(len(folders)):
            return
        for folder in folders:
            with self.folder_of(f"{folder}/x" if folder else "x") as place:
                if place is not None:
                    os.fsync(place)

    def prune(self, path: str) -> None:
        """Remove the folders above a path that hold nothing."""
        parts = path.split("/")[:-1]
        while parts:
            try:
                (self.root / "/".join(parts)).rmdir()
            except OSError:
                return
            parts.pop()

    def sweep(self) -> None:
        """Remove the drafts that a dead process left."""
        if self.drafts.is_dir():
            for draft in self.drafts.iterdir():
                draft.unlink(missing_ok=True)


def flushed_together(count: int) -> bool:
    """Flush everything at once when that is cheaper than one by one, and the system waits for it."""
    if count <= MANY or sys.platform != "linux":
        return False
    os.sync()
    return True


def flush(step: Step) -> None:
    """Make one prepared file durable."""
    with step.draft.open("rb") as file:
        os.fsync(file.fileno())


def safe_parts(path: str) -> list[str]:
    """The parts of a path below a root; anything that could lead out is refused."""
    parts = path.split("/")
    if not path or path.startswith("/") or any(part in ("", ".", "..", ".git") or "\0" in part for part in parts):
        raise StoreError(f"{path!r} is no path inside the store", "invalid", "use a relative path without '..'")
    return parts


def ignored(name: str) -> bool:
    """A file or folder that is nobody's text: caches, editors' leftovers."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in IGNORED)


def read_at(place: int, name: str) -> OnDisk | None:
    """One file of an open folder."""
    try:
        info = os.lstat(name, dir_fd=place)
        if stat.S_ISLNK(info.st_mode):
            return OnDisk(os.fsencode(os.readlink(name, dir_fd=place)), info.st_mode, link=True)
        if not stat.S_ISREG(info.st_mode):
            return None
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        return OnDisk(file.read(), stat.S_IMODE(info.st_mode))


def walk(place: int, folder: str) -> Iterator[tuple[str, OnDisk]]:
    """The files of an open folder and the folders below, links told as links."""
    with os.scandir(place) as entries:
        names = sorted(
            (entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries if not ignored(entry.name)
        )
    for name, is_folder in names:
        if is_folder:
            deeper = os.open(name, OPEN_FOLDER, dir_fd=place)
            try:
                yield from walk(deeper, f"{folder}/{name}")
            finally:
                os.close(deeper)
        elif (found := read_at(place, name)) is not None:
            yield f"{folder}/{name}", found


def fit_mode(handle: int, mode: int | None, before: OnDisk | None) -> None:
    """Keep the old file's mode; a new one follows the umask; `mode` says only whether it can be run."""
    known = None if before is None or before.link else before.mode
    usual = stat.S_IMODE(os.fstat(handle).st_mode) if known is None else known
    runnable = usual & stat.S_IXUSR if mode is None else mode & stat.S_IXUSR
    os.fchmod(handle, usual | (usual & 0o444) >> 2 if runnable else usual & ~0o111)


def mode_of(git_mode: str) -> int:
    """A mode of git as a mode of the file system."""
    return EXECUTABLE if git_mode == "100755" else PLAIN
