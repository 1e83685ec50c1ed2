"""Wakes whoever waits for news of one run.  It carries no news itself: the database has it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock

QUEUE = "queue"
"""The topic of those who look for runs to begin."""


class Bell:
    """Rings by topic, within this process; other processes' news is found by looking again after a while."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[str, set[Event]] = {}

    def ring(self, topic: str) -> None:
        """Wake everybody who listens to this topic."""
        with self._lock:
            listeners = list(self._listeners.get(topic, ()))
        for heard in listeners:
            heard.set()

    @contextmanager
    def listening(self, topic: str) -> Iterator[Event]:
        """An event that each ring sets; clear it before looking, then wait for it."""
        heard = Event()
        with self._lock:
            self._listeners.setdefault(topic, set()).add(heard)
        try:
            yield heard
        finally:
            with self._lock:
                self._listeners[topic].discard(heard)
                if not self._listeners[topic]:
                    del self._listeners[topic]

    def attended(self, topic: str) -> bool:
        """Whether anybody listens."""
        with self._lock:
            return topic in self._listeners
