"""What a home needs done by and by: orphans taken up again, idle sessions looked back at, old events forgotten.

What is due is a pure function of the clock and of what is known; `beat` carries it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from assistant.runtime.bell import QUEUE
from assistant.runtime.executors import Executor
from assistant.runtime.parts import Parts, Run
from assistant.runtime.recovery import recover
from assistant.runtime.reviewing import queue
from assistant.store.runs import moment
from curator import review

IDLE = timedelta(hours=2)
"""A session that rests for so long is looked back at, whatever its counters say."""
FORGET_EVERY = timedelta(hours=24)
FORGOT = "retention.last"
Chore = Literal["orphans", "sweep", "forget"]


@dataclass(frozen=True, slots=True)
class Known:
    """What decides about chores."""

    sweep: bool
    living: bool
    """Whether a run is not over."""
    forgot: datetime | None
    """When old events were forgotten last."""


def due(now: datetime, known: Known) -> tuple[Chore, ...]:
    """What is to be done now; nothing is forgotten while a run lives.  A clock that was set back delays nothing."""
    rested = known.forgot is None or not timedelta() <= now - known.forgot < FORGET_EVERY
    wanted: Mapping[Chore, bool] = {"orphans": True, "sweep": known.sweep, "forget": rested and not known.living}
    return tuple(chore for chore, is_due in wanted.items() if is_due)


def beat(parts: Parts, executor: Executor) -> None:
    """One beat: what is due is done; what fails is tried again by the next."""
    chores = {
        "orphans": lambda: orphans(parts, executor),
        "sweep": lambda: sweep(parts),
        "forget": lambda: forget(parts),
    }
    for chore in due(parts.clock(), known(parts)):
        chores[chore]()


def known(parts: Parts) -> Known:
    """What the database says."""
    forgot = parts.ledger.fact(FORGOT)
    return Known(parts.settings.review.sweep, parts.runs.any_open(), moment(forgot) if forgot else None)


def orphans(parts: Parts, executor: Executor) -> None:
    """Runs of processes that died are taken up again."""
    if recover(parts, executor, reserve=False):
        parts.bell.ring(QUEUE)


def sweep(parts: Parts) -> None:
    """One review for each session that rests with something no review has seen."""
    for session_id in parts.ledger.unreviewed((parts.clock() - IDLE).isoformat()):
        steps, turns = parts.ledger.counters(session_id)
        kind = review.both_or_one(memory=turns > 0, skills=steps > 0)
        if kind is None or parts.runs.open_turns(session_id):
            continue
        with parts.database.writing() as tx:
            queue(parts, tx, Run("", session_id, "turn", "", "", "", 0, 0, None), kind)
        parts.bell.ring(QUEUE)


def forget(parts: Parts) -> None:
    """Events of runs that ended long ago go; their answers and figures stay.  Git packs what became many files."""
    parts.runs.delete_old(parts.clock() - timedelta(days=parts.settings.server.retention_days))
    for vault in (parts.library.vault, parts.memory.vault):
        if vault.head():
            vault.tidy()
    parts.ledger.set_fact(FORGOT, parts.database.now())
