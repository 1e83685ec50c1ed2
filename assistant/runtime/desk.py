"""Where a run waits for a person: it holds no worker slot, and the clock runs only while somebody is there."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TypeVar

from assistant.core.interrupt import Interrupt
from assistant.runtime.bell import Bell
from assistant.runtime.slots import Slots
from assistant.store.runs import moment
from assistant.store.waiting import EXPIRED, Decided, Waiting

T = TypeVar("T")
LOOK_SECONDS = 0.25
"""How often to look for an answer that another process stored."""
SAVE_SECONDS = 5.0
"""How much attended time a restart may forget."""
UNATTENDED = timedelta(hours=24)
"""How long a question waits when nobody is there."""


class Desk:
    """Waits for the answers to one home's approvals and questions."""

    def __init__(self, waiting: Waiting, bell: Bell, slots: Slots, timeout: float) -> None:
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

    def slot_free(self, interrupt: Interrupt) -> AbstractContextManager[None]:
        """While the body waits, another run may have this one's place."""
        return self.slots.left(interrupt)

    def _wait(
        self, table: str, run_id: str, item_id: str, interrupt: Interrupt, look: Callable[[], T | None]
    ) -> T | None:
        if (found := look()) is not None:
            return found
        unsaved = 0.0
        with (
            self.slot_free(interrupt),
            self.bell.listening(f"desk:{run_id}") as heard,
            interrupt.waking(heard.set),
        ):
            while not interrupt.is_set():
                heard.clear()
                if (found := look()) is not None:
                    return found
                if self._over(table, item_id, unsaved):
                    self.waiting.expire(table, item_id)
                elif not heard.wait(LOOK_SECONDS) and self.bell.attended(run_id):
                    unsaved = self._count(table, item_id, unsaved + LOOK_SECONDS)
        return None

    def _count(self, table: str, item_id: str, unsaved: float) -> float:
        """Time during which somebody was there, kept now and then; what is not kept yet."""
        if unsaved < SAVE_SECONDS:
            return unsaved
        self.waiting.attended(table, item_id, unsaved)
        return 0.0

    def _over(self, table: str, item_id: str, unsaved: float) -> bool:
        row = self.waiting.database.one(f"SELECT created, attended_seconds FROM {table} WHERE id = ?", (item_id,))
        if row is None:
            return False
        rested = self.waiting.database.clock() - moment(row["created"])
        return rested > UNATTENDED or float(row["attended_seconds"]) + unsaved > self.timeout


def waiting_out(slots: Slots, interrupt: Interrupt, seconds: float) -> bool:
    """Wait before asking a model again, without a slot; True when interrupted."""
    with slots.left(interrupt):
        return interrupt.wait(seconds)


def in_words(decided: Decided) -> str:
    """Why a call was not allowed, for the model."""
    if decided.decision == EXPIRED:
        return "nobody answered in time, so it was not run"
    return f"refused: {decided.feedback}" if decided.feedback else "refused by the person"
