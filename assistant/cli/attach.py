"""Who answers the port `Runs` for this command: the engine in this process, or a server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.cli.given import Given
from assistant.core.ports import Runs
from assistant.errors import NotFound, PersonMustAct
from assistant.runtime.bell import QUEUE
from assistant.runtime.engine import Engine
from assistant.runtime.local import LocalRuns
from assistant.runtime.reviewing import by_hand

if TYPE_CHECKING:
    from assistant.store.database import Row
    from assistant.wiring.build import Assembly, Working


@dataclass(frozen=True, slots=True)
class Attached:
    """The port, the home behind it, and what this process must bring to its end before it leaves."""

    runs: Runs
    assembly: "Assembly"
    mine: "Callable[[], list[Row]]"
    """The runs that nobody else will finish; none when a server does the work."""
    review: Callable[[str, str], str]
    """Look back at a session now, with a focus; the review's run."""
    executor: str = ""
    """The name of this process where runs are kept for it alone."""

    def session(self, named: str, newest: bool) -> str:
        """The session that was asked for; empty: a new one."""
        if named and newest:
            raise PersonMustAct("give --session or --continue, not both")
        if newest:
            latest = self.assembly.sessions.latest()
            if latest is None:
                raise NotFound("there is no conversation yet to continue; leave out --continue")
            return latest
        if named:
            self.assembly.sessions.row(named)
        return named


@contextmanager
def runs_for(given: Given, here: bool) -> Iterator[Attached]:
    """The port for commands that begin runs; Ctrl-C leaves what still runs to the next process."""
    if given.server:
        raise PersonMustAct("--server is not known to this version; leave it out to work in this process")
    from assistant.wiring.build import Working

    with given.assembly() as assembly:
        working = Working(assembly, only_own=True)
        try:
            yield of(working)
        except KeyboardInterrupt:
            working.workers.stop(park=True)
            raise
        except BaseException:
            working.__exit__()
            raise
        working.__exit__()


def of(working: "Working") -> Attached:
    """The port of this process's own engine."""
    parts, executor = working.parts, working.executor.id

    def review(session: str, focus: str) -> str:
        run = by_hand(parts, session, focus, executor)
        parts.bell.ring(QUEUE)
        return run

    return Attached(working.runs, working.assembly, lambda: parts.runs.reserved(executor), review, executor)


@contextmanager
def looking_at_runs(given: Given) -> Iterator[Attached]:
    """The port for commands that look at runs, or act on one that another process works on."""
    with given.assembly() as assembly:
        runs = LocalRuns(assembly.parts, Engine(assembly.parts))
        yield Attached(runs, assembly, list, lambda session, focus: by_hand(assembly.parts, session, focus))
