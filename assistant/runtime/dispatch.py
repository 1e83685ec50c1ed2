"""Answers the calls of one reply: find the tool, check the arguments, ask the guard, run, bound the output.

What a run may do is a value in here, so it holds in every thread that works for the run.
"""

from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from queue import Empty, SimpleQueue
from typing import Any

from assistant.core.events import ApprovalRequested, ApprovalResolved, Event, ToolEnded, ToolStarted
from assistant.core.messages import Call, Effect, Message
from assistant.core.turn import Turn
from assistant.errors import ModelCanFix, Refused
from assistant.runtime.desk import in_words
from assistant.runtime.seat import NOT_RUN, Seat
from assistant.safety.policy import grant_key
from assistant.safety.verdicts import Allow, Ask, Deny
from assistant.tools.declare import Result, Tool
from curator import review

SIDE_BY_SIDE = 8
"""Calls of one reply that run at the same time."""
GRACE_SECONDS = 2.0
"""How long a call may take to end after a stop before it is left behind."""
LOOK_SECONDS = 0.1
CHOICES = ("once", "session", "always", "deny")
STUCK = "{} was not run: this very call has just failed twice; do what its answer says, or take another way"
LEFT_BEHIND = "stopped before it ended; it may or may not have had its effect: check first"


@dataclass(frozen=True, slots=True)
class Rights:
    """What a run may do."""

    tools: frozenset[str] | None = None
    """None: every tool there is."""
    refusal: str = ""
    """Said to the model when it asks for another."""
    attended: bool = True
    """Whether a person can be asked; without one, what needs asking is refused."""


RIGHTS: Mapping[str, Rights] = {
    "turn": Rights(),
    "review": Rights(review.RIGHTS, "is not available while looking back", attended=False),
}
"""What each kind of run may do."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A call that may run."""

    call: Call
    tool: Tool
    arguments: Mapping[str, Any]

    @property
    def preview(self) -> str:
        """The call in a few words: the argument that stands for it."""
        return " ".join(str(self.arguments.get(self.tool.preview, "")).split())[:200]


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker's last word about a call."""

    index: int
    result: Result
    seconds: float


GIVEN_UP = Result(LEFT_BEHIND, failed=True)


