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
from assistant.llm.catalogue import CHARACTERS_PER_TOKEN, tokens_in, tokens_of
from assistant.llm.faults import TooLong
from assistant.runtime import reviewing
from assistant.runtime.briefing import prompt_of
from assistant.runtime.parts import Parts, Run
from assistant.store.ledger import forget_marks
from assistant.tools.todo import open_items
from curator import review
from skills_store.values import Origin, worst

SHORTEST = 2_000
"""Characters that a summary may have even where it stands for less than twice as much."""


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
    asked, cut = place_to_cut(messages, int(settings.keep_recent * (tokens_of(messages) if force else window)))
    older = [message for place, message in enumerate(messages[:cut]) if place != asked]
    if not worth_it(older, 0 if force else before):
        return turn
    look_back_first(parts, run)
    summary = summarise(parts, run, turn, older, interrupt, focus)
    if not summary or interrupt.is_set():
        return turn
    plan = open_items(parts.ledger.read(run.session_id))
    sent = prompts.render("summary", summary=summary, plan=plan)
    origin = worst([turn.origin, *(m.origin for m in older if m.origin is Origin.UNTRUSTED)])
    message = Message("user", summary, name="summary", origin=origin, sent=sent)
    with parts.database.writing() as tx:
        parts.sessions.put_away(tx, run.session_id, older, message, messages[min(asked, cut)].number)
        forget_marks(tx, run.id)
    prompt = prompt_of(parts, run, rebuild=True)
    left = tuple(parts.sessions.messages(run.session_id))
    shorter = Turn(prompt.system, prompt.tools, left, turn.max_steps, turn.steps, turn.origin)
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
    return tokens_in(turn.system) + tokens_in(str(turn.tools)) + tokens_of(turn.messages)


def place_to_cut(messages: Sequence[Message], keep: int) -> tuple[int, int]:
    """Where the newest words of the person stand, and where the newest part begins that stays whole.

    It begins at a message of the person or, inside a turn that is itself too long, at a reply: so that no call loses
    its result.  The newest words of the person always stay; (0, 0) when there is nothing to put away.
    """
    people = [i for i, m in enumerate(messages) if m.role == "user" and m.origin is Origin.YOU]
    if not people:
        return 0, 0
    asked = people[-1]
    replies = [i for i, m in enumerate(messages) if i > asked + 1 and m.role == "assistant"]
    places = people + replies
    return asked, next((place for place in places if tokens_of(messages[place:]) <= keep), places[-1])


def worth_it(older: Sequence[Message], whole: int) -> bool:
    """Whether there is something to put away, and it is a tenth of the whole or more: a summary costs a request."""
    return any(message.name != "summary" for message in older) and tokens_of(older) >= whole // 10


def look_back_first(parts: Parts, run: Run) -> None:
    """What no review has seen yet is looked at as it stood before it is put away."""
    steps, turns = parts.ledger.counters(run.session_id)
    kind = review.both_or_one(memory=turns > 0, skills=steps > 0)
    if kind is None or run.kind != "turn":
        return
    with parts.database.writing() as tx:
        reviewing.queue(parts, tx, run, kind)


def summarise(parts: Parts, run: Run, turn: Turn, older: Sequence[Message], interrupt: Interrupt, focus: str) -> str:
    """What the model itself wants to remember of the older part, at most half as long as that."""
    wanted = Message("user", prompts.render("compact", focus=focus))
    try:
        said = answer(parts, run, Request(turn.system, turn.tools, (*older, wanted)), interrupt)
    except TooLong:
        short = Message("user", review.digest([reviewing.said(m) for m in older], keep=0).text)
        said = answer(parts, run, Request(turn.system, turn.tools, (short, wanted)), interrupt)
    most = max(SHORTEST, tokens_of(older) * CHARACTERS_PER_TOKEN // 2)
    return said if len(said) <= most else f"{said[:most]} [… cut: the summary was too long]"


def answer(parts: Parts, run: Run, request: Request, interrupt: Interrupt) -> str:
    """The text of one reply; its cost is counted like a step's."""
    said, model = "", parts.models(run.model)
    for chunk in model.stream(request, interrupt):
        said = "" if chunk.restarted else said + chunk.text
        if chunk.usage:
            with parts.database.writing() as tx:
                spender = {"id": run.id, "session_id": run.session_id, "kind": run.kind}
                parts.runs.spend(tx, spender, chunk.usage, model.name)
    return said.strip()
