"""Who answers the port `Runs` for this command: the engine in this process, or a server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from assistant.cli.given import Given
from assistant.cli.server import attach_to
from assistant.core.ports import Runs
from assistant.errors import NotFound, PersonMustAct

if TYPE_CHECKING:
    from assistant.client.http_runs import HttpRuns
    from assistant.store.database import Row
    from assistant.wiring.build import Assembly, Working
    from assistant.wiring.world import Ground


@dataclass(frozen=True, slots=True)
class Attached:
    """The port, the home behind it, and what this process must bring to its end before it leaves."""

    runs: Runs
    ground: "Ground"
    whole: "Callable[[], Assembly]"
    """Builds the parts over the home: not everybody who leaves the work to a server needs them."""
    mine: "Callable[[], list[Row]]"
    """The runs that nobody else will finish; none when a server does the work."""
    review: Callable[[str, str], str]
    """Look back at a session now, with a focus; the review's run."""
    executor: str = ""
    """The name of this process where runs are kept for it alone."""
    recovered: "tuple[Row, ...]" = ()
    """What a dead process left, which goes on here."""
    distant: "HttpRuns | None" = None
    """The way to a server elsewhere: its home is not the one behind this command."""

    @property
    def assembly(self) -> "Assembly":
        """The parts over the home."""
        return self.whole()

    def session(self, named: str, newest: bool) -> str:
        """The session that was asked for; empty: a new one."""
        if named and newest:
            raise PersonMustAct("give --session or --continue, not both")
        if self.distant:
            return named or (newest_of(self.distant) if newest else "")
        if newest:
            latest = self.assembly.sessions.latest()
            if latest is None:
                raise NotFound("there is no conversation yet to continue; leave out --continue")
            return latest
        if named:
            self.assembly.sessions.row(named)
        return named


def newest_of(server: "HttpRuns") -> str:
    """The session used last on a server."""
    found = server.get("/v1/sessions", limit=1)["data"]
    if not found:
        raise NotFound("there is no conversation on that server yet; leave out --continue")
    return str(found[0]["id"])


@contextmanager
def runs_for(given: Given, here: bool) -> Iterator[Attached]:
    """The port for commands that begin runs: the server's, which is started if need be, or this process's own.

    A world with models of its own works here: they cannot be handed to another process.
    """
    if given.server:
        way = elsewhere(given)
    elif here or given.world.models is not None:
        way = working_here(given)
    else:
        way = served(given)
    with way as at:
        yield at


@contextmanager
def elsewhere(given: Given) -> Iterator[Attached]:
    """A server that the person named; the home here lends its settings."""
    from assistant.client.http_runs import Address, HttpRuns

    address = Address(given.server.rstrip("/"), given.world.environ.get("ASSISTANT_TOKEN", ""))
    with lazily(given) as whole:
        runs = HttpRuns(address, lambda: address)
        try:
            yield Attached(runs, given.ground(), whole, list, no_review, distant=runs)
        finally:
            runs.close()


@contextmanager
def lazily(given: Given) -> "Iterator[Callable[[], Assembly]]":
    """The parts over the home, built when they are first asked for."""
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(given.assembly()))


def no_review(session: str, focus: str) -> str:
    """What a server elsewhere is not asked for."""
    raise PersonMustAct("a review is begun where the home is: run this there, without --server")


@contextmanager
def served(given: Given) -> Iterator[Attached]:
    """The server of this home."""
    from assistant.client.http_runs import HttpRuns

    ground = given.ground()
    attach = attach_to(given, ground.home)
    if not attach.runs():
        from assistant.wiring.models import chosen

        chosen(ground.settings, ground.environ)
    with lazily(given) as whole:
        runs = HttpRuns(attach.find_or_start(), attach.find, str(given.world.folder))
        try:
            yield Attached(runs, ground, whole, list, lambda session, focus: begin_review(whole(), session, focus))
        finally:
            runs.close()


def begin_review(assembly: "Assembly", session: str, focus: str, executor: str = "") -> str:
    """Begin a review of a session; its run."""
    from assistant.wiring.build import look_back

    return look_back(assembly, session, focus, executor)


@contextmanager
def working_here(given: Given) -> Iterator[Attached]:
    """This process's own engine; Ctrl-C leaves what still runs to the next process."""
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
    parts, assembly, executor = working.parts, working.assembly, working.executor.id
    return Attached(
        working.runs,
        assembly,
        lambda: assembly,
        lambda: parts.runs.reserved(executor),
        lambda session, focus: begin_review(assembly, session, focus, executor),
        executor,
        tuple(parts.runs.row(run) for run in working.recovered),
    )


@contextmanager
def looking_at_runs(given: Given) -> Iterator[Attached]:
    """The port for commands that look at runs, or act on one that another process works on."""
    if given.server:
        with elsewhere(given) as at:
            yield at
        return
    from assistant.wiring.build import looking

    with given.assembly() as assembly:
        runs = looking(assembly)
        yield Attached(runs, assembly, lambda: assembly, list, lambda *wish: begin_review(assembly, *wish))
