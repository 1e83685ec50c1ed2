"""Takes up queued runs, one thread a run, as many at once as the settings allow."""

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from assistant.runtime.bell import QUEUE
from assistant.runtime.ending import cancel_queued
from assistant.runtime.engine import Engine
from assistant.runtime.executors import Executor
from assistant.runtime.parts import Parts, run_of
from assistant.runtime.recovery import end_left_running, reviews_may_run, take_up_again

T = TypeVar("T")
LOOK_SECONDS = 0.5
"""How often to look for runs and wishes to stop that another process wrote."""
DRAIN_SECONDS, DRAIN_LOOK_SECONDS = 5.0, 0.05


class Workers:
    """The runs of one process."""

    def __init__(self, parts: Parts, engine: Engine, executor: Executor, only_own: bool) -> None:
        self.parts = parts
        self.engine = engine
        self.executor = executor
        self.only_own = only_own
        self._leaving = threading.Event()
        self._threads: set[threading.Thread] = set()
        self._dropped: set[str] = set()
        self._chief = threading.Thread(target=self._look, name="workers", daemon=True)

    def start(self) -> None:
        """Begin to look for runs."""
        self._chief.start()

    def stop(self, park: bool = False) -> None:
        """Take up nothing more and let what runs end; with `park`, leave it for the next process to go on with."""
        self._leaving.set()
        self.parts.bell.ring(QUEUE)
        if self._chief.ident is not None:
            self._chief.join(DRAIN_SECONDS)
        for thread in list(self._threads):
            if not park:
                thread.join()

    def drain(self) -> None:
        """Take up nothing more; give what works a moment to end, and park the rest with no command left running.

        A parked run stands as it was last committed; whoever finds it orphaned goes on from there.
        """
        self.stop(park=True)
        waited = 0.0
        while self._at_work() and waited < DRAIN_SECONDS:
            threading.Event().wait(DRAIN_LOOK_SECONDS)
            waited += DRAIN_LOOK_SECONDS
        for run_id in self.engine.working():
            end_left_running(self.parts.ledger.left_running(run_id), run_id)

    def _at_work(self) -> bool:
        """Whether a run here does more than wait for a person."""
        return any(self.parts.runs.row(run_id)["status"] == "running" for run_id in self.engine.working())

    def busy(self) -> int:
        """Runs in work here."""
        return len(self.engine.working())

    def guarded(self, work: Callable[[], T], about: str) -> T | None:
        """Work whose fault must not end a thread that others rely on.  One of the four places that catch everything."""
        try:
            return work()
        except Exception:  # noqa: BLE001 - seam: job
            self.parts.report(about)
            return None

    def _look(self) -> None:
        parts = self.parts
        with parts.bell.listening(QUEUE) as heard:
            while not self._leaving.is_set():
                heard.clear()
                self.guarded(self._stop_what_is_unwanted, "stopping runs")
                self.guarded(self._queue_dropped, "runs that were dropped")
                if not self.guarded(self._take, "taking up runs"):
                    heard.wait(LOOK_SECONDS)
        parts.database.release()

    def _take(self) -> bool:
        """Claim every run that may begin and tell that it has, then let them work; whether there was one."""
        claimed = []
        while (run_id := self._claim()) is not None:
            claimed.append(run_id)
            self.guarded(partial(self.engine.announce, run_id), run_id)
        for run_id in claimed:
            thread = threading.Thread(target=self._work, args=(run_id,), name=run_id, daemon=True)
            self._threads.add(thread)
            thread.start()
        return bool(claimed)

    def _claim(self) -> str | None:
        """One run that may begin, and a place for it."""
        if not self.parts.slots.try_take():
            return None
        run_id = None
        try:
            run_id = self.parts.runs.claim(self.executor.id, self.only_own, reviews_may_run(self.parts))
        finally:
            if run_id is None:
                self.parts.slots.give_back()
        return run_id

    def _work(self, run_id: str) -> None:
        """Bring a run to its end; one whose end cannot even be written is tried again when writing works."""
        if not self.guarded(lambda: self._execute(run_id), run_id):
            self._dropped.add(run_id)
        self.parts.slots.give_back()
        self.parts.database.release()
        self._threads.discard(threading.current_thread())
        self.parts.bell.ring(QUEUE)

    def _execute(self, run_id: str) -> bool:
        self.engine.execute(run_id)
        return True

    def _queue_dropped(self) -> None:
        for run_id in list(self._dropped):
            take_up_again(self.parts, run_id)
            self._dropped.discard(run_id)

    def _stop_what_is_unwanted(self) -> None:
        for row in self.parts.runs.unwanted():
            run = run_of(row)
            if row["status"] == "queued":
                cancel_queued(self.parts, run)
            else:
                self.engine.stop(run.id)
