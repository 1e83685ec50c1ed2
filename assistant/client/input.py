"""What comes in from other threads, so that a face never blocks: the events of runs, and what slow work gave."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Thread
from typing import TypeVar

from assistant.core.events import LAST
from assistant.core.ports import Runs, Told
from assistant.errors import AssistantError

T = TypeVar("T")


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


class Lanes:
    """Slow work beside the face: in order within a lane, lanes side by side."""

    def __init__(self) -> None:
        self._lanes: dict[str, ThreadPoolExecutor] = {}

    def do(self, lane: str, work: Callable[[], T], done: Callable[[Future[T]], None]) -> None:
        """Do the work after what is already in its lane; `done` is called in another thread."""
        if lane not in self._lanes:
            self._lanes[lane] = ThreadPoolExecutor(1, thread_name_prefix=f"chat-{lane}")
        self._lanes[lane].submit(work).add_done_callback(done)

    def close(self) -> None:
        """Begin nothing more."""
        for lane in self._lanes.values():
            lane.shutdown(wait=False, cancel_futures=True)
