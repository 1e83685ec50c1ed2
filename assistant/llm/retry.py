"""Models around models: asking again while a fault may pass, and a second model when the first stays away."""

from collections.abc import Callable, Iterator
from random import random

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Chunk, Request
from assistant.core.ports import Model
from assistant.errors import AssistantError, TryLater
from assistant.llm.faults import LONGEST_WAIT, Passing, Unreachable

LONGEST_BACKOFF = 60.0


class Retrying:
    """Asks again, a bounded number of times; each time it says so, so that what was told before is dropped."""

    def __init__(
        self,
        model: Model,
        wait: Callable[[Interrupt, float], bool] = Interrupt.wait,
        chance: Callable[[], float] = random,
    ) -> None:
        self.name = model.name
        self.window = model.window
        self.tools_supported = model.tools_supported
        self._model = model
        self._wait = wait
        """True when interrupted; a runtime may give its worker slot back meanwhile."""
        self._chance = chance

    def stream(self, request: Request, interrupt: Interrupt) -> Iterator[Chunk]:
        """The reply's pieces, after as many attempts as the fault deserves."""
        attempt = 0
        while True:
            attempt += 1
            try:
                yield from self._model.stream(request, interrupt)
                return
            except Passing as fault:
                if attempt >= fault.tries:
                    raise given_up(fault, attempt) from fault
                pause = fault.wait or backoff(attempt, self._chance())
                reason = f"{fault} Asking again in {round(pause)} s."
            yield Chunk(restarted=reason)
            if self._wait(interrupt, min(pause, LONGEST_WAIT)):
                return


class Fallback:
    """A second model for the rest of the turn once the first stays away; build one for each run."""

    def __init__(self, first: Model, second: Model) -> None:
        self._second: Model | None = second
        self._use(first)

    def stream(self, request: Request, interrupt: Interrupt) -> Iterator[Chunk]:
        """The reply of the first model, or of the second from its first failure on."""
        try:
            yield from self._model.stream(request, interrupt)
            return
        except (TryLater, Unreachable) as fault:
            if self._second is None:
                raise
            reason = f"{fault} Going on with {self._second.name}."
        self._use(self._second)
        self._second = None
        yield Chunk(restarted=reason)
        yield from self._model.stream(request, interrupt)

    def _use(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.window = model.window
        self.tools_supported = model.tools_supported


def backoff(attempt: int, chance: float) -> float:
    """Seconds before the next attempt: 1, 2, 4 … up to a minute, and up to half as much again by chance."""
    return min(2.0 ** (attempt - 1), LONGEST_BACKOFF) * (1 + chance / 2)


def given_up(fault: Passing, attempts: int) -> AssistantError:
    """The last word on a fault that did not pass."""
    said = f"{fault} (asked {attempts} times)"
    if fault.act:
        return Unreachable(said)
    return TryLater(f"{said}. Try again later, or choose another model with `assistant setup`.", fault.wait)
