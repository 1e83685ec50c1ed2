"""Waiting for what another thread or process does: polled, with an end."""

from collections.abc import Callable
from threading import Event
from time import monotonic

LONGEST = 10.0


def until(true: Callable[[], bool], told: Callable[[], str] = str, longest: float = LONGEST) -> None:
    """Return once it is true; fail with `told()` when that takes too long."""
    end = monotonic() + longest
    while not true():
        assert monotonic() < end, f"waited {longest:.0f} s\n{told()}"
        Event().wait(0.02)
