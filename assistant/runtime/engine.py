"""Drives one run: takes an event from the loop, commits it, tells it, and only then asks for the next."""

from collections.abc import Generator
from contextlib import suppress
from threading import Lock
from typing import TypeVar

from assistant.core.events import (
    Event,
    QuestionAnswered,
    QuestionAsked,
    ReplyEnded,
    ReplyRestarted,
    RunResumed,
    RunStarted,
    Steered,
)
from assistant.core.interrupt import Interrupt
from assistant.core.loop import run_turn
from assistant.core.messages import Message
from assistant.core.ports import Ports
from assistant.core.turn import Stop, Turn
from assistant.errors import AssistantError, PersonMustAct, TryLater
from assistant.llm.faults import TooLong
from assistant.runtime import reviewing
from assistant.runtime.briefing import prompt_of, said_by_person, title_from
from assistant.runtime.compaction import compacted
from assistant.runtime.desk import Desk
from assistant.runtime.dispatch import RIGHTS, Dispatcher
from assistant.runtime.ending import fail, finish
from assistant.runtime.frames import framed
from assistant.runtime.parts import Parts, Run, run_of
from assistant.runtime.record import record
from assistant.runtime.seat import Seat
from skills_store.values import Origin, worst

T = TypeVar("T")
STEERED = "[The person adds, while you work:]"
ASK_FIRST_SECONDS = 3600.0
"""A run that lay orphaned for longer asks the person before it goes on."""
GO_ON, END_IT = "go on", "end it here"


