"""Wakes whoever waits for news of one run.  It carries no news itself: the database has it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Protocol, TypeVar

QUEUE = "queue"
"""The topic of those who look for runs to begin."""


class Hears(Protocol):
    """Whatever can be woken."""

    def set(self) -> None:
        """Wake; called in any thread, must not block."""
        ...


H = TypeVar("H", bound=Hears)


class Bell:
    """Rings by topic, within this process; other processes' news is found by looking again after a while."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[str, set[Hears]] = {}

    def ring(self, topic: str) -> None:
        """Wake everybody who listens to this topic."""
        with self._lock:
            listeners = list(self._listeners.get(topic, ()))
        for heard in listeners:
            heard.set()

    @contextmanager
    def listening(self, topic: str) -> Iterator[Event]:
        """An event that each ring sets; clear it before looking, then wait for it."""
        with self.waking(topic, Event()) as heard:
            yield heard

    @contextmanager
    def waking(self, topic: str, heard: H) -> Iterator[H]:
        """Each ring wakes `heard`."""
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