class Dispatcher:
    """The port `Tools` for one run."""

    def __init__(self, seat: Seat, rights: Rights) -> None:
        self.seat = seat
        self.rights = rights
        self.run_id = seat.run.id
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in seat.parts.tools}
        self.interrupt = seat.interrupt
        self.waiting = seat.parts.waiting
        self.ticks = seat.parts.ticks
        self._pool: ThreadPoolExecutor | None = None

    def answer(self, turn: Turn, calls: tuple[Call, ...]) -> Generator[Event, None, tuple[Message, ...]]:
        """One result a call, in call order: neighbours that only read run side by side, others one after another."""
        results: list[Message] = []
        for batch in self._batches(calls):
            ready: list[Ready | Message] = []
            for call in batch:
                ready.append((yield from self._prepare(turn, call)))
            results += yield from self._run(turn, ready)
        return tuple(results)

    def close(self) -> None:
        """Let the worker threads go."""
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)

    # -- may it run? ---------------------------------------------------------------------------------------------

    def _batches(self, calls: tuple[Call, ...]) -> Iterator[list[Call]]:
        batch: list[Call] = []
        for call in calls:
            tool = self.tools.get(call.name)
            reads = tool is None or tool.effect is Effect.READ
            if batch and not (reads and self._all_read(batch)):
                yield batch
                batch = []
            batch.append(call)
        yield batch

    def _all_read(self, batch: list[Call]) -> bool:
        return all((tool := self.tools.get(call.name)) is None or tool.effect is Effect.READ for call in batch)

    def _prepare(self, turn: Turn, call: Call) -> Generator[Event, None, Ready | Message]:
        """The call, ready to run, or its answer if it may not."""
        if self.interrupt.is_set():
            return said(call, Result(NOT_RUN, failed=True))
        try:
            tool = self._find(call)
            if (known := self.seat.settled(call, tool)) is not None:
                result, untold = known
                yield from untold
                return said(call, result)
            if call.fault:
                raise ModelCanFix(f"{call.name} was not run: {call.fault}")
            if turn.stuck_on(call):
                raise ModelCanFix(STUCK.format(call.name))
            arguments = tool.read(call.arguments)
            yield from self._permit(call, tool, arguments)
            return Ready(call, tool, arguments)
        except ModelCanFix as problem:
            return said(call, Result(str(problem), failed=True))

    def _find(self, call: Call) -> Tool:
        if self.rights.tools is not None and call.name not in self.rights.tools:
            raise Refused(f"{call.name} {self.rights.refusal}; there are: {', '.join(sorted(self.rights.tools))}")
        tool = self.tools.get(call.name)
        if tool is None:
            near = get_close_matches(call.name, self.tools, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise ModelCanFix(f"there is no tool {call.name!r}{meant} There are: {', '.join(self.tools)}")
        return tool

    def _permit(self, call: Call, tool: Tool, arguments: Mapping[str, Any]) -> Generator[Event, None, None]:
        """Return when the call may run; ask a person where the policy says so; Refused otherwise."""
        match self.seat.judge(tool, arguments):
            case Allow():
                return
            case Deny(why):
                raise Refused(f"{call.name} was refused: {why}. Repeating the call will not help.")
            case Ask(why):
                grant = grant_key(tool.name, arguments)
                if self.waiting.granted(self.seat.run.session_id, grant):
                    return
                if not self.rights.attended:
                    raise Refused(f"{call.name} was refused: {why}, and nobody is there to allow it.")
                yield from self._ask_person(call, why, grant)

    def _ask_person(self, call: Call, why: str, grant: str) -> Generator[Event, None, None]:
        known = self.waiting.approval_of(self.run_id, call)
        approval_id = self.seat.parts.ids("apr") if known is None else known["id"]
        if known is None:
            yield ApprovalRequested(approval_id, call.id, call.name, call.arguments, why, CHOICES, grant)
        elif known["decided"] is None:
            self.waiting.waits_again(self.run_id, "waiting_for_approval")
        decided = self.seat.desk.decision(self.run_id, approval_id, self.interrupt)
        if decided is None:
            raise Refused(NOT_RUN)
        if known is None or not known["told"]:
            yield ApprovalResolved(approval_id, call.id, decided.decision, decided.by, decided.feedback)
        if not decided.allowed:
            raise Refused(f"{call.name}: {in_words(decided)}. Do not repeat it; find another way or ask.")

    # -- run it --------------------------------------------------------------------------------------------------

    def _run(self, turn: Turn, batch: list[Ready | Message]) -> Generator[Event, None, list[Message]]:
        """Run what is ready; tell every end in call order, so that what is stored reads as it was sent."""
        news: SimpleQueue[Event | Ended] = SimpleQueue()
        ready = {index: item for index, item in enumerate(batch) if isinstance(item, Ready)}
        for item in ready.values():
            yield ToolStarted(item.call.id, item.call.name, item.call.arguments, item.preview)
        for index, item in ready.items():
            self._workers().submit(self._work, turn, index, item, news)
        done: dict[int, Ended] = {}
        results: list[Message] = []
        for index, answer in enumerate(batch):
            if isinstance(answer, Message):
                yield ToolEnded(answer, 0.0, first_line(answer.text))
                results.append(answer)
                continue
            while index not in done:
                heard = self._hear(news)
                if isinstance(heard, Ended):
                    done[heard.index] = heard
                elif heard is None:
                    done |= {late: Ended(late, GIVEN_UP, 0.0) for late in ready if late not in done}
                else:
                    yield heard
            message = said(answer.call, done[index].result)
            preview = done[index].result.preview or answer.preview
            yield ToolEnded(message, round(done[index].seconds, 3), preview)
            results.append(message)
        return results

    def _hear(self, news: "SimpleQueue[Event | Ended]") -> Event | Ended | None:
        """The workers' next word; None when a stop has waited long enough for it."""
        deadline = float("inf")
        while True:
            try:
                return news.get(timeout=LOOK_SECONDS)
            except Empty:
                if self.interrupt.is_set():
                    deadline = min(deadline, self.ticks() + GRACE_SECONDS)
                if self.ticks() > deadline:
                    return None

    def _work(self, turn: Turn, index: int, ready: Ready, news: SimpleQueue[Event | Ended]) -> None:
        """One call, in a worker thread.  One of the four places that may catch everything."""
        begun = self.ticks()
        try:
            result = ready.tool.run(self.seat.context(ready.call, turn, news.put), **ready.arguments)
            result = self.seat.bounded(result)
        except ModelCanFix as problem:
            result = Result(str(problem), failed=True)
        except Exception:  # noqa: BLE001 - seam: tool
            result = Result(f"internal fault, reported as {self.seat.parts.report(self.run_id)}", failed=True)
        self.seat.parts.database.release()
        news.put(Ended(index, result, self.ticks() - begun))

    def _workers(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix=f"tool-{self.run_id}")
        return self._pool


def said(call: Call, result: Result) -> Message:
    """A result as the message that answers its call."""
    return Message("tool", result.text, answers=call.id, name=call.name, failed=result.failed, origin=result.origin)


def first_line(text: str) -> str:
    """The beginning of an answer, for the screen."""
    return text.splitlines()[0][:120] if text else ""
