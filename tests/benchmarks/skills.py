"""The store at 100, 1,000 and 10,000 skills; a change, a scan, and many processes at once."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from skills_store.library import Applied, Library, Refused, Wish
from skills_store.scan import scan
from skills_store.values import Actor, Cause, Evidence
from tests.benchmarks.child import spent
from tests.benchmarks.library import built, library, name_of, text_of
from tests.benchmarks.table import Row, Took, holds, timed, typical

SIZES = (100, 1_000, 10_000)
TRIES = 20
INDEX_TARGETS = {"cold": 600, "another process": 100, "same process": 50}
CHANGE_TARGETS = {1_000: 40, 10_000: 80}
PROCESSES, PATCHES = 8, 25
YOU = Cause(Actor.YOU)
REVIEW = Cause(Actor.REVIEW, "it was asked for", "ses_1", "run_1", "", (Evidence(1, "as tables"),))


def rows(folder: Path) -> Iterator[Row]:
    """The rows of this chapter."""
    for size in SIZES:
        root = built(folder / str(size), size)
        yield from index(root, size)
        yield from changes(root, size)
        yield from commands(root, size)
        shutil.rmtree(root)
    yield from scanning()
    yield from patched_together(folder / "patched")
    yield from created_together(folder / "created")


# -- the index ---------------------------------------------------------------------------------------------------


def index(root: Path, size: int) -> Iterator[Row]:
    """The prompt's lines: nothing known; a file of what is known; looked a moment ago; after a hand edit."""
    library(root).index()
    kept = next((root / ".git").glob("assistant-index*"), None)
    cold, warm = [], []
    for _ in range(5):
        if kept:
            kept.unlink(missing_ok=True)
        cold.append(look(root))
        warm.append(look(root))
    by_name = {
        "cold": [Took(*c["first"]) for c in cold],
        "another process": [Took(*w["first"]) for w in warm],
        "same process": [Took(*c["again"]) for c in cold + warm],
    }
    for name, took in by_name.items():
        target = INDEX_TARGETS[name] if size == SIZES[-1] else None
        yield typical(f"index of {size:,} skills, {name}", took, target)
    if size == SIZES[-1]:
        yield holds("a hand edit is seen by the next look", all(c["seen"] for c in cold + warm))
        yield Row(f"prompt bytes of {size:,} skills", cold[0]["bytes"], "bytes", 8_000)


def look(root: Path) -> dict[str, Any]:
    """What `look.py` measures, in a process of its own."""
    told: dict[str, Any] = json.loads(spent(["-m", "tests.benchmarks.look", str(root)], {}).out)
    return told


# -- changes -----------------------------------------------------------------------------------------------------


def changes(root: Path, size: int) -> Iterator[Row]:
    """A review patches a skill: from the wish through all guards but the scan to the commit."""
    store = library(root, scan=False)
    took = [timed(lambda number=number: patched(store, number)) for number in range(TRIES + 1)]
    target = CHANGE_TARGETS.get(size)
    yield typical(f"one change among {size:,} skills", took[1:], target, f", first {took[0].wall:.0f}")
    scanned = library(root)
    with_scan = [timed(lambda number=number: patched(scanned, number)) for number in range(TRIES + 1, 2 * TRIES + 2)]
    yield typical(f"the same with the scan, {size:,} skills", with_scan[1:], None, f", first {with_scan[0].wall:.0f}")


def patched(store: Library, number: int) -> None:
    """One patch by the review."""
    wish = Wish("patch", name_of(number), old_string="# Steps\n", new_string="# Steps\n\nBegin with a list.\n")
    outcome = store.manage(wish, REVIEW, reader(store))
    assert isinstance(outcome, Applied), outcome


def reader(store: Library) -> Callable[[str], str | None]:
    """A run that has viewed everything as it is now."""

    def seen(path: str) -> str | None:
        found = store.vault.files.read(path)
        return None if found is None else found.blob

    return seen


def commands(root: Path, size: int) -> Iterator[Row]:
    """What `skills list`, `log` and `search` ask of the store, the third time."""
    store = library(root)
    asked: dict[str, Callable[[], Any]] = {
        "list": store.records,
        "log, newest 100": store.log,
        "log of one skill": lambda: store.log(name_of(1)),
        "search": lambda: store.search("budget lantern"),
        "search, misspelled": lambda: store.search("bugdet lanten"),
    }
    for name, work in asked.items():
        yield typical(f"skills {name}, {size:,} skills", [timed(work) for _ in range(4)][1:])


def scanning() -> Iterator[Row]:
    """A skill of 200 lines: what loading the rules costs once, and then the scan."""
    lines = "\n".join(text_of(number).split("\n\n", 2)[2] for number in range(20)).splitlines()[:200]
    files = {"SKILL.md": "\n".join(lines).encode()}
    took = [timed(lambda: scan(files)) for _ in range(10)]
    yield typical(f"scan of a skill of {len(lines)} lines", took[1:], 150, f", first {took[0].wall:.0f}")


# -- many processes ----------------------------------------------------------------------------------------------


def together(jobs: list[Callable[[], int]]) -> list[int]:
    """Each in a process of its own, at once; what they return."""
    children = []
    for job in jobs:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                code = job()
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def patched_together(root: Path) -> Iterator[Row]:
    """Eight processes append to one skill, each by 25 patches; a reader looks on."""
    store = library(root)
    store.manage(Wish("create", name_of(0), category="one", content=text_of(0) + "end\n"), YOU)
    place = root / "one" / name_of(0) / "SKILL.md"

    def writes(who: int) -> int:
        own = library(root)
        wishes = [
            Wish("patch", name_of(0), old_string="end\n", new_string=f"line {who}-{n} .\nend\n") for n in range(PATCHES)
        ]
        return sum(not isinstance(own.manage(wish, YOU), Applied) for wish in wishes)

    def reads() -> int:
        whole = re.compile(r"---\n.*\n(?:line \d+-\d+ \.\n)*end\n\Z", re.DOTALL)
        while not (root.parent / "done").exists():
            if not whole.match(place.read_text()):
                return 1
        return 0

    def all_write() -> int:
        refused = sum(together([lambda who=who: writes(who) for who in range(PROCESSES)]))
        (root.parent / "done").touch()
        return refused

    begun = perf_counter()
    refused, torn = together([all_write, reads])
    took = perf_counter() - begun
    found = set(re.findall(r"line (\d+-\d+) \.", place.read_text()))
    total = PROCESSES * PATCHES
    yield Row(f"lines lost, {PROCESSES} processes × {PATCHES} patches", total - len(found), "", 0, f"{refused} refused")
    yield Row("torn readings meanwhile", torn, "", 0)
    yield Row("one of those patches", took / total * 1000, "ms", None, f"{took:.1f} s for {total}")


def created_together(root: Path) -> Iterator[Row]:
    """Eight processes create one name at once."""
    library(root)

    def makes(who: int) -> int:
        wish = Wish("create", name_of(0), category=f"c{who}", content=text_of(0))
        outcome = library(root).manage(wish, YOU)
        if isinstance(outcome, Applied):
            return 10
        return 11 if isinstance(outcome, Refused) and outcome.code == "exists" else 12

    codes = together([lambda who=who: makes(who) for who in range(PROCESSES)])
    won = codes.count(10)
    yield holds("one wins, seven are told, of eight that create", sorted(codes) == [10] + [11] * 7, f"{won} won")
