"""How a run ends: the answer, the run's state, the counters and a due review are one transaction."""

from collections.abc import Sequence

from assistant.core.events import (
    Event,
    ReplyEnded,
    ReviewQueued,
    RunCancelled,
    RunCompleted,
    RunFailed,
    ToolEnded,
    TurnQueued,
)
from assistant.core.messages import Message
from assistant.core.ports import Start
from assistant.core.turn import Stop, Turn
from assistant.runtime import reviewing
from assistant.runtime.bell import QUEUE
from assistant.runtime.dispatch import LEFT_BEHIND
from assistant.runtime.parts import Parts, Run
from assistant.runtime.record import record
from assistant.store.database import Tx

OUT_OF_STEPS = "I stopped after {steps} steps without finishing. Say “go on” and I will continue from here."


def finish(parts: Parts, run: Run, last: ReplyEnded | None, why: Stop) -> None:
    """End a run in order.  The person's answer is stored here, and nothing after it can take it away."""
    asked = last is not None
    if why is Stop.OUT_OF_STEPS:
        text = OUT_OF_STEPS.format(steps=parts.runs.row(run.id)["steps"])
        last = ReplyEnded(Message("assistant", text))
    output = last.message.text if last else ""
    with parts.database.writing() as tx:
        for event in [last] if last else stopped_ends(parts, run):
            record(parts, tx, run, event, asked)
        if run.kind == "turn":
            queue_leftovers(parts, tx, run)
            if why is not Stop.INTERRUPTED:
                queue_review(parts, tx, run)
        if run.kind == "review":
            failed = "it was stopped" if why is Stop.INTERRUPTED else ""
            output = reviewing.close(parts, tx, run, failed)
        close(parts, tx, run, RunCancelled() if why is Stop.INTERRUPTED else completed(parts, tx, run, output), output)
    tell(parts, run)


def fail(parts: Parts, run: Run, error: str, code: str) -> None:
    """End a run that could not go on; the history it leaves is one that every provider accepts."""
    with parts.database.writing() as tx:
        for event in loose_ends(parts.sessions.of_run(run.id), error):
            record(parts, tx, run, event, asked=False)
        if run.kind == "turn":
            queue_leftovers(parts, tx, run)
        if run.kind == "review":
            reviewing.close(parts, tx, run, error)
        close(parts, tx, run, RunFailed(error, code), "", error)
    tell(parts, run)


def cancel_queued(parts: Parts, run: Run) -> None:
    """Stop a run that nobody works on: it has not begun, or its process died."""
    with parts.database.writing() as tx:
        for event in stopped_ends(parts, run):
            record(parts, tx, run, event, asked=False)
        if run.kind == "turn":
            queue_leftovers(parts, tx, run)
        if run.kind == "review":
            reviewing.close(parts, tx, run, "it was stopped")
        close(parts, tx, run, RunCancelled(), "")
    tell(parts, run)


def close(parts: Parts, tx: Tx, run: Run, last: Event, output: str, error: str = "") -> None:
    """The run's last event and its last state."""
    status = last.type.removeprefix("run.")
    parts.runs.set(tx, run.id, status=status, output=output, error=error, finished=parts.database.now())
    record(parts, tx, run, last)


def tell(parts: Parts, run: Run) -> None:
    """Wake those who follow the run, and those who look for the next one."""
    parts.bell.ring(run.id)
    parts.bell.ring(QUEUE)


def completed(parts: Parts, tx: Tx, run: Run, output: str) -> RunCompleted:
    """The last event of an answered run, with what it cost."""
    row = tx.execute("SELECT input_tokens, output_tokens, cached_tokens FROM runs WHERE id = ?", (run.id,)).fetchone()
    return RunCompleted(output, dict(row))


def loose_ends(messages: Sequence[Message], error: str) -> list[Event]:
    """What a broken turn lacks: results for its calls, and an answer that says why there is none."""
    turn = Turn("", (), tuple(messages), 0)
    results = [Message("tool", LEFT_BEHIND, answers=c.id, name=c.name, failed=True) for c in turn.unanswered()]
    excuse = Message("assistant", "", sent=f"[no answer: {error.splitlines()[0][:200] if error else 'a fault'}]")
    return [*(ToolEnded(result, 0.0, "") for result in results), ReplyEnded(excuse)]


def stopped_ends(parts: Parts, run: Run) -> list[Event]:
    """What a turn that was stopped between two steps lacks; nothing when it never began or has its answer."""
    said = parts.sessions.of_run(run.id)
    whole = not said or (said[-1].role == "assistant" and not said[-1].calls)
    return [] if whole else loose_ends(said, "it was stopped")


def queue_leftovers(parts: Parts, tx: Tx, run: Run) -> None:
    """Words that came too late for this turn become the next one."""
    for row in parts.runs.waiting(run.session_id, "steer"):
        queued = parts.runs.queue(
            tx, Start(row["text"]), "turn", run.session_id, reserved_for=parts.runs.row(run.id)["reserved_for"]
        )
        parts.runs.take(tx, row["id"], queued)
        record(parts, tx, run, TurnQueued(queued, row["text"]))


def queue_review(parts: Parts, tx: Tx, run: Run) -> None:
    """Queue the review that this turn makes due; a fault in doing so takes nothing from the answer."""
    kind = reviewing.due(parts, run)
    if kind is None:
        return
    fault = parts.database.attempt(tx, lambda: reviewing.queue(parts, tx, run, kind))
    if fault:
        parts.report(run.id)
        return
    waiting = tx.execute(
        "SELECT id, review_kind FROM runs WHERE session_id = ? AND kind = 'review' AND status = 'queued'",
        (run.session_id,),
    ).fetchone()
    record(parts, tx, run, ReviewQueued(waiting["id"], waiting["review_kind"]))
