"""A review as a run: queued with the answer that makes it due, given the session, closed with a recorded outcome.

The judgement is `curator.review`'s; here it meets the rows.
"""

import json

from assistant.core.events import LearningStaged, MemoryChanged, SkillChanged, ToolEnded
from assistant.core.interrupt import Interrupt
from assistant.core.messages import Message
from assistant.core.ports import Start
from assistant.errors import PersonMustAct
from assistant.llm.catalogue import tokens_of
from assistant.runtime.desk import Desk
from assistant.runtime.parts import Parts, Run
from assistant.store.database import Tx
from assistant.store.runs import moment
from curator import review
from skills_store.values import Origin

PAUSE_SECONDS = 0.5
"""How often a paused review looks whether the turn is over; well below the 2 s it may take to notice one."""

MOST = 0.8
"""Of the window: a longer conversation leaves a review too little room."""


def due(parts: Parts, run: Run) -> review.Kind | None:
    """The review that the end of this turn makes due."""
    steps, turns = parts.ledger.counters(run.session_id)
    settings = parts.settings
    able = {tool.name for tool in parts.tools} & {"skill_manage", "memory"}
    intervals = review.Intervals(
        settings.skills.creation_nudge_interval if "skill_manage" in able else 0,
        settings.memory.nudge_interval if settings.memory.memory_enabled and "memory" in able else 0,
    )
    if not parts.models(run.model).tools_supported:
        return None
    return review.due(
        review.Counters(steps, turns), intervals, answered=True, interrupted=False, job=run.kind != "turn"
    )


def queue(parts: Parts, tx: Tx, run: Run, kind: review.Kind, focus: str = "") -> None:
    """Write the review down, or let it join one that waits for this session; only then start the counters anew."""
    last = tx.execute("SELECT max(id) FROM messages WHERE session_id = ?", (run.session_id,)).fetchone()[0] or 0
    waiting = tx.execute(
        "SELECT * FROM runs WHERE session_id = ? AND kind = 'review' AND status = 'queued'", (run.session_id,)
    ).fetchone()
    if waiting:
        both = review.joined(review.Kind(waiting["review_kind"]), kind)
        parts.runs.set(tx, waiting["id"], review_kind=both, upto_message=last)
        tx.execute("UPDATE reviews SET kind = ? WHERE run_id = ?", (both, waiting["id"]))
    else:
        run_id = parts.runs.queue(
            tx,
            Start(focus, model=parts.settings.review.model or run.model),
            "review",
            run.session_id,
            review_kind=kind,
            upto_message=last,
            parent=run.id,
            reserved_for=parts.runs.row(run.id)["reserved_for"] if run.id else "",
        )
        parts.ledger.open_review(tx, run_id, run.session_id, kind, focus)
    left = review.after(review.Counters(*parts.ledger.counters(run.session_id)), kind)
    parts.ledger.set_counters(tx, run.session_id, left.steps_since_skill, left.turns_since_memory)


def request(parts: Parts, run: Run) -> Message:
    """The message that asks for the review; it belongs to the review's run alone."""
    return Message("user", review.request(review.Kind(run.review_kind), run.input), origin=Origin.OWN)


def history(parts: Parts, run: Run) -> list[Message]:
    """The session up to the turn that made the review due; a digest of it where another model than the turn's asks.

    Also where it is so long (the model refused it, and a summary stands there now) that no room is left for looking.
    """
    queued = parts.runs.row(run.id)["created"]
    messages = parts.sessions.messages(run.session_id, before=run.upto_message + 1, as_of=queued)
    window = parts.settings.model.context_window or parts.models(run.model).window
    if not parts.settings.review.model and tokens_of(messages) <= MOST * window:
        return messages
    short = review.digest([said(message) for message in messages])
    kept = messages[short.whole_from :]
    return [Message("user", short.text), *kept] if short.text else kept


def said(message: Message) -> review.Said:
    """A message as the policy sees it."""
    return review.Said(
        message.role, message.text, tuple(call.name for call in message.calls), message.number, message.origin
    )


def pause(parts: Parts, run: Run, desk: Desk, interrupt: Interrupt) -> None:
    """While a turn of the session runs, hold back, and hold no slot."""
    if parts.runs.holding(run.session_id) is None:
        return
    with desk.slot_free(interrupt):
        while parts.runs.holding(run.session_id) is not None and not interrupt.wait(PAUSE_SECONDS):
            pass


def close(parts: Parts, tx: Tx, run: Run, failed: str) -> str:
    """Record what came of the review, with the commits and the line for the person; the line."""
    result = outcome(parts, run, failed)
    line = review.line(result) or ""
    row = parts.runs.row(run.id)
    seconds = (parts.clock() - moment(row["started"])).total_seconds() if row["started"] else 0.0
    parts.ledger.close_review(tx, run.id, result.result, result.commits, line, seconds)
    return line


def outcome(parts: Parts, run: Run, failed: str) -> review.Outcome:
    """What a review did, as its events tell it."""
    saved, staged, refused = [], [], []
    for told in parts.runs.told(run.id, limit=100_000):
        match told.event:
            case SkillChanged(name, action, commit) | MemoryChanged(name, action, commit):
                saved.append(review.Deed(name, action, commit))
            case LearningStaged(_, name, action):
                staged.append(review.Deed(name, action))
            case ToolEnded(message) if message.failed and message.name in ("skill_manage", "memory"):
                refused.append(review.Deed(target_of(parts, run, message), why=message.text))
            case _:
                pass
    return review.outcome(saved, staged, refused, failed)


def target_of(parts: Parts, run: Run, result: Message) -> str:
    """What a refused call wanted to change."""
    calls = {call.id: call for message in parts.sessions.of_run(run.id) for call in message.calls}
    call = calls.get(result.answers)
    arguments = json.loads(call.arguments) if call else {}
    return str(arguments.get("name") or {"user": "USER.md"}.get(arguments.get("target", ""), "MEMORY.md"))


def by_hand(parts: Parts, session_id: str, focus: str, reserved_for: str = "") -> str:
    """Queue a review because the person asked for one; its run's id."""
    model = parts.models(parts.settings.review.model)
    if not model.tools_supported:
        raise PersonMustAct(
            f"looking back takes a model that calls tools, and {model.name} cannot: `assistant setup` names another"
        )
    run = Run("", session_id, "turn", "", "", "", 0, 0, None)
    with parts.database.writing() as tx:
        queue(parts, tx, run, review.Kind.BOTH, focus)
        row = tx.execute(
            "SELECT id, input FROM runs WHERE session_id = ? AND kind = 'review' AND status = 'queued'", (session_id,)
        ).fetchone()
        joined = "\n".join(dict.fromkeys(text for text in (row["input"], focus) if text))
        parts.runs.set(tx, row["id"], input=joined, reserved_for=reserved_for)
    return str(row["id"])
