"""The server's heartbeat: once a minute it does what is due by our clock."""

import threading
from collections.abc import Callable
from types import TracebackType

from assistant.runtime.executors import Executor
from assistant.runtime.housekeeping import beat
from assistant.runtime.parts import Parts

LOOK_SECONDS = 1.0


class Heartbeat:
    """A thread that beats; a context manager."""

    def __init__(self, parts: Parts, executor: Executor, guarded: Callable[[Callable[[], None], str], object]) -> None:
        self.parts = parts
        self.executor = executor
        self.guarded = guarded
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()

    def _beat(self) -> None:
        if self._over.wait(LOOK_SECONDS):
            return
        import schedule  # 12 ms, and nothing needs it before the server answers

        minutes = schedule.Scheduler()
        minutes.every(1).minutes.do(self.guarded, lambda: beat(self.parts, self.executor), "heartbeat")
        while not self._over.wait(LOOK_SECONDS):
            minutes.run_pending()
        self.parts.database.release()
