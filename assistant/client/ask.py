"""One wish, followed to its end: what `assistant ask` does."""

import select
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, TextIO

from assistant.client.asking import Verdict, chosen, misunderstood, number_of, request_prompt, understand
from assistant.client.input import Lost, follow
from assistant.client.render import Screen
from assistant.core.events import (
    LAST,
    ApprovalRequested,
    Event,
    QuestionAsked,
    ReplyEnded,
    ReviewQueued,
    RunCancelled,
    RunCompleted,
    RunFailed,
    ToolEnded,
)
from assistant.core.messages import Usage
from assistant.core.ports import Runs, Start, Started, Told
from assistant.errors import Conflict, TryLater

TICK_SECONDS = 0.1
TOKENS = ("input_tokens", "output_tokens", "cached_tokens")
UNATTENDED = Verdict("deny", "nobody is there to allow it")
NOBODY = "Nobody is here to answer. Go on with what seems best, and say in your answer what you assumed."


@dataclass(slots=True)
class Outcome:
    """What became of a wish, in the words of `ask --json`."""

    session_id: str
    run_id: str
    status: str = "running"
    answer: str = ""
    error: str = ""
    exit_code: int = 0
    left: bool = False
    """The person pressed Ctrl-C twice and did not wait for the end."""
    usage: Mapping[str, int] = field(default_factory=dict)
    steps: int = 0
    tools: list[dict[str, Any]] = field(default_factory=list)
    review: dict[str, str] | None = None

    def as_json(self) -> dict[str, Any]:
        """The object of the contract; `error` only when there is one."""
        names = ("session_id", "run_id", "status", "answer", "usage", "steps", "tools", "review")
        seen = {name: getattr(self, name) for name in names}
        seen["usage"] = {name: self.usage.get(name, 0) for name in TOKENS}
        return seen | ({"error": self.error} if self.error else {})

    def learn(self, event: Event) -> None:
        """Keep what the event says."""
        match event:
            case ReplyEnded(message):
                self.steps += 1
                self.answer = message.text or self.answer
                self.usage = _sum(self.usage, message.usage)
            case ToolEnded(message):
                self.tools.append({"name": message.name, "ok": not message.failed})
            case ReviewQueued(run_id, kind):
                self.review = {"run_id": run_id, "kind": kind, "outcome": "waiting"}
            case RunCompleted(output, usage):
                self.status, self.answer, self.usage = "completed", output, usage
            case RunFailed(error, code):
                self.status, self.error, self.exit_code = "failed", error, 2 if code == "person_must_act" else 1
            case RunCancelled():
                self.status, self.exit_code = "cancelled", 130
            case _:
                pass


def _sum(usage: Mapping[str, int], more: Usage) -> dict[str, int]:
    return {name: usage.get(name, 0) + getattr(more, name) for name in TOKENS}


Settled = Callable[[], bool]
"""Whether what is asked has been decided elsewhere, or the run no longer waits for it."""


@dataclass(frozen=True, slots=True)
class Absent:
    """Nobody is there: one verdict for everything, given beforehand (`--yes`) or by default (no)."""

    verdict: Verdict = UNATTENDED

    def decide(self, request: ApprovalRequested, settled: Settled) -> Verdict:
        """What was said beforehand."""
        return self.verdict

    def answer(self, question: QuestionAsked, settled: Settled) -> str:
        """The model must go on without."""
        return NOBODY


@dataclass(frozen=True, slots=True)
class AtTerminal:
    """A person at a terminal, asked line by line, interrupted when somebody else was faster."""

    screen: Screen
    typed: TextIO
    prompts: TextIO

    def decide(self, request: ApprovalRequested, settled: Settled) -> Verdict | None:
        """Ask until the answer is one."""
        while (said := self._line(request_prompt(request), settled)) is not None:
            if verdict := understand(request, said) if said else UNATTENDED:
                return verdict
            self.screen.say(misunderstood(request))
        return None

    def answer(self, question: QuestionAsked, settled: Settled) -> str | None:
        """Ask until there is an answer."""
        while (said := self._line("", settled)) is not None:
            if answer := chosen(question, said) if said else NOBODY:
                return answer
        return None

    def _line(self, prompt: str, settled: Settled) -> str | None:
        """What was typed with its line end; empty when nothing more can be typed."""
        self.screen.rest()
        self.prompts.write(f"\n{prompt}\n> " if prompt else "\n> ")
        self.prompts.flush()
        while not settled():
            if select.select([self.typed], [], [], TICK_SECONDS)[0]:
                return self.typed.readline()
        self.prompts.write("\n")
        return None


