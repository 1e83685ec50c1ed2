"""kill -9 of the server at every commit point of one run, and at random times: a client that only comes back gets all.

The client is the real one.  It starts the run under a key, follows it, answers what it asks, and when the server is
gone it starts another one, as `assistant` itself would.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from threading import Timer

import pytest

from assistant.client.http_runs import Address, HttpRuns
from assistant.core.events import ApprovalRequested, QuestionAsked, ReviewQueued
from assistant.core.ports import Start, Told
from assistant.errors import AssistantError, Conflict, TryLater
from assistant.home.place import Home
from assistant.home.running import read_running
from assistant.store.database import open_database
from assistant.store.runs import Runs
from tests.fakes.openai_server import OpenAIServer, call, text
from tests.fakes.waiting import until
from tests.fakes.world import CountedIds, SteppedClock

ROOT = Path(__file__).parents[2]
WISH = "Please tidy the workshop"
TURN = [
    call("read_file", "read-", path="notes.txt"),
    call("terminal", "run-", command="echo once >> effects.txt"),
    call("terminal", "ask-", command="rm -rf build; echo removed >> effects.txt"),
    call("clarify", "clarify-", question="Which colour?", choices=["red", "blue"]),
    text("The workshop is tidy."),
]
SKILL = "---\nname: tidying\ndescription: Use when tidying.\n---\n\n# Tidying\n\nDo it.\n"
REVIEW = [
    call("skill_manage", "learn-", action="create", name="tidying", content=SKILL, evidence=["tidy the workshop"]),
    text("Saved."),
]
SCRIPT = {"rules": [{"when": "Look back at the conversation above", "steps": REVIEW}, {"when": WISH, "steps": TURN}]}
MAYBE = "may or may not have happened"


class Journey:
    """One home, its servers one after another, and the client that will not give up."""

    def __init__(self, folder: Path, url: str, kills: list[int | float]) -> None:
        self.home, self.work = Home(folder / "home"), folder / "work"
        self.url = url
        self.kills = list(kills)
        """For each server: the point where it dies, or the seconds it lives; afterwards they live."""
        self.timer: Timer | None = None
        self.killed = 0
        self.told: list[Told] = []
        self.process: subprocess.Popen[bytes] | None = None
        (self.work / "build").mkdir(parents=True)
        self.home.root.mkdir()
        (self.work / "notes.txt").write_text("notes")
        self.home.config.write_text("skills: {creation_nudge_interval: 3}\nmemory: {nudge_interval: 0}\n")

    def find(self) -> Address:
        """The living server, or a new one."""
        if self.process is None or self.process.poll() is not None:
            self.begin()
        running = read_running(self.home)
        if running is None or running.pid != self.process.pid:
            raise TryLater("it died at once")
        return Address(running.url, running.token)

    def begin(self) -> None:
        """Start a server, which dies as the list says."""
        if self.process is not None:
            assert self.process.returncode == -signal.SIGKILL, self.printed()
            self.killed += 1
        kill = self.kills.pop(0) if self.kills else 0
        point = kill if isinstance(kill, int) else 0
        words = [sys.executable, "-m", "tests.crash.serving", str(self.home.root), self.url, str(point)]
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(self.work.parent)}
        with (self.work.parent / "printed").open("wb") as out:
            self.process = process = subprocess.Popen(words, cwd=self.work, env=environ, stdout=out, stderr=out)
        if isinstance(kill, float):
            self.timer = Timer(kill, process.kill)
            self.timer.start()
        until(lambda: process.poll() is not None or self.answers(process.pid), self.printed, longest=90)

    def answers(self, pid: int) -> bool:
        running = read_running(self.home)
        return running is not None and running.pid == pid

    def go(self) -> None:
        """From the wish to the end of the review, through every death."""
        self.client = HttpRuns(self.patient(self.find), self.find)
        self.run_id = self.patient(lambda: self.client.start(Start(WISH, idempotency_key="once"))).run_id
        self.told = self.follow(self.run_id)
        review = next(t.event.run_id for t in self.told if isinstance(t.event, ReviewQueued))
        self.reviewed = self.follow(review)
        self.client.close()

    def follow(self, run_id: str) -> list[Told]:
        told: list[Told] = []
        while not (told and told[-1].event.type in ("run.completed", "run.failed", "run.cancelled")):
            try:
                for item in self.client.events(run_id, told[-1].seq if told else 0):
                    told.append(item)
                    self.answer(run_id, item)
            except TryLater:
                continue
        return told

    def answer(self, run_id: str, item: Told) -> None:
        match item.event:
            case ApprovalRequested(approval_id):
                self.once(lambda: self.client.decide(run_id, "once", approval_id))
            case QuestionAsked(question_id):
                self.once(lambda: self.client.answer(run_id, "blue", question_id))
            case _:
                pass

    def once(self, ask) -> None:
        """An answer whose own answer may be lost: said again, it is a conflict."""
        try:
            self.patient(ask)
        except Conflict:
            return

    def patient(self, ask):
        """Ask until there is an answer."""
        for _ in range(60):
            try:
                return ask()
            except TryLater:
                continue
        raise AssertionError("it was tried too often")

    def end(self) -> str:
        """End the last server in order; what it printed."""
        if self.timer:
            self.timer.cancel()
        if self.process.poll() is not None:
            return ""
        self.process.terminate()
        assert self.process.wait(30) == 0, self.printed()
        return self.printed()

    def printed(self) -> str:
        return (self.work.parent / "printed").read_text()

    def check(self) -> None:
        """Everything the journey promises, once each."""
        for told in (self.told, self.reviewed):
            assert [item.seq for item in told] == list(range(1, len(told) + 1))
        database = open_database(self.home.database, SteppedClock())
        runs = Runs(database, CountedIds())
        states = {row["kind"]: row["status"] for row in database.all("SELECT kind, status FROM runs")}
        assert states == {"turn": "completed", "review": "completed"}, [t.event for t in self.told]
        assert [t.seq for t in runs.told(self.run_id, limit=10_000)] == [t.seq for t in self.told]
        said = [(row["role"], row["text"]) for row in database.all("SELECT * FROM messages WHERE session_id NOT NULL")]
        assert [role for role, _ in said] == ["user", *["assistant", "tool"] * 4, "assistant"]
        assert (said[0][1], said[-1][1]) == (WISH, "The workshop is tidy.")
        lines = (self.work / "effects.txt").read_text().split() if (self.work / "effects.txt").exists() else []
        for line, result in (("once", said[4][1]), ("removed", said[6][1])):
            assert lines.count(line) <= 1
            assert lines.count(line) == 1 or MAYBE in result, (line, result)
        assert said[8][1] == "blue"
        open_ones = database.all("SELECT id FROM approvals WHERE decided IS NULL")
        assert open_ones == []
        assert (self.home.skills / "general/tidying/SKILL.md").read_text() == SKILL
        database.close()


def travel(folder: Path, url: str, kills: list[int | float]) -> Journey:
    journey = Journey(folder, url, kills)
    try:
        journey.go()
        journey.points = journey.end()
        journey.check()
    except (AssertionError, AssistantError) as fault:
        raise AssertionError(f"{folder.name}: killed at {kills}, {journey.killed} times: {fault}") from fault
    finally:
        journey.process.kill()
        journey.process.wait()
    return journey


def enumerated(tmp_path: Path, wanted) -> int:
    kills = 0
    with OpenAIServer(script=SCRIPT) as server:
        total = int(travel(tmp_path / "whole", server.base_url, []).points)
        assert total > 60
        for point in wanted(total):
            kills += travel(tmp_path / f"point{point}", server.base_url, [point]).killed
    return kills


def at_random(tmp_path: Path, journeys: int, deaths: int) -> int:
    kills, chance = 0, Random(7)
    with OpenAIServer(script=SCRIPT) as server:
        for number in range(journeys):
            moments = [chance.uniform(0.3, 2.0) for _ in range(deaths)]
            kills += travel(tmp_path / f"random{number}", server.base_url, moments).killed
    return kills


def again_and_again(tmp_path: Path, chance: Random) -> int:
    """Runs whose servers die nine times each, at points: also while they take the run up again."""
    kills = 0
    with OpenAIServer(script=SCRIPT) as server:
        for number in range(20):
            points: list[int | float] = [chance.randint(1, 86), *(chance.randint(1, 30) for _ in range(8))]
            kills += travel(tmp_path / f"again{number}", server.base_url, points).killed
    return kills


def test_a_kill_at_some_points_loses_nothing_and_repeats_nothing(tmp_path):
    assert enumerated(tmp_path, lambda total: range(4, total, max(1, total // 6))) >= 5


def test_kills_at_random_times_lose_nothing(tmp_path):
    at_random(tmp_path, 1, 3)


@pytest.mark.long
def test_a_thousand_kills_lose_nothing_and_repeat_nothing(tmp_path):
    kills = enumerated(tmp_path, lambda total: range(1, total + 1))
    kills += at_random(tmp_path, 20, 9)
    while kills < 1000:
        kills += again_and_again(tmp_path / str(kills), Random(kills))
