"""Who answers the port `Runs` for this command: the engine in this process, or a server."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from assistant.cli.given import AT_THE_SERVER, Given
from assistant.cli.server import attach_to
from assistant.core.ports import Runs
from assistant.errors import NotFound, PersonMustAct

if TYPE_CHECKING:
    from assistant.client.http_runs import HttpRuns
    from assistant.store.database import Row
    from assistant.wiring.build import Assembly
    from assistant.wiring.world import Ground


@dataclass(frozen=True, slots=True)
class Attached:
    """The port, the home behind it, and what this process must bring to its end before it leaves."""

    runs: Runs
    ground: "Ground"
    whole: "Callable[[], Assembly]"
    """Builds the parts over the home: not everybody who leaves the work to a server needs them."""
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

    def mine(self) -> "list[Row]":
        """The runs that nobody else will finish; none when a server does the work."""
        return self.assembly.parts.runs.reserved(self.executor) if self.executor else []

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

    def review(self, session: str, focus: str) -> "Row":
        """Look back at a session now; what came of it."""
        from assistant.wiring.build import look_back

        return self.reviewed(look_back(self.assembly, session, focus, self.executor))

    def reviewed(self, run: str) -> "Row":
        """What came of a review, once it is over."""
        for _ in self.runs.events(run):
            pass
        return self.assembly.parts.ledger.reviews(run_id=run)[0]


def newest_of(server: "HttpRuns") -> str:
    """The session used last on a server."""
    found = server.get("/v1/sessions", limit=1)["data"]
    if not found:
        raise NotFound("there is no conversation on that server yet; leave out --continue")
    return str(found[0]["id"])


def runs_for(given: Given, here: bool) -> AbstractContextManager[Attached]:
    """The port for commands that begin runs: the server's, which is started if need be, or this process's own.

    A world with models of its own works here: they cannot be handed to another process.
    """
    if given.server:
        return elsewhere(given)
    return working_here(given) if here or given.world.models is not None else served(given)


def looking_at_runs(given: Given) -> AbstractContextManager[Attached]:
    """The port for commands that look at runs, or act on one that another process works on."""
    return elsewhere(given) if given.server else looking_here(given)


@contextmanager
def lazily(given: Given) -> "Iterator[Callable[[], Assembly]]":
    """The parts over the home, built when they are first asked for."""
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(given.assembly()))


def not_here() -> "Assembly":
    """What a server elsewhere has, and this machine has not."""
    raise PersonMustAct(AT_THE_SERVER)


@contextmanager
def elsewhere(given: Given) -> Iterator[Attached]:
    """A server that the person named; the home here lends its settings."""
    from assistant.client.http_runs import Address, HttpRuns

    address = Address(given.server.rstrip("/"), given.world.environ.get("ASSISTANT_TOKEN", ""))
    with closing(HttpRuns(address, lambda: address)) as runs:
        yield Attached(runs, given.ground(), not_here, distant=runs)


@contextmanager
def served(given: Given) -> Iterator[Attached]:
    """The server of this home."""
    from assistant.client.http_runs import HttpRuns

    ground = given.ground()
    attach = attach_to(given, ground.home)
    with lazily(given) as whole:
        if not attach.runs():
            whole().parts.models("")
        with closing(HttpRuns(attach.find_or_start(), attach.find, str(given.world.folder))) as runs:
            yield Attached(runs, ground, whole)


@contextmanager
def working_here(given: Given) -> Iterator[Attached]:
    """This process's own engine; Ctrl-C leaves what still runs to the next process."""
    from assistant.wiring.build import Working

    with given.assembly() as assembly:
        working = Working(assembly, only_own=True)
        recovered = tuple(working.parts.runs.row(run) for run in working.recovered)
        try:
            yield Attached(working.runs, assembly, lambda: assembly, working.executor.id, recovered)
        except KeyboardInterrupt:
            working.workers.stop(park=True)
            raise
        except BaseException:
            working.__exit__()
            raise
        working.__exit__()


@contextmanager
def looking_here(given: Given) -> Iterator[Attached]:
    """The runs of this home, whoever works on them."""
    from assistant.wiring.build import looking

    with given.assembly() as assembly:
        yield Attached(looking(assembly), assembly, lambda: assembly)
