"""The loop: act, take in, ask, repeat.  Chat, reviews, jobs, sub-agents and merges all run this and only this.

It is a generator: it tells and does not print, store or decide policy.  Whoever drives it takes one event, commits it,
and only then asks for the next.
"""

from collections.abc import Generator

from assistant.core.events import Event, ReasoningArrived, ReplyEnded, ReplyRestarted, TextArrived
from assistant.core.messages import Call, Message, Usage
from assistant.core.ports import Ports
from assistant.core.turn import Stop, Turn

Steps = Generator[Event, None, tuple[Turn, Stop]]
STOPPED_EARLY = "[stopped by the person before an answer]"


def run_turn(turn: Turn, ports: Ports) -> Steps:
    """Drive one turn to its end; a provider fault that outlives its retries leaves as an exception.

    Acting comes first, so that a turn whose process died between a reply and its results goes on where it stood.
    """
    while True:
        if calls := turn.unanswered():
            results = yield from ports.tools.answer(turn, calls)
            turn = turn.adding(*results)
        if why := turn.must_stop(ports.interrupt.is_set()):
            return turn, why
        turn = yield from ports.arrivals(turn)
        reply = yield from ask(turn, ports)
        turn = turn.adding(reply).spending()
        if not reply.calls:
            return turn, Stop.INTERRUPTED if ports.interrupt.is_set() else Stop.ANSWERED


def ask(turn: Turn, ports: Ports) -> Generator[Event, None, Message]:
    """One reply, told while it arrives, then told whole so that it can be stored before anything acts on it."""
    text, reasoning, usage = "", "", Usage()
    calls: list[Call] = []
    for chunk in ports.model.stream(turn.request(), ports.interrupt):
        if chunk.restarted:
            text, reasoning, calls = "", "", []
            yield ReplyRestarted(chunk.restarted)
        elif chunk.text:
            text += chunk.text
            yield TextArrived(chunk.text)
        elif chunk.reasoning:
            reasoning += chunk.reasoning
            yield ReasoningArrived(chunk.reasoning)
        elif chunk.call:
            calls.append(chunk.call)
        elif chunk.usage:
            usage += chunk.usage
    if ports.interrupt.is_set():
        calls = []
    sent = STOPPED_EARLY if not text and not calls else None
    reply = Message("assistant", text, tuple(calls), origin=turn.origin, sent=sent, reasoning=reasoning, usage=usage)
    yield ReplyEnded(reply)
    return reply
