"""What the doctor sees."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assistant.doctor import (
    ENOUGH,
    Check,
    Probe,
    check_builtin,
    check_database,
    check_disk,
    check_git,
    check_home,
    check_model,
    check_permissions,
    check_sandbox,
    check_settings,
    examine,
)
from assistant.errors import PersonMustAct
from assistant.home import Home, find_template, prepare


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    prepare(home, find_template())
    return home


def damage(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        try:
            return [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        except sqlite3.DatabaseError as fault:
            return [str(fault)]


def test_a_fresh_home_is_well(home):
    for check in (check_home(home), check_settings(home), check_permissions(home), check_database(home, damage)):
        assert check.ok, check
        assert check.todo == ""


def test_each_fault_of_the_home_says_what_to_do(home):
    (home.root / ".restore-x").mkdir()
    assert "restore FILE" in check_home(home).todo
    home.logs.rmdir()
    assert check_home(home).message.endswith("lacks logs")
    (home.root / "state.db").touch()
    assert check_home(home).todo == f"assistant setup --adopt {home.root}"


def test_secrets_that_others_can_read_are_found(home):
    home.env_file.chmod(0o644)
    check = check_permissions(home)
    assert (check.ok, check.todo) == (False, f"chmod 600 {home.env_file}")


def test_a_home_that_others_can_write_is_found(home):
    home.root.chmod(0o777)
    assert check_permissions(home).todo == f"chmod go-w {home.root}"


def test_a_broken_settings_file_is_a_failed_check_not_a_crash(home):
    home.config.write_text("agent: {max_step: 1}\n")
    [check] = examine({"settings": lambda: check_settings(home)})
    assert not check.ok
    assert "did you mean agent.max_steps?" in check.message


def test_settings_left_behind_by_an_adoption_are_listed(home):
    home.adopted.write_text(json.dumps({"unused_settings": ["agent.max_turns"]}))
    assert "agent.max_turns" in check_settings(home).message


def test_a_damaged_page_is_found(home):
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("word" * 50,)] * 400)
        connection.commit()
    assert check_database(home, damage).ok
    data = bytearray(home.database.read_bytes())
    data[4096:4196] = b"\xff" * 100
    home.database.write_bytes(data)
    check = check_database(home, damage)
    assert not check.ok
    assert "assistant restore" in check.todo


@pytest.mark.parametrize(
    ("probe", "ok", "word"),
    [
        (Probe("large", called=True, seconds=0.5), True, "called the tool"),
        (Probe("large", called=False, seconds=0.5), False, "did not call"),
        (Probe("builtin", called=False, seconds=0.5, tools=False), True, "cannot call tools"),
    ],
)
def test_a_model_is_well_when_it_does_what_it_can(probe, ok, word):
    check = check_model(lambda: probe)
    assert (check.ok, word in check.message) == (ok, True)


def test_a_model_that_does_not_answer_is_told_in_its_own_words():
    def ask():
        raise PersonMustAct("the key was refused (401)")

    [check] = examine({"model": lambda: check_model(ask)})
    assert check == Check("model", False, "the key was refused (401)", "See the message.")


def test_a_part_that_was_not_chosen_may_be_missing():
    assert check_sandbox(False, lambda: "bwrap is not installed").ok
    assert not check_sandbox(True, lambda: "bwrap is not installed").ok
    assert check_builtin(True, lambda: "").message == "ready"
    assert check_builtin(True, lambda: "weights are missing").todo == "assistant setup --local"


def test_a_full_disk_is_found(home):
    assert not check_disk(home, lambda _: ENOUGH - 1).ok
    assert check_disk(home, lambda _: 5_300_000_000).message == "5.3 GB free"


def test_git_tells_its_version():
    assert examine({"git": lambda: check_git(lambda: "git 2.39")}) == (Check("git", True, "git 2.39"),)
