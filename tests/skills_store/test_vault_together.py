"""Eight processes at once: nothing acknowledged is lost, nobody sees half a file."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from skills_store.outcome import Applied, Refused
from skills_store.plan import Wish
from tests.fakes.skills import YOU, created, git, library, status, text

FILE = "art/maps/SKILL.md"
WHOLE = re.compile(r"---\nname: maps\n.*\n(?:line \d+-\d+ \.\n)*end\n\Z", re.DOTALL)


def together(jobs: list[Callable[[], int]]) -> list[int]:
    """Run each in a process of its own; their exit codes."""
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


def patches(root: Path, who: int, count: int) -> int:
    """Append lines by patch; how many were not acknowledged."""
    store = library(root)
    wishes = [Wish("patch", "maps", old_string="end\n", new_string=f"line {who}-{n} .\nend\n") for n in range(count)]
    return sum(not isinstance(store.manage(wish, YOU), Applied) for wish in wishes)


def reads(root: Path) -> int:
    """Read until every line is there; 1 when a torn file was seen."""
    place = root / FILE
    while True:
        seen = place.read_text()
        if not WHOLE.match(seen):
            return 1
        if (root / "done").exists():
            return 0


@pytest.mark.parametrize("count", [3, pytest.param(25, marks=pytest.mark.long)])
def test_eight_processes_patch_one_skill_and_no_line_is_lost(tmp_path, count):
    root = tmp_path / "skills"
    store = created(root, YOU)
    store.manage(Wish("edit", "maps", content=text() + "end\n"), YOU)

    def writers() -> int:
        failed = sum(together([lambda who=who: patches(root, who, count) for who in range(8)]))
        (root / "done").touch()
        return failed

    assert together([writers, lambda: reads(root)]) == [0, 0]
    (root / "done").unlink()
    lines = re.findall(r"line (\d+-\d+) \.", (root / FILE).read_text())
    assert sorted(lines) == sorted(f"{who}-{n}" for who in range(8) for n in range(count))
    assert git(root, "rev-list", "--count", "HEAD").strip() == str(2 + 8 * count)
    assert status(root) == ""
    assert git(root, "fsck", "--no-dangling") == ""


@pytest.mark.parametrize("categories", [["art"] * 8, [f"c{n}" for n in range(8)]], ids=["one place", "eight places"])
def test_eight_processes_create_one_name_and_one_wins(tmp_path, categories):
    root = tmp_path / "skills"

    def make(category: str) -> int:
        outcome = library(root).manage(Wish("create", "maps", category=category, content=text()), YOU)
        if isinstance(outcome, Applied):
            return 10
        return 11 if isinstance(outcome, Refused) and outcome.code == "exists" else 12

    codes = together([lambda category=category: make(category) for category in categories])
    assert sorted(codes) == [10] + [11] * 7
    assert len(list(root.glob("*/maps/SKILL.md"))) == 1
    assert status(root) == ""


def test_one_archives_and_restores_while_others_patch(tmp_path):
    root = tmp_path / "skills"
    store = created(root, YOU)
    store.manage(Wish("edit", "maps", content=text() + "end\n"), YOU)

    def mover() -> int:
        mine = library(root)
        return sum(not isinstance(mine.manage(Wish(action, "maps"), YOU), Applied) for action in ("archive", "restore"))

    def patcher(name: str, who: int) -> int:
        mine, refused = library(root), 0
        for n in range(4):
            wish = Wish("patch", name, old_string="end\n", new_string=f"line {who}-{n} .\nend\n")
            refused += not isinstance(mine.manage(wish, YOU), Applied)
        return refused

    codes = together([mover, lambda: patcher("maps", 1), lambda: patcher("art/maps", 2)])
    assert codes[0] == 0
    lines = re.findall(r"line \d+-\d+ \.", (root / FILE).read_text())
    assert len(lines) + codes[1] + codes[2] == 8
    assert not (root / ".archive").exists()
    assert status(root) == ""
