"""Start, one question, steps and turns, the bytes of requests: all against a model without latency, over HTTP."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from assistant.core.ports import Start
from assistant.wiring.build import Assembly, Working, World
from tests.benchmarks.child import Asked, ModelServer, Spent, model_server, spent
from tests.benchmarks.table import Row, Took, holds, mid, timed, typical
from tests.fakes.openai_server import call, text

STEPS = 50
TURNS = 30
ANSWER = {"when": "", "steps": [text("Done, as you asked.")]}
LOOK, HELLO = "LOOK-NOW", "HELLO-NOW"
"""Words of the person that no prompt of ours contains."""
NO_REVIEWS = "skills:\n  creation_nudge_interval: 0\nmemory:\n  nudge_interval: 0\n"


def rows(folder: Path) -> Iterator[Row]:
    """The rows of this chapter."""
    yield Row("assistant --version", mid(version().wall for _ in range(7)), "s", 0.15, "median of 7")
    yield from one_question(folder / "question")
    yield from steps(folder / "steps")
    yield from turns(folder / "turns")
    yield from prefix(folder / "prefix")


def version() -> Spent:
    """The smallest thing the program can be asked."""
    return spent(["-m", "assistant", "--version"], {})


def one_question(folder: Path) -> Iterator[Row]:
    """`ask --here`: a first start, then the same home again and again."""
    with model_server(folder / "model", ANSWER) as server:
        first = ask(folder, server, "hello")
        again = [ask(folder, server, "hello") for _ in range(7)]
        body = server.asked()[0].body
    wall, cpu = mid(a.wall for a in again), mid(a.cpu for a in again)
    note = f"median of 7; best {min(a.wall for a in again):.2f}, CPU {cpu:.2f}"
    yield Row("ask --here, whole process", wall, "s", 1.0, note)
    yield Row("ask --here, peak memory", max(a.rss_mb for a in again), "MB", 90)
    yield Row("ask --here, first start of a home", first.wall, "s", None, f"CPU {first.cpu:.2f} s")
    yield Row("first request of a fresh home", len(body), "bytes", 14_000, "the whole body")


def ask(folder: Path, server: ModelServer, words: str, **environ: str) -> Spent:
    """One question to a process of its own."""
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    given = {"HOME": str(folder), **server.environ, **environ}
    return spent(["-m", "assistant", "--home", str(folder / "home"), "ask", "--here", words], given, work)


def steps(folder: Path) -> Iterator[Row]:
    """A turn of fifty calls: what passes between an answer of the model and the next request."""
    (folder / "work").mkdir(parents=True)
    (folder / "work" / "notes.txt").write_text("A line of notes.\n" * 20)
    (folder / "home").mkdir()
    with model_server(folder / "model", ANSWER) as server:
        ask(folder, server, "hello")
        one = ask(folder, server, "hello").cpu
    for tool, arguments in (("read_file", {"path": "notes.txt"}), ("terminal", {"command": "true"})):
        script = [call(tool, f"call-{number}-", **arguments) for number in range(STEPS)]
        rule = {"when": "begin", "steps": [*script, text("Done.")]}
        with model_server(folder / tool, rule, ANSWER) as server:
            cpu = (ask(folder, server, "begin").cpu - one) / STEPS * 1000
            own = gaps(server.asked()[: STEPS + 1])
        early, late = mid(own[5:15]), mid(own[-10:])
        note = f"best {min(own):.1f}, slowest {max(own):.0f}, CPU with the review {cpu:.1f}"
        yield Row(f"own time a step, {STEPS} calls of {tool}", mid(own), "ms", 10, note)
        if tool == "read_file":
            told = f"steps 6 to 15: {early:.1f} ms, last ten: {late:.1f} ms"
            yield Row("the same, late against early steps", late / early, "times", 1.5, told)


def gaps(asked: list[Asked]) -> list[float]:
    """Milliseconds between each answer and the request that follows it."""
    return [(after.came - before.left) * 1000 for before, after in pairwise(asked)]


def turns(folder: Path) -> Iterator[Row]:
    """Turns of one step in one conversation: from the message to the last event, without the model's time."""
    with model_server(folder / "model", ANSWER) as server:
        settings(folder, NO_REVIEWS)
        with working(folder, server) as here:
            session = turn(here, "")
            took = [timed(lambda: turn(here, session)) for _ in range(TURNS)]
        asked = server.asked()[1:]
    own = [Took(t.wall - (a.left - a.came) * 1000, t.cpu) for t, a in zip(took, asked, strict=True)]
    yield typical("own time a turn", own, 15)


def settings(folder: Path, lines: str) -> None:
    """Write the settings that differ from the defaults."""
    (folder / "home").mkdir(parents=True, exist_ok=True)
    (folder / "home" / "config.yaml").write_text(lines)


def working(folder: Path, server: ModelServer) -> Working:
    """An assistant in this process."""
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    environ = {"HOME": str(folder), "PATH": "/usr/local/bin:/usr/bin:/bin", **server.environ}
    return Working(Assembly(World(environ, work), folder / "home"), only_own=True)


def turn(here: Working, session: str, words: str = "hello") -> str:
    """One turn, followed to its end; its session."""
    started = here.runs.start(Start(words, session))
    for _ in here.runs.events(started.run_id):
        pass
    return started.session_id


def prefix(folder: Path) -> Iterator[Row]:
    """Each request begins with the whole of the one before: within a turn, across turns, a restart, a review."""
    rule = {"when": LOOK, "steps": [call("todo", "a-"), call("session_search", "b-", words="hello"), text("Seen.")]}
    with model_server(folder / "model", rule, ANSWER) as server:
        session = ""
        for _ in range(2):
            with working(folder, server) as here:
                for words in (LOOK, HELLO) * 3:
                    session = turn(here, session, words)
                here.finish([row["id"] for row in here.parts.runs.reserved(here.executor.id)])
        asked = server.asked()
    own = [a for a in asked if newest(a).startswith((LOOK, HELLO))]
    reviews = [a for a in asked if a not in own]
    broken = sum(not begins(before, after) for before, after in pairwise(own))
    yield Row("requests that do not begin with the last", broken, "", 0, f"of {len(own) - 1}, one restart among them")
    warm = all(any(begins(before, review) for before in own) for review in reviews)
    yield holds("a review begins with its turn's last request", warm and bool(reviews), f"{len(reviews)} reviews")


def newest(asked: Asked) -> str:
    """The last words of the person."""
    return str(next(m["content"] for m in reversed(asked.messages) if m["role"] == "user"))


def begins(before: Asked, after: Asked) -> bool:
    """Whether a request's bytes go on where the other's messages end."""
    whole = before.body.removesuffix(b"]}")
    return before.body.endswith(b"]}") and after.body.startswith(whole) and json.loads(after.body) is not None
