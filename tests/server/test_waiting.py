"""Waiting holds no place, stopping is quick, and what went wrong outside is waited out."""

import sqlite3
from threading import Event, Thread

import pytest

from assistant.store.database import Database
from tests.fakes.model import UNTIL_STOPPED, calls, says
from tests.fakes.served import Served
from tests.fakes.waiting import until


class Narrow(Served):
    """A server with one place."""

    def build(self):
        self.working_settings()
        return super().build()

    def working_settings(self) -> None:
        config = "server: {max_concurrent_runs: 1}\n"
        if (self.home / "config.yaml").read_text() != config:
            (self.home / "config.yaml").write_text(config)
            self.assembly = type(self.assembly)(self.assembly.world, self.home)


@pytest.fixture
def narrow(tmp_path):
    world = Narrow(tmp_path)
    yield world
    world.close()


def status(served, run_id):
    return served.get(f"/v1/runs/{run_id}").json()["status"]


def test_a_run_that_waits_for_a_person_leaves_its_place_to_another(narrow):
    narrow.script(calls("terminal", command="rm -rf build"), says("quick"), says("done"))
    waiting = narrow.run("clean")
    asked = narrow.until(waiting, "approval.requested")

    assert narrow.frames(narrow.run("hello", session_id=""))[-1].data["output"] == "quick"

    assert status(narrow, waiting) == "waiting_for_approval"
    (open_one,) = narrow.get(f"/v1/runs/{waiting}").json()["approvals"]
    assert open_one["approval_id"] == asked.data["approval_id"]
    assert open_one["tool"] == "terminal"
    assert narrow.post(f"/v1/runs/{waiting}/approval", decision="once").status_code == 200
    assert narrow.frames(waiting)[-1].data["output"] == "done"


def test_a_run_that_waits_is_stopped_although_every_place_is_taken(narrow):
    hold = Event()
    narrow.script(calls("terminal", command="rm -rf build"), [hold, *says("slow")])
    waiting = narrow.run("clean")
    narrow.until(waiting, "approval.requested")
    slow = narrow.run("be slow", session_id="")
    until(lambda: status(narrow, slow) == "running")

    narrow.post(f"/v1/runs/{waiting}/stop")

    until(lambda: status(narrow, waiting) == "cancelled")
    assert status(narrow, slow) == "running"
    hold.set()
    assert narrow.frames(slow)[-1].data["output"] == "slow"


def test_a_stop_ends_a_command_with_its_children(served):
    served.script(calls("terminal", command="touch begun; (sleep 60; touch late) & sleep 61"))
    run_id = served.run("wait")
    frames = served.following(run_id)
    asked = next(frame for frame in frames if frame.event in ("approval.requested", "tool.started"))
    if asked.event == "approval.requested":
        served.post(f"/v1/runs/{run_id}/approval", decision="once")
    until(lambda: (served.work / "begun").exists())

    served.post(f"/v1/runs/{run_id}/stop")

    assert [frame.event for frame in frames][-1] == "run.cancelled"
    assert not (served.work / "late").exists()


def test_the_history_after_a_stop_is_one_that_can_be_continued(served):
    served.script([*says("I begin"), UNTIL_STOPPED], says("again"))
    run_id = served.run("go")
    served.until(run_id, "message.delta")
    served.post(f"/v1/runs/{run_id}/stop")
    served.frames(run_id)

    assert served.frames(served.run("and now?", session_id=served.session))[-1].data["output"] == "again"

    roles = [message.role for message in served.model.requests[-1].messages]
    assert roles == ["user", "assistant", "user"]


def test_two_approvals_are_answered_by_their_ids_and_unnamed_is_a_conflict_with_the_list(served):
    served.script(calls("terminal", command="rm -rf a"), says("done"))
    run_id = served.run("clean")
    asked = served.until(run_id, "approval.requested")
    row = served.parts.runs.row(run_id)
    with served.parts.database.writing() as tx:
        tx.execute(
            "INSERT INTO approvals (id, run_id, call_id, call_hash, tool, arguments, why, created)"
            " VALUES ('apr_other', ?, 'c', 'h', 'terminal', '{}', 'because', ?)",
            (row["id"], row["created"]),
        )

    unnamed = served.post(f"/v1/runs/{run_id}/approval", decision="once")
    named = served.post(f"/v1/runs/{run_id}/approval", decision="deny", approval_id=asked.data["approval_id"])

    assert unnamed.status_code == 409
    assert "apr_other" in unnamed.json()["error"]["message"]
    assert asked.data["approval_id"] in unnamed.json()["error"]["message"]
    assert named.status_code == 200


