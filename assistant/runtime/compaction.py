"""When a conversation outgrows the model's window: a summary takes the place of its older part.

Nothing is lost: the older messages stay in the database, are searched and shown; only requests leave them out.
"""

from collections.abc import Generator, Sequence

import prompts
from assistant.core.events import Compacted, Event
from assistant.core.interrupt import Interrupt
from assistant.core.messages import Message, Request
from assistant.core.turn import Turn
from assistant.errors import Conflict
from assistant.llm.catalogue import tokens_in
from assistant.runtime import reviewing
from assistant.runtime.briefing import prompt_of
from assistant.runtime.parts import Parts, Run
from curator import review
from skills_store.values import Origin


def compacted(
    parts: Parts, run: Run, turn: Turn, interrupt: Interrupt, focus: str = "", force: bool = False
) -> Generator[Event, None, Turn]:
    """The turn, shortened if it fills more of the window than the settings allow; by `force` in any case."""
    settings = parts.settings.compression
    window = parts.settings.model.context_window or parts.models(run.model).window
    before = size(turn)
    if not force and before <= settings.threshold * window:
        return turn
    messages = parts.sessions.messages(run.session_id)
    cut = place_to_cut(messages, int(settings.keep_recent * (said_in(messages) if force else window)))
    if cut == 0:
        return turn
    look_back_first(parts, run)
    summary = summarise(parts, run, turn, messages[:cut], interrupt, focus)
    if not summary or interrupt.is_set():
        return turn
    message = Message(
        "user", summary, name="summary", origin=turn.origin, sent=prompts.render("summary", summary=summary)
    )
    with parts.database.writing() as tx:
        parts.sessions.put_away(tx, run.session_id, messages[cut - 1].number, message)
    prompt = prompt_of(parts, run, rebuild=True)
    kept = tuple(parts.sessions.messages(run.session_id))
    shorter = Turn(prompt.system, prompt.tools, kept, turn.max_steps, turn.steps, turn.origin)
    yield Compacted(before, size(shorter))
    return shorter


def by_hand(parts: Parts, session_id: str, focus: str, model: str = "", reserved_for: str = "") -> Compacted | None:
    """Shorten a session now because the person asked; None when there is nothing to put away."""
    parts.sessions.row(session_id)
    if parts.runs.open_turns(session_id):
        raise Conflict("a turn of this conversation is running; compact it when it is over")
    run = Run("", session_id, "turn", model, "", "", 0, 0, None)
    prompt = prompt_of(parts, run)
    turn = Turn(prompt.system, prompt.tools, tuple(parts.sessions.messages(session_id)), 0)
    told = list(compacted(parts, run, turn, Interrupt(), focus, force=True))
    waiting = parts.runs.waiting_review(session_id)
    if reserved_for and waiting is not None:
        with parts.database.writing() as tx:
            parts.runs.set(tx, waiting["id"], reserved_for=reserved_for)
    return next((event for event in told if isinstance(event, Compacted)), None)


def size(turn: Turn) -> int:
    """Tokens of the next request, estimated: the system prompt, the tools, every message."""
    said = sum(tokens_in(m.wire_text) + sum(tokens_in(c.arguments) for c in m.calls) for m in turn.messages)
    return tokens_in(turn.system) + tokens_in(str(turn.tools)) + said


def place_to_cut(messages: Sequence[Message], keep: int) -> int:
    """Where the newest part begins that stays whole: at a message of the person, so that no call loses its result.

    0 when there is nothing to put away; the newest message of the person always stays.
    """
    people = [i for i, m in enumerate(messages) if m.role == "user" and m.origin is Origin.YOU]
    if not people or people[-1] == 0:
        return 0
    for place in people:
        if said_in(messages[place:]) <= keep:
            return place
    return people[-1]


def said_in(messages: Sequence[Message]) -> int:
    """Tokens of some messages, estimated."""
    return sum(tokens_in(message.wire_text) for message in messages)


def look_back_first(parts: Parts, run: Run) -> None:
    """What no review has seen yet is looked at as it stood before it is put away."""
    steps, turns = parts.ledger.counters(run.session_id)
    kind = review.both_or_one(memory=turns > 0, skills=steps > 0)
    if kind is None or run.kind != "turn":
        return
    with parts.database.writing() as tx:
        reviewing.queue(parts, tx, run, kind)


def summarise(parts: Parts, run: Run, turn: Turn, older: Sequence[Message], interrupt: Interrupt, focus: str) -> str:
    """What the model itself wants to remember of the older part; its cost is counted like a step's."""
    ask = Message("user", prompts.render("compact", focus=focus))
    request = Request(turn.system, turn.tools, (*older, ask))
    said, model = "", parts.models(run.model)
    for chunk in model.stream(request, interrupt):
        said = "" if chunk.restarted else said + chunk.text
        if chunk.usage:
            with parts.database.writing() as tx:
                spender = {"id": run.id, "session_id": run.session_id, "kind": run.kind}
                parts.runs.spend(tx, spender, chunk.usage, model.name)
    return said.strip()
