"""The port `Runs`, answered in process and over HTTP: nobody can tell which."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Flag

import pytest

from assistant.client.http_runs import Address, HttpRuns
from assistant.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
    ReplyEnded,
    RunCancelled,
    RunCompleted,
    Steered,
    TextArrived,
    ToolEnded,
    TurnQueued,
)
from assistant.core.ports import Runs, Start, Told
from assistant.errors import Conflict, NotFound, PersonMustAct
from tests.fakes.model import UNTIL_STOPPED, calls, says
from tests.fakes.served import Served


@dataclass
class Scene:
    """A world and the port over it."""

    world: Served
    runs: Runs

    def told(self, run_id: str, after: int = 0) -> list[Told]:
        return list(self.runs.events(run_id, after))

    def events(self, run_id: str) -> list[Event]:
        return [told.event for told in self.told(run_id)]

    def first(self, run_id: str, kind: type) -> Event:
        return next(told.event for told in self.runs.events(run_id) if isinstance(told.event, kind))


@pytest.fixture(params=["in process", "over http"])
def scene(request, tmp_path: Path) -> Iterator[Scene]:
    world = Served(tmp_path)
    runs: Runs = world.runs
    if request.param == "over http":
        runs = HttpRuns(Address(world.url, world.token), lambda: Address(world.url, world.token))
    yield Scene(world, runs)
    if isinstance(runs, HttpRuns):
        runs.close()
    world.close()


def test_a_run_tells_its_events_in_order_and_ends(scene):
    scene.world.script(says("Hello there."))

    started = scene.runs.start(Start("hi"))

    told = scene.told(started.run_id)
    assert [t.seq for t in told] == list(range(1, len(told) + 1))
    assert "".join(t.event.text for t in told if isinstance(t.event, TextArrived)) == "Hello there."
    assert isinstance(told[-1].event, RunCompleted)
    assert told[-1].event.output == "Hello there."
    assert all(t.at.tzinfo for t in told)


def test_a_late_reader_hears_the_same_and_may_begin_anywhere(scene):
    scene.world.script(says("one two three"))
    run_id = scene.runs.start(Start("hi")).run_id
    told = scene.told(run_id)

    assert scene.told(run_id) == told
    assert scene.told(run_id, after=2) == told[2:]
    assert scene.told(run_id, after=len(told)) == []


def test_a_second_turn_belongs_to_the_session_of_the_first(scene):
    scene.world.script(says("one"), says("two"))
    first = scene.runs.start(Start("hi"))
    scene.told(first.run_id)

    second = scene.runs.start(Start("again", session_id=first.session_id))

    scene.told(second.run_id)
    assert second.session_id == first.session_id
    assert [m.text for m in scene.world.messages(first.session_id)] == ["hi", "one", "again", "two"]


def test_the_same_key_and_wish_is_the_same_run_and_another_wish_is_a_conflict(scene):
    scene.world.script(says("one"))
    wish = Start("hi", idempotency_key="k")
    first = scene.runs.start(wish)
    scene.told(first.run_id)

    again = scene.runs.start(wish)

    assert (again.run_id, again.session_id, again.replayed) == (first.run_id, first.session_id, True)
    with pytest.raises(Conflict, match="'k' was used for another request"):
        scene.runs.start(Start("something else", idempotency_key="k"))


@pytest.mark.parametrize("wish", [Start(""), Start("  \n ")])
def test_an_empty_message_is_refused(scene, wish):
    with pytest.raises(PersonMustAct, match="the message is empty"):
        scene.runs.start(wish)


def test_what_is_unknown_is_not_found(scene):
    with pytest.raises(NotFound, match="no session 'ses_none'"):
        scene.runs.start(Start("hi", session_id="ses_none"))
    for ask in (
        lambda: next(scene.runs.events("run_none")),
        lambda: scene.runs.steer("run_none", "x"),
        lambda: scene.runs.stop("run_none"),
        lambda: scene.runs.decide("run_none", "once"),
        lambda: scene.runs.answer("run_none", "x"),
    ):
        with pytest.raises(NotFound, match="no run 'run_none'"):
            ask()


def test_words_for_a_running_turn_enter_before_its_next_step(scene):
    begun, hold = Flag(), Flag()
    (scene.world.work / "a.txt").write_text("a")
    scene.world.script([begun.set, hold, *calls("read_file", path="a.txt")], says("Both done."))
    run_id = scene.runs.start(Start("read a")).run_id
    assert begun.wait(10)

    accepted = scene.runs.steer(run_id, "and be brief")
    hold.set()

    events = scene.events(run_id)
    assert (accepted.mode, accepted.run_id) == ("steer", run_id)
    assert [e.text for e in events if isinstance(e, Steered)] == ["and be brief"]
    assert "and be brief" in scene.world.last_request()


def test_words_are_heard_however_early_they_come(scene):
    scene.world.script(says("Done."), says("Both done."))
    run_id = scene.runs.start(Start("begin")).run_id

    accepted = scene.runs.steer(run_id, "and be brief")

    scene.told(run_id)
    scene.told(accepted.run_id)
    heard = [m.wire_text for m in scene.world.messages(scene.world.parts.runs.row(run_id)["session_id"])]
    assert sum("and be brief" in text for text in heard) == 1


def test_queued_words_become_the_next_turn(scene):
    hold = Flag()
    scene.world.script([hold, *says("first")], says("second"))
    first = scene.runs.start(Start("one"))

    accepted = scene.runs.steer(first.run_id, "two", "queue")
    hold.set()

    assert accepted.mode == "queue"
    assert [e.run_id for e in scene.events(first.run_id) if isinstance(e, TurnQueued)] == [accepted.run_id]
    assert scene.events(accepted.run_id)[-1].output == "second"
    assert [m.text for m in scene.world.messages(first.session_id)] == ["one", "first", "two", "second"]


def test_words_for_a_run_that_is_over_are_the_next_turn(scene):
    scene.world.script(says("first"), says("second"))
    first = scene.runs.start(Start("one"))
    scene.told(first.run_id)

    accepted = scene.runs.steer(first.run_id, "two")

    assert accepted.mode == "queue"
    assert scene.events(accepted.run_id)[-1].output == "second"


def test_a_stop_ends_a_stalled_model_and_keeps_what_was_said(scene):
    scene.world.script([*says("I begin"), UNTIL_STOPPED])
    run_id = scene.runs.start(Start("go")).run_id
    scene.first(run_id, TextArrived)

    scene.runs.stop(run_id)
    scene.runs.stop(run_id)

    events = scene.events(run_id)
    assert isinstance(events[-1], RunCancelled)
    assert [e.message.text for e in events if isinstance(e, ReplyEnded)] == ["I begin"]
    scene.runs.stop(run_id)


def test_an_approval_is_decided_once(scene):
    hold = Flag()
    scene.world.script(calls("terminal", command="rm -rf build"), [hold, *says("gone")])
    run_id = scene.runs.start(Start("clean up")).run_id
    asked = scene.first(run_id, ApprovalRequested)

    with pytest.raises(NotFound, match="no approval 'apr_other'"):
        scene.runs.decide(run_id, "once", "apr_other")
    scene.runs.decide(run_id, "deny", asked.approval_id, "keep it")
    with pytest.raises(Conflict, match="not open any more"):
        scene.runs.decide(run_id, "once", asked.approval_id)
    hold.set()

    events = scene.events(run_id)
    assert [(e.decision, e.feedback) for e in events if isinstance(e, ApprovalResolved)] == [("deny", "keep it")]
    assert [e.message.failed for e in events if isinstance(e, ToolEnded)] == [True]
    with pytest.raises(Conflict, match="is over"):
        scene.runs.decide(run_id, "once", asked.approval_id)


def test_a_question_is_answered(scene):
    scene.world.script(calls("clarify", question="Which one?", choices=["red", "blue"]), says("blue it is"))
    run_id = scene.runs.start(Start("paint it")).run_id
    asked = scene.first(run_id, QuestionAsked)

    scene.runs.answer(run_id, "blue", asked.question_id)

    events = scene.events(run_id)
    assert [e.answer for e in events if isinstance(e, QuestionAnswered)] == ["blue"]
    assert asked.choices == ["red", "blue"] or asked.choices == ("red", "blue")
