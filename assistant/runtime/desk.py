"""Where a run waits for a person: it holds no worker slot, and the clock runs only while somebody is there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Semaphore
from typing import TypeVar

from assistant.core.interrupt import Interrupt
from assistant.runtime.bell import Bell
from assistant.store.runs import moment
from assistant.store.waiting import EXPIRED, Decided, Waiting

T = TypeVar("T")
LOOK_SECONDS = 0.25
"""How often to look for an answer that another process stored."""
UNATTENDED = timedelta(hours=24)
"""How long a question waits when nobody is there."""


class Desk:
    """Waits for the answers to one home's approvals and questions."""

    def __init__(self, waiting: Waiting, bell: Bell, slots: Semaphore, timeout: float) -> None:
        self.waiting = waiting
        self.bell = bell
        self.slots = slots
        self.timeout = timeout

    def decision(self, run_id: str, approval_id: str, interrupt: Interrupt) -> Decided | None:
        """How an approval ends; None when the run is stopped first."""
        return self._wait("approvals", run_id, approval_id, interrupt, lambda: self.waiting.decided(approval_id))

    def answer(self, run_id: str, question_id: str, interrupt: Interrupt) -> str | None:
        """The answer to a question; empty when nobody answered in time, None when the run is stopped first."""
        return self._wait("questions", run_id, question_id, interrupt, lambda: self.waiting.answered(question_id))

    @contextmanager
    def slot_free(self) -> Iterator[None]:
        """While the body waits, another run may have this one's place."""
        self.slots.release()
        try:
            yield
        finally:
            self.slots.acquire()

    def _wait(
        self, table: str, run_id: str, item_id: str, interrupt: Interrupt, look: Callable[[], T | None]
    ) -> T | None:
        if (found := look()) is not None:
            return found
        with self.slot_free(), self.bell.listening(f"desk:{run_id}") as heard, interrupt.waking(heard.set):
            while not interrupt.is_set():
                heard.clear()
                if (found := look()) is not None:
                    return found
                if self._over(table, item_id, run_id):
                    self.waiting.expire(table, item_id)
                    continue
                heard.wait(LOOK_SECONDS)
        return None

    def _over(self, table: str, item_id: str, run_id: str) -> bool:
        row = self.waiting.database.one(f"SELECT created, attended_seconds FROM {table} WHERE id = ?", (item_id,))
        if row is None:
            return False
        if self.waiting.database.clock() - moment(row["created"]) > UNATTENDED:
            return True
        if not self.bell.attended(run_id):
            return False
        return self.waiting.attended(table, item_id, LOOK_SECONDS) > self.timeout


def waiting_out(slots: Semaphore, interrupt: Interrupt, seconds: float) -> bool:
    """Wait before asking a model again, without a slot; True when interrupted."""
    slots.release()
    try:
        return interrupt.wait(seconds)
    finally:
        slots.acquire()


def in_words(decided: Decided) -> str:
    """Why a call was not allowed, for the model."""
    if decided.decision == EXPIRED:
        return "nobody answered in time, so it was not run"
    reason = f": {decided.feedback}" if decided.feedback else ""
    return f"refused by the person{reason}"
