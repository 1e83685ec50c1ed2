"""A process that runs turns, and how others see that it is gone: it holds a lock on a file for as long as it lives."""

from pathlib import Path

from filelock import FileLock, Timeout


class Executor:
    """This process, as the rows of its runs name it."""

    def __init__(self, folder: Path, id: str) -> None:
        self.folder = folder
        self.id = id
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / f"{id}.lock")
        self._lock.acquire(timeout=0)

    def dead(self, other: str) -> bool:
        """Whether the process behind another executor's id is gone."""
        if other == self.id:
            return False
        path = self.folder / f"{other}.lock"
        if not path.exists():
            return True
        try:
            with FileLock(path, timeout=0):
                path.unlink(missing_ok=True)
                return True
        except Timeout:
            return False

    def close(self) -> None:
        """Leave in order."""
        self._lock.release()
        (self.folder / f"{self.id}.lock").unlink(missing_ok=True)


def at_work(folder: Path) -> int:
    """How many processes run turns now."""
    return sum(held(path) for path in folder.glob("*.lock"))


def held(path: Path) -> bool:
    """Whether a living process holds a lock."""
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True
