"""Answers the calls of one reply: find the tool, check the arguments, ask the guard, run, bound the output.

What a run may do is a value in here, so it holds in every thread that works for the run.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from difflib import get_close_matches
from queue import Empty, SimpleQueue
from typing import Any

from assistant.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    ToolEnded,
    ToolStarted,
)
from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Effect, Message
from assistant.core.turn import Turn
from assistant.errors import ModelCanFix, Refused
from assistant.runtime.desk import Desk, in_words
from assistant.safety.policy import grant_key
from assistant.safety.verdicts import Allow, Ask, Deny, Verdict
from assistant.store.waiting import Waiting
from assistant.tools.context import Context
from assistant.tools.declare import Result, Tool

SIDE_BY_SIDE = 8
"""Calls of one reply that run at the same time."""
GRACE_SECONDS = 2.0
"""How long a call may take to end after a stop before it is left behind."""
CHOICES = ("once", "session", "always", "deny")
NOT_RUN = "not run: the person stopped this turn"
LEFT_BEHIND = "stopped before it ended; it may or may not have had its effect: check first"


Settled = tuple[Result, tuple[Event, ...]]
"""The answer to a call that a dead process had begun, and the events that it may not have told."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What a run may do."""

    tools: frozenset[str] | None = None
    """None: every tool there is."""
    refusal: str = ""
    """Said to the model when it asks for another."""
    attended: bool = True
    """Whether a person can be asked; without one, what needs asking is refused."""


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


@dataclass(slots=True)
class Dispatcher:
    """The port `Tools` for one run."""

    run_id: str
    session_id: str
    tools: Mapping[str, Tool]
    rights: Rights
    interrupt: Interrupt
    judge: Callable[[Tool, Mapping[str, Any]], Verdict]
    context: Callable[[Call, Turn, Callable[[Event], None]], Context]
    settled: Callable[[Call, Tool], Settled | None]
    """What is known of a call that a dead process had begun; None when it may simply run."""
    bounded: Callable[[Call, Result], Result]
    desk: Desk
    waiting: Waiting
    ids: Callable[[str], str]
    ticks: Callable[[], float]
    report: Callable[[str], str]
    leave: Callable[[], None]
    """Called in a worker thread when a call is over: give back what the thread holds."""
    _pool: ThreadPoolExecutor | None = field(default=None)

    def answer(self, turn: Turn, calls: tuple[Call, ...]) -> Generator[Event, None, tuple[Message, ...]]:
        """One result a call, in call order: neighbours that only read run side by side, others one after another."""
        results: list[Message] = []
        for batch in self._batches(calls):
            ready: list[Ready | Message] = []
            for call in batch:
                ready.append((yield from self._prepare(call)))
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

    def _prepare(self, call: Call) -> Generator[Event, None, Ready | Message]:
        """The call, ready to run, or its answer if it may not."""
        if self.interrupt.is_set():
            return said(call, Result(NOT_RUN, failed=True))
        try:
            tool = self._find(call)
            if (known := self.settled(call, tool)) is not None:
                result, untold = known
                yield from untold
                return said(call, result)
            if call.fault:
                raise ModelCanFix(f"{call.name} was not run: {call.fault}")
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
        match self.judge(tool, arguments):
            case Allow():
                return
            case Deny(why):
                raise Refused(f"{call.name} was refused: {why}. Repeating the call will not help.")
            case Ask(why):
                grant = grant_key(tool.name, arguments)
                if self.waiting.granted(self.session_id, grant):
                    return
                if not self.rights.attended:
                    raise Refused(f"{call.name} was refused: {why}, and nobody is there to allow it.")
                yield from self._ask_person(call, why, grant)

    def _ask_person(self, call: Call, why: str, grant: str) -> Generator[Event, None, None]:
        known = self.waiting.approval_of(self.run_id, call)
        approval_id = self.ids("apr") if known is None else known["id"]
        if known is None:
            yield ApprovalRequested(approval_id, call.id, call.name, call.arguments, why, CHOICES, grant)
        elif known["decided"] is None:
            self.waiting.waits_again(self.run_id, "waiting_for_approval")
        decided = self.desk.decision(self.run_id, approval_id, self.interrupt)
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
        done: dict[int, Ended] = {i: Ended(i, told(m), 0.0) for i, m in enumerate(batch) if isinstance(m, Message)}
        for item in batch:
            if isinstance(item, Ready):
                yield ToolStarted(item.call.id, item.call.name, item.call.arguments, item.preview)
        for index, item in enumerate(batch):
            if isinstance(item, Ready):
                self._workers().submit(self._work, turn, index, item, news)
        results: list[Message] = []
        deadline = float("inf")
        while len(results) < len(batch):
            if len(results) in done:
                item, end = batch[len(results)], done[len(results)]
                call = item.call if isinstance(item, Ready) else None
                message = said(call, end.result) if call else item
                assert isinstance(message, Message)
                yield ToolEnded(message, round(end.seconds, 3), end.result.preview or preview_of(item))
                results.append(message)
                continue
            if self.interrupt.is_set():
                deadline = min(deadline, self.ticks() + GRACE_SECONDS)
            try:
                heard = news.get(timeout=0.1)
            except Empty:
                if self.ticks() > deadline:
                    done |= {
                        i: Ended(i, Result(LEFT_BEHIND, failed=True), 0.0) for i in range(len(batch)) if i not in done
                    }
                continue
            if isinstance(heard, Ended):
                done.setdefault(heard.index, heard)
            else:
                yield heard
        return results

    def _work(self, turn: Turn, index: int, ready: Ready, news: SimpleQueue[Event | Ended]) -> None:
        """One call, in a worker thread.  One of the four places that may catch everything."""
        begun = self.ticks()
        try:
            result = ready.tool.run(self.context(ready.call, turn, news.put), **ready.arguments)
            result = self.bounded(ready.call, result)
        except ModelCanFix as problem:
            result = Result(str(problem), failed=True)
        except Exception:  # noqa: BLE001 - seam: tool
            result = Result(f"internal fault, reported as {self.report(self.run_id)}", failed=True)
        self.leave()
        news.put(Ended(index, result, self.ticks() - begun))

    def _workers(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix=f"tool-{self.run_id}")
        return self._pool


def said(call: Call, result: Result) -> Message:
    """A result as the message that answers its call."""
    return Message("tool", result.text, answers=call.id, name=call.name, failed=result.failed, origin=result.origin)


def told(message: Message) -> Result:
    """The result behind an answer that was ready at once."""
    return Result(
        message.text, message.origin, message.failed, message.text.splitlines()[0][:120] if message.text else ""
    )


def preview_of(item: Ready | Message) -> str:
    """The call in a few words."""
    return item.preview if isinstance(item, Ready) else ""