def test_an_approval_that_nobody_answers_expires_and_is_no_refusal(served):
    served.script(calls("terminal", command="rm -rf a"), says("Then not."))
    run_id = served.run("clean")
    asked = served.until(run_id, "approval.requested")

    served.clock.advance(hours=24, seconds=1)

    frames = served.frames(run_id)
    resolved = next(frame for frame in frames if frame.event == "approval.resolved")
    assert (resolved.data["decision"], resolved.data["by"]) == ("expired", "timeout")
    assert "nobody answered in time" in next(f for f in frames if f.event == "tool.completed").data["result"]
    late = served.post(f"/v1/runs/{run_id}/approval", decision="once", approval_id=asked.data["approval_id"])
    assert late.status_code == 409


def test_an_approval_can_be_given_in_the_inbox(served):
    (served.work / "build").mkdir()
    served.script(calls("terminal", command="rm -rf build"), says("done"))
    run_id = served.run("clean")
    served.until(run_id, "approval.requested")
    (item,) = served.get("/v1/inbox").json()["data"]

    answer = served.post(f"/v1/inbox/{item['id']}", decision="approve")

    assert answer.status_code == 200
    assert served.frames(run_id)[-1].event == "run.completed"
    assert not (served.work / "build").exists()
    assert served.get("/v1/inbox").json()["data"] == []


def test_a_burst_of_messages_to_one_session_is_handled_in_order(served):
    (served.work / "count").write_text("0")
    hold = Event()
    served.script([hold, *says("first")], says("second"), says("third"))
    first = served.run("one")
    others = [served.run(text, session_id=served.session) for text in ("two", "three")]
    assert status(served, others[0]) == "queued"
    hold.set()

    for run_id in (first, *others):
        served.frames(run_id)

    said = [m.text for m in served.messages()]
    assert said == ["one", "first", "two", "second", "three", "third"]


def test_a_database_that_another_program_holds_is_waited_for(served):
    served.script(says("done"))
    other = sqlite3.connect(served.home / "assistant.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answers = []
    asking = Thread(target=lambda: answers.append(served.post("/v1/runs", input="hi")))
    asking.start()
    assert served.get("/v1/runs").json()["data"] == []
    assert served.get("/health").status_code == 200
    other.execute("COMMIT")
    other.close()
    asking.join(10)

    assert answers[0].status_code == 202
    assert served.frames(answers[0].json()["run_id"])[-1].event == "run.completed"


class Limited(Database):
    """A database on a disk that is full for as long as the test says so."""

    pages = 0

    @property
    def connection(self):
        found = super().connection
        found.execute(f"PRAGMA max_page_count={self.pages or 2**30}")
        return found


class FullDisk(Served):
    """A server on such a disk."""

    def build(self):
        self.disk = self.assembly.__dict__["database"] = Limited(self.assembly.database.path, self.clock)
        return super().build()


def test_a_full_disk_is_said_and_the_server_goes_on_when_there_is_room(tmp_path):
    world = FullDisk(tmp_path)
    hold, begun = Event(), Event()
    world.script([begun.set, hold, *says("x" * 500_000)], says("there is room"))
    run_id = world.run("go")
    assert begun.wait(10)

    world.disk.pages = world.disk.one("PRAGMA page_count")[0]
    refused = world.post("/v1/runs", input="x" * 500_000)
    hold.set()
    until(lambda: run_id not in world.working.engine.working())
    world.disk.pages = 0

    assert refused.status_code == 503
    assert "full" in refused.json()["error"]["message"]
    last = world.frames(run_id)[-1]
    assert last.event == "run.completed" or "full" in last.data["error"]
    again = world.run("and now?", session_id=world.session) if last.event != "run.completed" else run_id
    assert world.frames(again)[-1].data["output"] == "there is room"
    world.close()


def test_the_time_runs_only_while_somebody_is_there(served):
    served.close()
    (served.home / "config.yaml").write_text("approvals: {timeout: 1}\n")
    served.open()
    served.script(calls("terminal", command="rm -rf a"), says("Then not."))
    run_id = served.run("clean")
    until(lambda: status(served, run_id) == "waiting_for_approval")
    left = served.parts.database.one("SELECT attended_seconds FROM approvals")[0]

    frames = served.frames(run_id)

    assert left == 0
    assert next(f.data for f in frames if f.event == "approval.resolved")["decision"] == "expired"
    assert frames[-1].data["output"] == "Then not."
