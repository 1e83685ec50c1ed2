"""A wish to stop that reaches whatever is blocking right now."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Interrupt:
    """Set once, from any thread; whoever blocks registers how to be woken."""

    def __init__(self) -> None:
        self._set = Event()
        self._lock = Lock()
        self._wakers: list[Callable[[], None]] = []

    def set(self) -> None:
        """Ask the run to stop; wakers run in the caller's thread and must not block."""
        with self._lock:
            self._set.set()
            wakers = list(self._wakers)
        for wake in wakers:
            wake()

    def is_set(self) -> bool:
        """Whether somebody asked the run to stop."""
        return self._set.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep unless or until interrupted; True when interrupted."""
        return self._set.wait(seconds)

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """While the body blocks, an interrupt calls `wake`; at once if it is set already."""
        with self._lock:
            self._wakers.append(wake)
            already = self._set.is_set()
        try:
            if already:
                wake()
            yield
        finally:
            with self._lock:
                self._wakers.remove(wake)
