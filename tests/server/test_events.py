"""Event streams: the same frames for everybody, at any time, and nobody holds up a run."""

from threading import Event

from assistant.client.http_runs import Address, HttpRuns
from assistant.server.feeds import LAST_TYPES
from tests.fakes.model import calls, says
from tests.fakes.waiting import until


def stable(frames):
    return [(frame.id, frame.event, frame.data) for frame in frames]


def test_a_late_and_a_second_reader_get_the_same_frames_from_one(served):
    hold = Event()
    served.script([*says("One two "), hold, *says("three.")])
    run_id = served.run("count")
    early = served.following(run_id)
    first = [next(early)]
    hold.set()

    first += list(early)

    assert stable(first) == stable(served.frames(run_id)) == stable(served.frames(run_id))
    assert first[0].id == 1


def test_a_reader_that_comes_back_misses_nothing_and_repeats_nothing(served):
    hold = Event()
    served.script([*says("One "), hold, *says("two three.")])
    run_id = served.run("count")
    stream = served.following(run_id)
    seen = [next(stream), next(stream)]
    stream.close()
    hold.set()

    rest = served.frames(run_id, after=seen[-1].id)

    assert [frame.id for frame in seen + rest] == list(range(1, rest[-1].id + 1))


def test_last_event_id_goes_before_after(served):
    served.script(says("One two three."))
    run_id = served.run("count")
    whole = served.frames(run_id)

    rest = served.frames(run_id, after=1, headers={"Last-Event-ID": "3"})

    assert stable(rest) == stable(whole[3:])


def test_a_stream_past_the_end_is_empty_and_ends(served):
    served.script(says("One."))
    run_id = served.run("count")
    last = served.frames(run_id)[-1].id

    assert served.frames(run_id, after=last) == []
    assert served.frames(run_id, after=last + 100) == []
    assert served.frames(run_id, after=2**62) == []


def test_the_stream_ends_after_the_last_event(served):
    served.script(says("One."))

    frames = served.frames(served.run("go"))

    assert frames[-1].event in LAST_TYPES
    assert not any(frame.event in LAST_TYPES for frame in frames[:-1])


def test_a_reader_that_reads_nothing_holds_nothing_up(served):
    (served.work / "a.txt").write_text("x" * 90_000)
    count = 12
    served.script(*(calls("read_file", path="a.txt") for _ in range(count)), says("done"))
    run_id = served.run("read a lot")
    with served.http.stream("GET", f"/v1/runs/{run_id}/events"):
        until(lambda: served.get(f"/v1/runs/{run_id}").json()["status"] == "completed")

    assert sum(frame.event == "tool.completed" for frame in served.frames(run_id)) == count


def test_many_readers_of_one_run_hear_all_of_it(served):
    hold = Event()
    served.script([*says("One "), hold, *says("two three four five.")])
    run_id = served.run("count")
    streams = [served.following(run_id) for _ in range(20)]
    heard = [[next(stream)] for stream in streams]
    hold.set()

    heard = [first + list(stream) for first, stream in zip(heard, streams, strict=True)]

    assert all(stable(frames) == stable(heard[0]) for frames in heard)
    assert heard[0][-1].event == "run.completed"


def test_the_events_of_a_review_name_the_review_they_queue(served):
    served.close()
    (served.home / "config.yaml").write_text("skills: {creation_nudge_interval: 1}\n")
    served.open()
    served.script(says("done"), says("Nothing to save."))

    queued = next(frame for frame in served.frames(served.run("go")) if frame.event == "review.queued")

    assert served.get(f"/v1/runs/{queued.data['run_id']}").json()["kind"] == "review"
    assert [frame.event for frame in served.frames(queued.data["run_id"])][-1] == "run.completed"
    (review,) = served.get("/v1/reviews").json()["data"]
    assert (review["run_id"], review["outcome"]) == (queued.data["run_id"], "nothing")


def test_a_stream_whose_events_were_forgotten_is_empty_and_ends(served):
    served.script(says("One."))
    run_id = served.run("go")
    served.frames(run_id)
    with served.parts.database.writing() as tx:
        tx.execute("DELETE FROM events")

    assert served.frames(run_id) == []
    runs = HttpRuns(Address(served.url, served.token), lambda: Address(served.url, served.token))
    assert list(runs.events(run_id)) == []
    runs.close()


def test_an_unknown_run_is_not_found_before_anything_is_sent(served):
    answer = served.get("/v1/runs/run_none/events")

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_a_nonsense_last_event_id_is_said(served):
    served.script(says("hi"))
    run_id = served.run("hi")

    answer = served.http.get(f"/v1/runs/{run_id}/events", headers={"Last-Event-ID": "x"})

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "Last-Event-ID")
