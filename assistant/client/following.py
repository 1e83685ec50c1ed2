"""A run's events, brought from a thread of their own, so that a face never blocks on them."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread

from assistant.core.events import LAST
from assistant.core.ports import Runs, Told
from assistant.errors import AssistantError


@dataclass(frozen=True, slots=True)
class Lost:
    """The events ended before the run did."""

    why: str


def follow(runs: Runs, run_id: str, tell: Callable[[Told | Lost], None]) -> None:
    """Tell every event of the run, from the first; always ends with a last event or `Lost`."""

    def read() -> None:
        fault = "the connection to the run ended before the run did"
        ended = False
        try:
            for told in runs.events(run_id):
                ended = isinstance(told.event, LAST)
                tell(told)
        except AssistantError as error:
            fault = str(error)
        finally:
            if not ended:
                tell(Lost(fault))

    Thread(target=read, name=f"follow-{run_id}", daemon=True).start()