class Engine:
    """Runs runs, each in its caller's thread."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.desk = Desk(parts.waiting, parts.bell, parts.slots, parts.settings.approvals.timeout)
        self._lock = Lock()
        self._interrupts: dict[str, Interrupt] = {}

    def working(self) -> tuple[str, ...]:
        """The runs that this process works on."""
        with self._lock:
            return tuple(self._interrupts)

    def stop(self, run_id: str) -> bool:
        """Interrupt a run of this process; False when it is not one."""
        with self._lock:
            interrupt = self._interrupts.get(run_id)
        if interrupt is None:
            return False
        interrupt.set()
        self.parts.bell.ring(f"desk:{run_id}")
        return True

    def announce(self, run_id: str) -> None:
        """Tell that a claimed run begins; where its model cannot be had, the run itself tells that and ends."""
        run = run_of(self.parts.runs.row(run_id))
        if not self.parts.runs.last_told(run_id, RunStarted.type):
            with suppress(AssistantError):
                self._commit(run, RunStarted(run.kind, self.parts.models(run.model).name))

    def execute(self, run_id: str) -> None:
        """Bring a claimed run to its end.  One of the four places that may catch everything."""
        run = run_of(self.parts.runs.row(run_id))
        interrupt = Interrupt()
        with self._lock:
            self._interrupts[run_id] = interrupt
        try:
            self._drive(run, interrupt)
        except PersonMustAct as problem:
            fail(self.parts, run, str(problem), "person_must_act")
        except TryLater as problem:
            fail(self.parts, run, str(problem), "try_later")
        except AssistantError as problem:
            fail(self.parts, run, str(problem), "refused")
        except Exception:  # noqa: BLE001 - seam: provider
            fail(
                self.parts,
                run,
                f"internal fault, reported as {self.parts.report(run.id)} in logs/assistant.log",
                "fault",
            )
        finally:
            with self._lock:
                del self._interrupts[run_id]

    def _drive(self, run: Run, interrupt: Interrupt) -> None:
        turn = self._begin(run, interrupt)
        if interrupt.is_set():
            finish(self.parts, run, None, Stop.INTERRUPTED)
            return
        tools = Dispatcher(Seat(self.parts, run, interrupt, self.desk), RIGHTS[run.kind])
        ports = Ports(self.parts.models(run.model), tools, interrupt, lambda turn: self._arrivals(run, turn, interrupt))
        try:
            while True:
                try:
                    (_, why), last = self._follow(run, framed(run_turn(turn, ports), self.parts.ticks))
                    break
                except TooLong as problem:
                    turn = self._shorter(run, interrupt, problem)
            finish(self.parts, run, last, why)
        finally:
            tools.close()

    def _follow(self, run: Run, steps: Generator[Event, None, T]) -> tuple[T, ReplyEnded | None]:
        """Commit each event but the answer, which is stored with the turn's end; what the steps came to, and it."""
        last: ReplyEnded | None = None
        while True:
            try:
                event = next(steps)
            except StopIteration as end:
                return end.value, last
            if isinstance(event, ReplyEnded) and not event.message.calls:
                last = event
            else:
                self._commit(run, event)

    def _shorter(self, run: Run, interrupt: Interrupt, problem: TooLong) -> Turn:
        """The turn with its older part summarised, since the provider refused its length; the fault if that is all."""
        turn = self._turn(run)
        if run.own_session:
            self._commit(run, ReplyRestarted(f"{problem} Its older part is summarised."))
            shorter, _ = self._follow(run, compacted(self.parts, run, turn, interrupt, force=True))
            if shorter is not turn or interrupt.is_set():
                return shorter
        raise problem

    def _commit(self, run: Run, *events: Event) -> None:
        with self.parts.database.writing() as tx:
            for event in events:
                record(self.parts, tx, run, event)
        self.parts.bell.ring(run.id)

    # -- beginning -----------------------------------------------------------------------------------------------

    def _begin(self, run: Run, interrupt: Interrupt) -> Turn:
        """The turn to begin with, or to go on with; a new run's first message is written down first."""
        parts = self.parts
        parts.models(run.model)
        if run.resumed:
            self._come_back(run, interrupt)
        if not parts.sessions.of_run(run.id):
            self._take_in(run)
        return self._turn(run)

    def _turn(self, run: Run) -> Turn:
        """The turn as the database has it."""
        parts = self.parts
        prompt = prompt_of(parts, run)
        own = parts.sessions.of_run(run.id)
        history = own
        if run.kind == "review":
            history = reviewing.history(parts, run) + own
        elif run.own_session:
            history = parts.sessions.messages(run.session_id)
        review = run.kind == "review"
        return Turn(
            prompt.system,
            prompt.tools,
            tuple(history),
            parts.settings.review.max_steps if review else parts.settings.agent.max_steps,
            sum(message.role == "assistant" for message in own),
            worst([m.origin for m in own if m.role == "tool" and m.origin is Origin.UNTRUSTED]),
        )

    def _take_in(self, run: Run) -> None:
        """The first words of a run enter its session."""
        parts = self.parts
        asked = parts.models(run.model)
        model, remembers = asked.name, asked.tools_supported and parts.settings.memory.memory_enabled
        if run.kind == "review":
            message, seen = reviewing.request(parts, run), None
        else:
            message, seen = said_by_person(parts, run, run.input)
        with parts.database.writing() as tx:
            parts.sessions.add(tx, run.own_session, run.id, message)
            parts.runs.set(tx, run.id, answered_by=model)
            if run.kind != "review":
                tx.execute(
                    "UPDATE incoming SET taken = ? WHERE run_id = ? AND mode = 'turn'", (parts.database.now(), run.id)
                )
                parts.ledger.count(tx, run.session_id, turns=int(remembers))
                parts.sessions.begun(tx, run.session_id, title_from(run.input), model, seen or {})

    def _come_back(self, run: Run, interrupt: Interrupt) -> None:
        """Say that the run goes on; void what the dead process had told of a reply that never became whole."""
        parts = self.parts
        self._commit(run, RunResumed(run.resumed))
        told = max(parts.runs.last_told(run.id, kind) for kind in ("message.delta", "reasoning.delta"))
        if told > max(parts.runs.last_told(run.id, kind) for kind in (ReplyEnded.type, ReplyRestarted.type)):
            self._commit(run, ReplyRestarted("the program ended while the model was speaking"))
        if run.orphaned and (parts.clock() - run.orphaned).total_seconds() > ASK_FIRST_SECONDS:
            self._ask_whether_to_go_on(run, interrupt)

    def _ask_whether_to_go_on(self, run: Run, interrupt: Interrupt) -> None:
        parts = self.parts
        call_id = f"resume-{run.resumed}"
        known = parts.waiting.question_of(run.id, call_id)
        question_id = parts.ids("qst") if known is None else str(known["id"])
        if known is None:
            text = f"This was interrupted at {run.orphaned:%Y-%m-%d %H:%M} UTC. Shall I go on with it?"
            self._commit(run, QuestionAsked(question_id, text, (GO_ON, END_IT), call_id))
        answer = self.desk.answer(run.id, question_id, interrupt)
        self._commit(run, QuestionAnswered(question_id, answer or ""))
        if answer != GO_ON:
            interrupt.set()

    # -- between steps -------------------------------------------------------------------------------------------

    def _arrivals(self, run: Run, turn: Turn, interrupt: Interrupt) -> Generator[Event, None, Turn]:
        if run.kind == "review":
            reviewing.pause(self.parts, run, self.desk, interrupt)
            return turn
        turn = yield from compacted(self.parts, run, turn, interrupt)
        for row in self.parts.runs.waiting(run.session_id, "steer"):
            message = Message("user", row["text"], origin=Origin.YOU, sent=f"{STEERED}\n{row['text']}")
            yield Steered(row["text"], message)
            turn = turn.adding(message)
        return turn
