"""A whole assistant in one process: a scripted model, a stepped clock, counted ids; everything else is real.

world.script(calls("read_file", path="a.txt"), says("It says hello."))
turn = world.ask("What does a.txt say?")
assert turn.answer == "It says hello."
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from assistant.core.events import Event, ReviewQueued, RunCompleted, ToolEnded
from assistant.core.messages import Message
from assistant.core.ports import Start
from assistant.wiring.build import Assembly, Working
from assistant.wiring.build import World as Outside
from tests.fakes.model import ScriptedModel

BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class SteppedClock:
    """A millisecond passes with each look; more when the test says so."""

    def __init__(self) -> None:
        self.now = BEGIN
        self.step = timedelta(milliseconds=1)
        self._lock = Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self.now += self.step
            return self.now

    def advance(self, **amount: float) -> None:
        """Let time pass."""
        with self._lock:
            self.now += timedelta(**amount)


class CountedIds:
    """run_1, run_2, …"""

    def __init__(self) -> None:
        self._next: dict[str, int] = defaultdict(int)
        self._lock = Lock()

    def __call__(self, kind: str) -> str:
        with self._lock:
            self._next[kind] += 1
            return f"{kind}_{self._next[kind]}"


@dataclass(frozen=True)
class Asked:
    """One run, followed to its end."""

    run_id: str
    session_id: str
    events: list[Event]

    @property
    def answer(self) -> str:
        """What the person reads."""
        return next((e.output for e in self.events if isinstance(e, RunCompleted)), "")

    @property
    def types(self) -> list[str]:
        """The kinds of events, in order."""
        return [event.type for event in self.events]

    def results(self) -> list[Message]:
        """What the tools answered."""
        return [e.message for e in self.events if isinstance(e, ToolEnded)]

    def review(self) -> str:
        """The run of the review that this one queued."""
        return next(e.run_id for e in self.events if isinstance(e, ReviewQueued))


class World:
    """An assistant over a home in a temporary folder; `again()` is a restart."""

    def __init__(self, folder: Path, environ: dict[str, str] | None = None, frozen: bool = False) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.work = folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), **(environ or {})}
        self.clock = SteppedClock()
        self.clock.step *= 0 if frozen else 1
        self.frozen = frozen
        self.ids = CountedIds()
        self.model = ScriptedModel()
        self.session = ""
        self.open()

    def open(self) -> None:
        """Start the process."""
        ticks = (lambda: 0.0) if self.frozen else monotonic
        outside = Outside(self.environ, self.work, self.clock, self.ids, ticks, lambda name: self.model)
        self.assembly = Assembly(outside, self.home)
        self.working = self.build()
        self.parts = self.working.parts
        self.runs = self.working.runs

    def build(self) -> Working:
        """The part that runs turns."""
        return Working(self.assembly, only_own=True)

    def close(self) -> None:
        """End the process in order."""
        self.working.__exit__()

    def again(self) -> None:
        """Restart, with the same home, clock, ids and script."""
        self.close()
        self.open()

    def configure(self, text: str) -> None:
        """Write config.yaml and restart."""
        (self.home / "config.yaml").write_text(text)
        self.again()

    def script(self, *replies: Any) -> None:
        """What the model will say next."""
        self.model.script(*replies)

    def start(self, text: str, session: str | None = None) -> str:
        """Begin a turn in the current session, or in another one; its run."""
        started = self.runs.start(Start(text, self.session if session is None else session))
        self.session = started.session_id
        return started.run_id

    def ask(
        self, text: str, session: str | None = None, meanwhile: Callable[[Event, str], None] | None = None
    ) -> Asked:
        """A turn, from the message to its last event."""
        return self.follow(self.start(text, session), meanwhile)

    def follow(self, run_id: str, meanwhile: Callable[[Event, str], None] | None = None) -> Asked:
        """A run to its last event; `meanwhile` hears each event as it comes."""
        events = []
        for told in self.runs.events(run_id):
            events.append(told.event)
            if meanwhile:
                meanwhile(told.event, run_id)
        return Asked(run_id, self.parts.runs.row(run_id)["session_id"], events)

    def new_session(self) -> None:
        """The next message begins a conversation of its own."""
        self.session = ""

    def messages(self, session: str = "") -> list[Message]:
        """The session as its next request holds it."""
        return self.parts.sessions.messages(session or self.session)

    def skill(self, path: str) -> str:
        """A file below skills/."""
        return (self.home / "skills" / path).read_text()

    def last_request(self) -> str:
        """The newest message of the newest request, as it was sent."""
        return self.model.requests[-1].messages[-1].wire_text
