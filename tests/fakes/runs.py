"""A port `Runs` that plays scripted events: what a face sees without an engine behind it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Condition, Thread

from assistant.core.events import (
    LAST,
    ApprovalRequested,
    ApprovalResolved,
    Decision,
    Event,
    QuestionAnswered,
    QuestionAsked,
    RunCancelled,
    Steered,
)
from assistant.core.ports import Accepted, Mode, Start, Started, Told
from assistant.errors import Conflict, NotFound

LONGEST_WAIT = 30.0


@dataclass(frozen=True)
class Until:
    """The script goes on when `done` says so, or the run is stopped."""

    done: Callable[[], bool]


@dataclass(frozen=True)
class UntilSteered:
    """The script goes on when words came in; they are told as `run.steered`."""


@dataclass(frozen=True)
class UntilStopped:
    """The script hangs here until the run is stopped."""


Step = Event | Until | UntilSteered | UntilStopped


class PlayedRun:
    """One run and all that was told of it."""

    def __init__(self, run_id: str, session_id: str, script: Sequence[Step]) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.script = list(script)
        self.log: list[Told] = []
        self.grown = Condition()
        self.stopped = False
        self.steered: list[str] = []
        self.open: set[str] = set()

    def tell(self, event: Event) -> None:
        with self.grown:
            at = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=len(self.log))
            self.log.append(Told(len(self.log) + 1, at, event))
            self.grown.notify_all()

    @property
    def ended(self) -> bool:
        return bool(self.log) and isinstance(self.log[-1].event, LAST)

    def play(self) -> None:
        for step in self.script:
            self._wait_for(step)
            if self.stopped and not isinstance(step, LAST):
                self.tell(RunCancelled())
                return
            self._say(step)

    def _say(self, step: Step) -> None:
        match step:
            case UntilSteered():
                self.tell(Steered(self.steered.pop(0)))
            case Until() | UntilStopped():
                pass
            case ApprovalRequested(approval_id=asked) | QuestionAsked(question_id=asked):
                self.open.add(asked)
                self.tell(step)
                self._until(lambda: asked not in self.open)
            case _:
                self.tell(step)

    def _wait_for(self, step: Step) -> None:
        match step:
            case UntilSteered():
                self._until(lambda: bool(self.steered))
            case Until(done):
                self._until(done)
            case UntilStopped():
                self._until(lambda: False)
            case _:
                pass

    def _until(self, done: Callable[[], bool]) -> None:
        with self.grown:
            for _ in range(int(LONGEST_WAIT / 0.02)):
                if self.stopped or done():
                    return
                self.grown.wait(0.02)
        raise AssertionError(f"{self.run_id} waited too long in its script")


class ScriptedRuns:
    """Plays one script a started run, in order; remembers all that was asked of it."""

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.scripts = list(scripts)
        self.runs: dict[str, PlayedRun] = {}
        self.wishes: list[Start] = []
        self.steers: list[tuple[str, str]] = []
        self.stops: list[str] = []
        self.decisions: list[tuple[str, str, str]] = []
        self.answers: list[tuple[str, str]] = []

    def start(self, wish: Start) -> Started:
        assert self.scripts, f"no script is left for {wish.input!r}"
        self.wishes.append(wish)
        number = len(self.wishes)
        run = PlayedRun(f"run_{number}", wish.session_id or f"session_{number}", self.scripts.pop(0))
        self.play(run)
        return Started(run.run_id, run.session_id)

    def play(self, run: PlayedRun) -> None:
        self.runs[run.run_id] = run
        Thread(target=run.play, daemon=True).start()

    def events(self, run_id: str, after: int = 0) -> Iterator[Told]:
        run = self._run(run_id)
        while True:
            with run.grown:
                while len(run.log) <= after:
                    assert run.grown.wait(LONGEST_WAIT), "nothing was told for too long"
                told = run.log[after]
            after += 1
            yield told
            if isinstance(told.event, LAST):
                return

    def steer(self, run_id: str, text: str, mode: Mode = "steer") -> Accepted:
        run = self._run(run_id)
        self.steers.append((text, mode))
        if mode == "queue" or run.ended:
            return Accepted("queue", self.start(Start(text, session_id=run.session_id)).run_id)
        with run.grown:
            run.steered.append(text)
            run.grown.notify_all()
        return Accepted("steer", run_id)

    def stop(self, run_id: str) -> None:
        run = self._run(run_id)
        self.stops.append(run_id)
        with run.grown:
            run.stopped = True
            run.grown.notify_all()

    def decide(self, run_id: str, decision: Decision, approval_id: str = "", feedback: str = "") -> None:
        self.decisions.append((approval_id, decision, feedback))
        self.settle(run_id, approval_id, ApprovalResolved(approval_id, "call_1", decision, "you", feedback))

    def answer(self, run_id: str, answer: str, question_id: str = "") -> None:
        self.answers.append((question_id, answer))
        self.settle(run_id, question_id, QuestionAnswered(question_id, answer))

    def settle(self, run_id: str, asked: str, event: Event) -> None:
        """Answer what is open, as this or any other terminal would."""
        run = self._run(run_id)
        with run.grown:
            if asked not in run.open:
                raise Conflict(f"{asked} was answered already")
            run.tell(event)
            run.open.discard(asked)
            run.grown.notify_all()

    def _run(self, run_id: str) -> PlayedRun:
        if run_id not in self.runs:
            raise NotFound(f"no run is called {run_id}")
        return self.runs[run_id]
