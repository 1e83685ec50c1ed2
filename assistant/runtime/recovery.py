"""What a dead process left: end its commands, and queue its runs again."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from assistant.runtime.ending import fail
from assistant.runtime.executors import Executor
from assistant.runtime.parts import Parts, run_of

MOST_RESUMES = 10
"""A run that brought its process down so often is not tried again."""


def recover(parts: Parts, executor: Executor, reserve: bool) -> list[str]:
    """Queue every orphaned run again, for this executor alone if `reserve`; their ids."""
    taken = []
    for left in parts.ledger.gone_on():
        if executor.dead(left["executor"]):
            end_left_running(parts.ledger.left_running(left["run_id"]), left["run_id"])
            with parts.database.writing() as tx:
                parts.ledger.finished(tx, left["run_id"], left["call_id"])
    for orphan in list(parts.runs.orphans(executor.dead)):
        since = parts.clock() - orphan.idle
        if take_up_again(parts, orphan.id, since, executor.id if reserve else ""):
            taken.append(orphan.id)
    return taken + unreserve(parts, executor, reserve)


def take_up_again(parts: Parts, run_id: str, since: datetime | None = None, reserved_for: str = "") -> bool:
    """Queue a run again that nobody works on since a time; False when it is over, or is given up."""
    end_left_running(parts.ledger.left_running(run_id), run_id)
    row = parts.runs.row(run_id)
    if row["finished"]:
        return False
    if row["resumed"] >= MOST_RESUMES:
        fail(parts, run_of(row), f"it was interrupted {MOST_RESUMES + 1} times and is not tried again", "fault")
        return False
    with parts.database.writing() as tx:
        parts.runs.set(
            tx,
            run_id,
            status="queued",
            executor="",
            resumed=row["resumed"] + 1,
            orphaned=(since or parts.clock()).isoformat(),
            reserved_for=reserved_for,
        )
    return True


def unreserve(parts: Parts, executor: Executor, reserve: bool) -> list[str]:
    """Runs that were queued for a process which is dead now belong to whoever takes them."""
    taken = []
    for row in parts.database.all("SELECT id, reserved_for FROM runs WHERE status = 'queued' AND reserved_for != ''"):
        if executor.dead(row["reserved_for"]):
            with parts.database.writing() as tx:
                parts.runs.set(tx, row["id"], reserved_for=executor.id if reserve else "")
            taken.append(str(row["id"]))
    return taken


def reviews_may_run(parts: Parts) -> bool:
    """Whether today's reviews have left something of their allowance; the others wait for tomorrow."""
    limit = parts.settings.review.daily_tokens
    if limit <= 0:
        return True
    midnight = parts.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    return parts.runs.spent_since("review", midnight) < limit


def end_left_running(groups: Sequence[int], run_id: str) -> None:
    """Kill the process groups of a dead executor's run; a group that is not marked as that run's is somebody else's."""
    for group in groups:
        environ = Path(f"/proc/{group}/environ")
        with suppress(ProcessLookupError, FileNotFoundError):
            if not environ.parent.parent.is_dir() or f"ASSISTANT_RUN={run_id}".encode() in environ.read_bytes():
                os.killpg(group, signal.SIGKILL)
