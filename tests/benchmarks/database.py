"""Appending, and searching in very many messages."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from time import perf_counter

from assistant.core.events import ToolOutput
from assistant.core.messages import Message
from assistant.core.ports import Start
from assistant.store.database import Database, open_database
from assistant.store.runs import Runs
from assistant.store.sessions import Sessions
from tests.benchmarks.table import Row, mid, p95, timed

APPENDS = 200
SEARCHES = 60
ENGLISH = [
    first + rest
    for first in "bcdfghklmnprstvz"
    for rest in ["acer", "etal", "idor", "opus", "uner", "alom", "erin", "islo"]
]
KOREAN = [
    first + rest
    for first in "가나다라마바사아자차카타"
    for rest in ["설정", "일정", "회의", "보고", "정리", "작업", "내용"]
]


def rows(folder: Path) -> Iterator[Row]:
    """The rows of this chapter."""
    folder.mkdir(parents=True)
    yield appending(folder / "append.db")
    yield from searching(folder / "search.db", 100_000, 20.0)


def long_rows(folder: Path) -> Iterator[Row]:
    """Eight times as much."""
    folder.mkdir(parents=True)
    yield from searching(folder / "search.db", 800_000, 100.0)


class Opened:
    """A database with its tables' doors."""

    def __init__(self, path: Path) -> None:
        numbers = count()

        def ids(kind: str) -> str:
            return f"{kind}_{next(numbers)}"

        self.database: Database = open_database(path, lambda: datetime.now(UTC))
        self.sessions = Sessions(self.database, ids)
        self.runs = Runs(self.database, ids)


def appending(path: Path) -> Row:
    """A message with its event and its index row, each in a durable transaction of its own."""
    at = Opened(path)
    with at.database.writing() as tx:
        session = at.sessions.create(tx, "m")
        run = at.runs.queue(tx, Start("hello"), "turn", session)
    message = Message("assistant", "The service is drawn as a diagram, top to bottom, with its stores. " * 4)

    def append() -> None:
        for _ in range(APPENDS):
            with at.database.writing() as tx:
                at.sessions.add(tx, session, run, message)
                at.runs.append(tx, run, ToolOutput("call_1", message.text))

    took = [timed(append) for _ in range(5)]
    at.database.close()
    cpu, wall = mid(t.cpu for t in took) / APPENDS, mid(t.wall for t in took) / APPENDS
    return Row("append one message with event and index row, CPU", cpu, "ms", 0.4, f"with the disk {wall:.2f} ms")


def searching(path: Path, size: int, target: float) -> Iterator[Row]:
    """Many messages, a third of them Korean; what is searched for stands in every second, or in few."""
    at = Opened(path)
    chance = random.Random(7)
    with at.database.writing() as tx:
        for _ in range(size // 200):
            session = at.sessions.create(tx, "m")
            for number in range(200):
                at.sessions.add(tx, session, "", Message("user" if number % 2 else "assistant", words(chance, number)))
    at.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    asked = {
        "common word": lambda: "service",
        "two-syllable Korean": lambda: "회의",
        "two words": lambda: f"service {chance.choice(ENGLISH)}",
        "one Korean letter": lambda: "회",
        "rare word": lambda: f"nr{chance.randrange(size)}",
    }
    for name, query in asked.items():
        times = []
        for _ in range(SEARCHES):
            wanted, begun = query(), perf_counter()
            at.sessions.search(wanted)
            times.append((perf_counter() - begun) * 1000)
        bound = target if name in ("common word", "two-syllable Korean") else None
        yield Row(f"search in {size:,} messages, p95: {name}", p95(times), "ms", bound, f"best {min(times):.1f}")
    at.database.close()


def words(chance: random.Random, number: int) -> str:
    """A message of some thirty words."""
    some = KOREAN if number % 3 == 0 else ENGLISH
    common = "회의" if number % 3 == 0 else "service"
    said = chance.choices(some, k=30)
    if number % 2:
        said[chance.randrange(30)] = common
    return " ".join(said) + f" nr{chance.randrange(1_000_000)}"
