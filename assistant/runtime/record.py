"""What each event writes besides its own row, in the same transaction."""

from dataclasses import replace

from assistant.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
    ReplyEnded,
    Steered,
    ToolEnded,
    ToolStarted,
)
from assistant.core.messages import Call, Effect, Message
from assistant.runtime.parts import Parts, Run
from assistant.store.database import Tx


def record(parts: Parts, tx: Tx, run: Run, event: Event, asked: bool = True) -> None:
    """Append the event, and write what it means: messages, intents, counters, what waits, the run's state.

    Without `asked` a reply is in our own words: no model was asked, and it counts as no step.
    """
    match event:
        case ReplyEnded(message):
            event = replace(event, message=stored(parts, tx, run, message))
            if asked:
                paid(parts, tx, run, message)
        case ToolStarted(call_id, tool):
            dispatched(parts, tx, run, call_id, tool)
        case ToolEnded(message):
            event = replace(event, message=stored(parts, tx, run, message))
            parts.ledger.finished(tx, run.id, message.answers)
        case Steered(_, message) if message is not None:
            stored(parts, tx, run, message)
            parts.runs.take(tx, parts.runs.waiting(run.session_id, "steer")[0]["id"], run.id)
        case ApprovalRequested(approval_id, call_id, tool, arguments, why, _, rule):
            parts.waiting.open_approval(tx, approval_id, run.id, Call(call_id, tool, arguments), why, rule)
            parts.runs.set(tx, run.id, status="waiting_for_approval")
        case QuestionAsked(question_id, text, choices, call_id):
            parts.waiting.open_question(tx, question_id, run.id, call_id, text, choices)
            parts.runs.set(tx, run.id, status="waiting_for_answer")
        case ApprovalResolved(approval_id):
            parts.waiting.told(tx, approval_id)
            parts.runs.set(tx, run.id, status="running")
        case QuestionAnswered():
            parts.runs.set(tx, run.id, status="running")
        case _:
            pass
    parts.runs.append(tx, run.id, event)


def paid(parts: Parts, tx: Tx, run: Run, reply: Message) -> None:
    """One more step: what it cost, and for the review."""
    row = parts.runs.row(run.id)
    parts.runs.spend(tx, row, reply.usage, row["answered_by"])
    if counts_steps(parts, run):
        parts.ledger.count(tx, run.session_id, steps=1)


def stored(parts: Parts, tx: Tx, run: Run, message: Message) -> Message:
    """The message with the number that storing gave it."""
    return replace(message, number=parts.sessions.add(tx, run.own_session, run.id, message))


def counts_steps(parts: Parts, run: Run) -> bool:
    """Steps of a person's turn count towards a review while the model can write skills."""
    able = run.kind == "turn" and any(tool.name == "skill_manage" for tool in parts.tools)
    return able and parts.models(run.model).tools_supported


def dispatched(parts: Parts, tx: Tx, run: Run, call_id: str, tool: str) -> None:
    """A call begins: its intent is written first, and learning in the turn starts its counter anew."""
    effect = next(known.effect for known in parts.tools if known.name == tool)
    if effect in (Effect.OWN, Effect.WORLD):
        parts.ledger.intend(tx, run.id, call_id, tool)
    if run.kind == "turn" and tool in ("skill_manage", "memory"):
        steps, turns = parts.ledger.counters(run.session_id)
        parts.ledger.set_counters(tx, run.session_id, *((0, turns) if tool == "skill_manage" else (steps, 0)))
