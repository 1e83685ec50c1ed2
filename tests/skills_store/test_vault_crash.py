"""The process dies at every step of an apply, one after the other; the next one finds old or new, never half."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from skills_store.change import Change
from tests.fakes.skills import SKILL, authors, change, git, status, vault, write

FILE, NOTE, SCRIPT = f"{SKILL}/SKILL.md", f"{SKILL}/references/note.md", f"{SKILL}/scripts/run.sh"
MINE = f"{SKILL}/references/mine.md"
Make = Callable[[Path], list[Change]]


def patching(root: Path) -> list[Change]:
    return [change(root, {FILE: b"new\n"})]


def several(root: Path) -> list[Change]:
    return [change(root, {FILE: b"new\n", NOTE: None, SCRIPT: b"#!/bin/sh\n", f"{SKILL}/assets/a.md": b"a\n"})]


def moving(root: Path) -> list[Change]:
    there = {f".archive/{FILE}": b"old\n", f".archive/{NOTE}": b"note\n"}
    return [change(root, there | {FILE: None, NOTE: None})]


def one_after_another(root: Path) -> list[Change]:
    first = change(root, {FILE: b"between\n"})
    write(root, FILE, "between\n")
    second = change(root, {FILE: b"new\n", NOTE: b"second\n"})
    write(root, FILE, "old\n")
    return [first, second]


def with_hand_edit(root: Path) -> list[Change]:
    write(root, MINE, "mine\n")
    write(root, NOTE, "note\nmine\n")
    return [change(root, {FILE: b"new\n"})]


SCENES: dict[str, Make] = {
    "patch": patching,
    "several": several,
    "move": moving,
    "two commits": one_after_another,
    "hand edit": with_hand_edit,
}


EVERY = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["kinds", "all"])
"""Die once at each kind of step; in the long form at each step."""


def prepared(root: Path) -> None:
    """A store with one skill; made once, then copied."""
    made = root.parent / "made"
    if not made.exists():
        vault(made).apply([change(made, {FILE: b"old\n", NOTE: b"note\n"})])
    shutil.copytree(made, root)


def numbers(steps: list[str], every: bool, first: str = "locked", last: str = "cleared") -> list[int]:
    """The steps to die at, from the first of one kind to the last of another, counted from 1."""
    end = len(steps) - steps[::-1].index(last)
    wanted = range(steps.index(first) + 1, end + 1)
    return [number for number in wanted if every or steps.index(steps[number - 1]) == number - 1]


def files(root: Path) -> dict[str, bytes]:
    """Every file but git's."""
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def steps_of(root: Path, make: Make) -> list[str]:
    """The steps of an apply that nobody disturbs."""
    heard: list[str] = []
    changes = make(root)
    vault(root, heard.append).apply(changes)
    return heard


def die_at(root: Path, changes: list[Change], number: int) -> None:
    """Apply in another process that is killed at one step."""
    child = os.fork()
    if child == 0:
        heard: list[str] = []

        def told(step: str) -> None:
            heard.append(step)
            if len(heard) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        vault(root, told).apply(changes)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def worlds(tmp_path: Path, make: Make) -> tuple[dict[str, bytes], dict[str, bytes], list[str]]:
    """The files before (hand edits made), the files after, the steps between."""
    prepared(tmp_path / "calm")
    make(tmp_path / "calm")
    old = files(tmp_path / "calm")
    shutil.rmtree(tmp_path / "calm")
    prepared(tmp_path / "calm")
    steps = steps_of(tmp_path / "calm", make)
    return old, files(tmp_path / "calm"), steps


@EVERY
@pytest.mark.parametrize("scene", SCENES)
def test_death_at_any_step_leaves_old_or_new_and_a_clean_status(tmp_path, scene, every):
    make = SCENES[scene]
    old, new, steps = worlds(tmp_path, make)
    assert {"locked", "owed", "committed", "moved", "indexed", "cleared"} <= set(steps)
    landed = {}
    for number in numbers(steps, every):
        root, step = tmp_path / f"{number}", steps[number - 1]
        prepared(root)
        die_at(root, make(root), number)
        vault(root).recover()
        after = files(root)
        assert after in (old, new), f"half done after {step}"
        landed[step] = after == new
        if after == new:
            assert status(root) == "", f"after {step}"
            assert authors(root) == authors(tmp_path / "calm")
        assert git(root, "for-each-ref", "refs/assistant") == ""
        assert git(root, "fsck", "--no-dangling") == ""
        vault(root).apply([change(root, {NOTE: b"and on\n"})])
        assert status(root) == ""
    assert list(landed.values()) == sorted(landed.values()), "once promised, a change always lands"
    assert (landed["locked"], landed["committed"]) == (False, True)


@EVERY
@pytest.mark.parametrize("scene", ["patch", "several", "move"])
def test_an_edit_between_death_and_recovery_is_kept_as_the_persons(tmp_path, scene, every):
    make = SCENES[scene]
    _old, _new, steps = worlds(tmp_path, make)
    for number in numbers(steps, every, "committed"):
        root = tmp_path / f"{number}"
        prepared(root)
        die_at(root, make(root), number)
        write(root, FILE, "by hand\n")
        vault(root).recover()
        vault(root).take_in([SKILL])
        assert (root / FILE).read_text() == "by hand\n"
        assert git(root, "show", f"HEAD:{FILE}") == "by hand\n"
        assert git(root, "log", "-1", "--format=%an", "--", FILE).strip() == "you"
        assert "review" in authors(root)[1:]
        assert status(root) == ""


def of_another_folder(root: Path) -> None:
    write(root, "music/x.md", "x\n")
    git(root, "add", "music")
    git(root, "commit", "-m", "mine")


def of_everything(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--allow-empty", "-m", "mine")


@EVERY
@pytest.mark.parametrize("commit", [of_another_folder, of_everything], ids=lambda make: make.__name__)
def test_a_plain_commit_between_death_and_recovery_loses_nothing(tmp_path, commit, every):
    _old, _new, steps = worlds(tmp_path, several)
    for number in numbers(steps, every, "committed"):
        root = tmp_path / f"{number}"
        prepared(root)
        die_at(root, several(root), number)
        commit(root)
        vault(root).recover()
        assert (root / FILE).read_text() == "new\n"
        assert not (root / NOTE).exists()
        assert commit is of_everything or git(root, "show", "HEAD:music/x.md") == "x\n"
        assert status(root) == ""


@EVERY
def test_death_while_the_repository_is_made_starts_over(tmp_path, every):
    root = tmp_path / "skills"
    write(root, FILE, "mine\n")
    heard: list[str] = []
    first = change(root, {FILE: b"new\n"})
    vault(root, heard.append).apply([first])
    for number in numbers(heard, every, heard[0]):
        place = tmp_path / f"{number}"
        write(place, FILE, "mine\n")
        die_at(place, [first], number)
        vault(place).apply([change(place, {NOTE: b"n\n"})])
        assert status(place) == ""
        assert authors(place)[0] == "you"
        assert (place / FILE).read_text() in ("mine\n", "new\n")


def test_a_half_written_debt_note_is_no_obstacle(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    (root / ".git/assistant-owed.json").write_text('{"paths": [')
    vault(root).apply(patching(root))
    assert status(root) == ""
    assert not (root / ".git/assistant-owed.json").exists()
