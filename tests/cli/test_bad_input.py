"""Whatever is wrong gets one clear sentence and exit code 2, and nothing changes."""

import shutil
import sqlite3

import pytest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model: [", "is not valid YAML"),
        ("modle: {name: x}\n", "did you mean model"),
        ("model: {nam: x}\n", "did you mean model.name"),
        ("agent: {max_steps: many}\n", "agent.max_steps"),
        ("- a list\n", "must be a group"),
    ],
)
def test_a_broken_config_is_told_with_its_place(shell, text, words):
    shell.fine("skills", "list")
    (shell.home / "config.yaml").write_text(text)
    before = shell.tree()
    said = shell("ask", "hello")
    assert (said.code, said.out) == (2, "")
    assert words in said.notes
    assert str(shell.home / "config.yaml") in said.notes
    assert shell.tree() == before


def test_a_broken_config_does_not_hinder_its_repair(shell):
    shell.fine("skills", "list")
    (shell.home / "config.yaml").write_text("agent: {max_steps: many}\n")
    assert shell.fine("config", "path").out.strip() == str(shell.home / "config.yaml")
    shell.editor("echo 'agent: {max_steps: 7}' > $1")
    shell.fine("config", "edit")
    assert shell.fine("config", "get", "agent.max_steps").out == "7\n"


def test_a_home_that_cannot_be_written_is_named(shell):
    shell.home.write_text("a file where the home should be")
    said = shell("skills", "list")
    assert said.code == 2
    assert str(shell.home) in said.notes
    assert shell.home.read_text() == "a file where the home should be"


def test_without_git_nothing_begins(shell, tmp_path):
    empty = tmp_path / "bin"
    empty.mkdir()
    shell.environ["PATH"] = str(empty)
    said = shell("ask", "hello")
    assert said.code == 2
    assert "git is not installed" in said.notes
    assert not shell.home.exists()


def test_a_database_of_a_newer_version_is_left_alone(shell):
    shell.fine("sessions", "list")
    database = sqlite3.connect(shell.home / "assistant.db")
    database.execute("PRAGMA user_version=99")
    database.close()
    before = (shell.home / "assistant.db").read_bytes()
    said = shell("sessions", "list")
    assert said.code == 2
    assert "newer version" in said.notes
    assert (shell.home / "assistant.db").read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(shell):
    shell.fine("skills", "list")
    for path in shell.home.glob("assistant.db*"):
        path.unlink()
    (shell.home / "assistant.db").write_bytes(b"not a database at all, but long enough to be read as one" * 20)
    said = shell("sessions", "list")
    assert said.code == 2
    assert "cannot be read as a database" in said.notes


def test_a_home_of_another_program_is_never_written(shell):
    shell.home.mkdir()
    (shell.home / "state.db").write_bytes(b"theirs")
    before = shell.tree()
    for words in (["ask", "hello"], ["skills", "list"], ["config", "set", "model.name", "x"], ["backup", "b.tar.gz"]):
        said = shell(*words)
        assert said.code == 2, words
        assert "belongs to another program" in said.notes
        assert f"assistant setup --adopt {shell.home}" in said.notes
    assert shell.tree() == before


def test_without_a_model_the_ways_to_one_are_listed(shell):
    shell.fine("skills", "list")
    said = shell.really("ask", "hello")
    assert (said.code, said.out) == (2, "")
    for way in ("assistant setup", "OPENAI_API_KEY", "--local"):
        assert way in said.notes
    assert shell.fine("sessions", "list").notes.startswith("no conversation yet")


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["skills", "shwo"], 2, "Did you mean 'show'"),
        (["ask"], 2, "Missing argument"),
        (["ask", "x", "--jsn"], 2, "No such option"),
        (["ask", ""], 2, "empty"),
        (["ask", "x", "--session", "s", "--continue"], 2, "not both"),
        (["ask", "x", "--yes", "--no"], 2, "not both"),
        (["ask", "x", "--continue"], 4, "no conversation yet"),
        (["ask", "x", "--session", "ses_none"], 4, "no session 'ses_none'"),
        (["sessions", "show", "ses_none"], 4, "no session 'ses_none'"),
        (["sessions", "delete", "ses_none", "--yes"], 4, "no session 'ses_none'"),
        (["runs", "show", "run_none"], 4, "no run 'run_none'"),
        (["runs", "stop", "run_none"], 4, "no run 'run_none'"),
        (["reviews", "show", "run_none"], 4, "no review 'run_none'"),
        (["reviews", "run"], 4, "no conversation yet"),
        (["inbox", "approve", "none"], 4, "nothing waits under the id 'none'"),
        (["skills", "show", "none"], 4, "no skill 'none'"),
        (["skills", "why", "none"], 4, "no skill 'none'"),
        (["skills", "diff", "0000000"], 4, "no commit"),
        (["skills", "undo", "not-a-commit"], 4, "not the id of a commit"),
        (["skills", "import", "nowhere"], 4, "no folder"),
        (["skills", "new", "Bad Name", "--from", "x.md"], 2, "x.md cannot be read"),
        (["memory", "log", "them"], 2, "say memory or user"),
        (["config", "get", "model.nam"], 2, "did you mean model.name"),
        (["config", "set", "agent.max_steps", "many"], 2, "a whole number"),
        (["restore", "nowhere.tar.gz"], 2, "nowhere.tar.gz"),
        (["setup"], 2, "nobody is here to answer"),
        (["setup", "--adopt", "nowhere"], 2, "neither skills/ nor memories/"),
    ],
)
def test_a_request_that_cannot_be_met_is_answered_with_a_sentence(shell, words, code, part):
    shell.fine("sessions", "list")
    said = shell(*words)
    assert (said.code, said.out) == (code, "")
    assert part in said.notes
    assert "Traceback" not in said.notes


def test_the_home_of_the_option_wins_over_the_environment(shell, tmp_path):
    shell.fine("--home", str(tmp_path / "other"), "skills", "list")
    assert (tmp_path / "other" / "config.yaml").is_file()
    assert not shell.home.exists()
    shutil.rmtree(tmp_path / "other")
