"""Joins what a model says letter by letter into frames, so that storing keeps up with talking."""

from collections.abc import Callable, Generator
from typing import TypeVar

from assistant.core.events import Event, ReasoningArrived, TextArrived

T = TypeVar("T")
FRAME_SECONDS = 0.05


def framed(events: Generator[Event, None, T], ticks: Callable[[], float]) -> Generator[Event, None, T]:
    """The same events; neighbouring deltas of one kind that come within one frame are one delta."""
    held: TextArrived | ReasoningArrived | None = None
    last = ticks() - FRAME_SECONDS
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            if held:
                yield held
            result: T = end.value
            return result
        if held and type(event) is type(held):
            event = type(held)(held.text + event.text)
            held = None
        if held:
            yield held
            held = None
        if isinstance(event, TextArrived | ReasoningArrived):
            if ticks() - last < FRAME_SECONDS:
                held = event
                continue
            last = ticks()
        yield event
