"""Runs over HTTP: started, followed by anyone at any time, steered, stopped."""

from tests.fakes.model import calls, says


def test_a_run_is_accepted_and_its_events_are_numbered_from_one_without_gaps(served):
    (served.work / "a.txt").write_text("hello")
    served.script(calls("read_file", path="a.txt"), says("It says hello."))

    answer = served.post("/v1/runs", input="What does a.txt say?")

    assert answer.status_code == 202
    assert answer.json().keys() == {"run_id", "session_id", "status"}
    assert answer.json()["status"] == "started"
    frames = served.frames(answer.json()["run_id"])
    assert [frame.id for frame in frames] == list(range(1, len(frames) + 1))
    assert [frame.event for frame in frames if not frame.event.endswith(".delta")] == [
        "run.started",
        "message.completed",
        "tool.started",
        "tool.completed",
        "message.completed",
        "run.completed",
    ]
    for frame in frames:
        assert frame.data["run_id"] == answer.json()["run_id"]
        assert (frame.data["seq"], frame.data["type"]) == (frame.id, frame.event)
    assert frames[-1].data["output"] == "It says hello."
