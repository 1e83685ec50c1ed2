"""Places for runs at work: who waits for a person, or for a model to come back, gives its place away meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from assistant.core.interrupt import Interrupt

LOOK_SECONDS = 0.1


class Slots:
    """A fixed number of places.

    A run that was stopped while it waited takes a place even when there is none: it is about to end, and its end must
    not wait for others.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._changed = Condition()

    def try_take(self) -> bool:
        """Take a place if one is free; whether it did."""
        with self._changed:
            if self._free <= 0:
                return False
            self._free -= 1
            return True

    def take(self, interrupt: Interrupt) -> None:
        """Wait for a place; once interrupted, take one that is not there."""
        with self._changed:
            while self._free <= 0 and not interrupt.is_set():
                self._changed.wait(LOOK_SECONDS)
            self._free -= 1

    def give_back(self) -> None:
        """Leave a place."""
        with self._changed:
            self._free += 1
            self._changed.notify()

    @contextmanager
    def left(self, interrupt: Interrupt) -> Iterator[None]:
        """While the body waits, another run may have this one's place."""
        self.give_back()
        try:
            yield
        finally:
            self.take(interrupt)

    @contextmanager
    def taken(self, interrupt: Interrupt) -> Iterator[None]:
        """A place for as long as the body runs."""
        self.take(interrupt)
        try:
            yield
        finally:
            self.give_back()