Person = Absent | AtTerminal
"""Decides what a run asks; None once it is settled elsewhere."""


class Interrupted:
    """The person pressed Ctrl-C."""


class Asking:
    """A run that is followed to its end."""

    def __init__(self, runs: Runs, screen: Screen, person: Person) -> None:
        self._runs = runs
        self._screen = screen
        self._person = person
        self._arrived: SimpleQueue[Told | Lost | Interrupted] = SimpleQueue()
        self._ahead: deque[Told | Lost | Interrupted] = deque()
        self._presses = 0

    def follow(self, begin: Callable[[], Started]) -> Outcome:
        """Begin, then show everything; returns when the run ended or the person left."""
        with _interrupts(lambda: self._arrived.put(Interrupted())):
            started = begin()
            self.outcome = Outcome(started.session_id, started.run_id)
            follow(self._runs, started.run_id, self._arrived.put)
            try:
                while self._take(self._next()):
                    pass
            finally:
                self._screen.rest()
        return self.outcome

    def _next(self) -> Told | Lost | Interrupted:
        while not self._ahead:
            try:
                return self._arrived.get(timeout=TICK_SECONDS)
            except Empty:
                self._screen.tick()
        return self._ahead.popleft()

    def _take(self, arrival: Told | Lost | Interrupted) -> bool:
        if isinstance(arrival, Lost):
            raise TryLater(f"{arrival.why}; the run is {self.outcome.run_id}")
        if isinstance(arrival, Interrupted):
            return self._interrupted()
        event = arrival.event
        self.outcome.learn(event)
        self._screen.show(event)
        self._ask(event)
        return not isinstance(event, LAST)

    def _interrupted(self) -> bool:
        self._presses += 1
        if self._presses == 1:
            self._runs.stop(self.outcome.run_id)
            return True
        self.outcome.status, self.outcome.exit_code, self.outcome.left = "cancelled", 130, True
        return False

    def _ask(self, event: Event) -> None:
        try:
            match event:
                case ApprovalRequested(approval_id):
                    verdict = self._person.decide(event, lambda: self._settled(approval_id))
                    if verdict:
                        self._runs.decide(self.outcome.run_id, verdict.decision, approval_id, verdict.feedback)
                case QuestionAsked(question_id):
                    words = self._person.answer(event, lambda: self._settled(question_id))
                    if words is not None:
                        self._runs.answer(self.outcome.run_id, words, question_id)
                case _:
                    pass
        except Conflict as fault:
            self._screen.say(str(fault))

    def _settled(self, asked: str) -> bool:
        while not self._arrived.empty():
            self._ahead.append(self._arrived.get())
        return any(_settles(arrival, asked) for arrival in self._ahead)


def _settles(arrival: Told | Lost | Interrupted, asked: str) -> bool:
    if not isinstance(arrival, Told):
        return True
    return isinstance(arrival.event, LAST) or number_of(arrival.event) == asked


@contextmanager
def _interrupts(tell: Callable[[], None]) -> Iterator[None]:
    """While the body runs, Ctrl-C is told instead of raised (only the main thread may ask for that)."""
    if current_thread() is not main_thread():
        yield
        return

    def heard(number: int, frame: FrameType | None) -> None:
        tell()

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def ask_once(runs: Runs, wish: Start, screen: Screen, person: Person) -> Outcome:
    """Start a run and follow it to its end; Ctrl-C once stops it, twice leaves it (exit code 130)."""
    return Asking(runs, screen, person).follow(lambda: runs.start(wish))


def ask_attached(runs: Runs, started: Started, screen: Screen, person: Person) -> Outcome:
    """Follow a run that somebody else started, from its first event."""
    return Asking(runs, screen, person).follow(lambda: started)
