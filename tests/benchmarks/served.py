"""`ask` through the server of a home: one that must be started first, and one that runs."""

from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.child import ModelServer, Spent, model_server, spent
from tests.benchmarks.table import Row, mid
from tests.benchmarks.turns import ANSWER, ask

STARTS, ASKS = 3, 9


def rows(folder: Path) -> Iterator[Row]:
    """The rows of this chapter."""
    with model_server(folder / "model", ANSWER) as server:
        ask(folder, server, "hello")
        started, asked = [], []
        for _ in range(STARTS):
            try:
                started.append(through(folder, server))
                asked += [through(folder, server) for _ in range(ASKS // STARTS)]
            finally:
                assistant(folder, server, "down")
    yield told("ask, server running", asked, 0.5)
    yield told("ask, server to be started", started, 1.5)
    yield Row("ask, server running, peak memory", max(a.rss_mb for a in asked), "MB")


def told(name: str, spent: list[Spent], target: float) -> Row:
    """The median of some processes."""
    note = f"median of {len(spent)}; best {min(s.wall for s in spent):.2f}, CPU {mid(s.cpu for s in spent):.2f}"
    return Row(name, mid(s.wall for s in spent), "s", target, note)


def through(folder: Path, server: ModelServer) -> Spent:
    """One question, answered by the server."""
    answer = assistant(folder, server, "ask", "hello")
    assert "Done" in answer.out
    return answer


def assistant(folder: Path, server: ModelServer, *words: str) -> Spent:
    """One command."""
    given = {"HOME": str(folder), **server.environ}
    return spent(["-m", "assistant", "--home", str(folder / "home"), *words], given, folder / "work")
