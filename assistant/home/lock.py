"""The home lock: one process at a time prepares, migrates, adopts or restores."""

from contextlib import AbstractContextManager
from typing import Any

from assistant.errors import TryLater
from assistant.home.place import Home


def held(home: Home, wait: float = 30.0) -> AbstractContextManager[Any]:
    """Hold the lock of a home; TryLater when another process keeps it for longer than `wait` seconds."""
    from filelock import FileLock, Timeout  # 35 ms, needed when something is missing or old

    lock = FileLock(home.lock, mode=0o600)
    try:
        return lock.acquire(timeout=wait)
    except Timeout:
        raise TryLater(f"another process is preparing {home.root}; try again in a minute", wait=wait) from None
