"""kill -9 at every commit point of one `ask --here`: the next start goes on, nothing is lost, nothing happens twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.store.database import open_database
from assistant.store.runs import Runs
from tests.fakes.openai_server import OpenAIServer, call, text
from tests.fakes.world import CountedIds, SteppedClock

ROOT = Path(__file__).parents[2]
SKILL = "---\nname: {0}\ndescription: Use when {0}.\n---\n\n# {0}\n\nDo it.\n"
WISH = "Please build the weekly report"
TURN = [
    call("read_file", "read-", path="notes.txt"),
    call("terminal", "run-", command="echo done >> effects.txt"),
    call("skill_manage", "skill-", action="create", name="own-way", content=SKILL.format("own-way")),
    text("The report is built."),
]
REVIEW = [
    call(
        "skill_manage",
        "learn-",
        action="create",
        name="weekly-reports",
        content=SKILL.format("weekly-reports"),
        evidence=["build the weekly report"],
    ),
    call("memory", "keep-", action="add", target="user", content="Wants a weekly report", evidence=["weekly report"]),
    text("Saved."),
]
SCRIPT = {"rules": [{"when": "Look back at the conversation above", "steps": REVIEW}, {"when": WISH, "steps": TURN}]}


def here(home, url, point, work):
    command = [sys.executable, "-m", "tests.crash.here", str(home), url, str(point), WISH]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(home.parent)}
    return subprocess.run(command, cwd=work, env=environ, capture_output=True, text=True, timeout=60, check=False)


def prepared(tmp_path, name):
    home, work = tmp_path / name / "home", tmp_path / name / "work"
    work.mkdir(parents=True)
    home.mkdir()
    (work / "notes.txt").write_text("notes")
    (home / "config.yaml").write_text("skills: {creation_nudge_interval: 3}\nmemory: {nudge_interval: 1}\n")
    return home, work


def points(tmp_path, url):
    home, work = prepared(tmp_path, "whole")
    done = here(home, url, 0, work)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def check(home, work):
    """Everything the journey promises, once each."""
    database = open_database(home / "assistant.db", SteppedClock())
    runs = Runs(database, CountedIds())
    states = {row["kind"]: row["status"] for row in database.all("SELECT kind, status FROM runs")}
    assert states == {"turn": "completed", "review": "completed"}
    for row in database.all("SELECT id, last_event FROM runs"):
        assert [told["seq"] for told in runs.told_rows(row["id"])] == list(range(1, row["last_event"] + 1))
    said = [(row["role"], row["text"]) for row in database.all("SELECT * FROM messages WHERE session_id NOT NULL")]
    assert [role for role, _ in said] == ["user", *["assistant", "tool"] * 3, "assistant"]
    assert said[0][1] == WISH
    assert said[-1][1] == "The report is built."
    effect = next(t for r, t in said[3:5] if r == "tool")
    lines = (work / "effects.txt").read_text().splitlines() if (work / "effects.txt").exists() else []
    assert len(lines) <= 1
    assert lines == ["done"] or "may or may not have happened" in effect
    database.close()
    for folder, learned in (("skills", ["own-way", "weekly-reports"]), ("memories", ["user"])):
        log = git(home / folder, "log", "--format=%(trailers:key=Call,valueonly)").split()
        assert len(log) == len(set(log)) == len(learned)
        assert git(home / folder, "status", "--porcelain") == ""
    for name in ("own-way", "weekly-reports"):
        assert (home / "skills/general" / name / "SKILL.md").read_text() == SKILL.format(name)
    assert (home / "memories/USER.md").read_text().count("Wants a weekly report") == 1


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def sweep(tmp_path, wanted):
    with OpenAIServer(script=json.loads(json.dumps(SCRIPT))) as server:
        total = points(tmp_path, server.base_url)
        assert total > 60
        for point in wanted(total):
            home, work = prepared(tmp_path, str(point))
            died = here(home, server.base_url, point, work)
            assert died.returncode == -signal.SIGKILL, (point, died.stderr)
            again = here(home, server.base_url, 0, work)
            assert again.returncode == 0, (point, again.stderr)
            try:
                check(home, work)
            except AssertionError as fault:
                raise AssertionError(f"after a kill at point {point} of {total}") from fault


def test_a_kill_at_some_points_loses_nothing_and_repeats_nothing(tmp_path):
    sweep(tmp_path, lambda total: range(3, total, total // 5))


@pytest.mark.long
def test_a_kill_at_every_point_loses_nothing_and_repeats_nothing(tmp_path):
    sweep(tmp_path, lambda total: range(1, total + 1))
