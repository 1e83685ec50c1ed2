"""What the heartbeat does, by our clock."""

from datetime import UTC, datetime, timedelta

import pytest

from assistant.core.ports import Start
from assistant.runtime.housekeeping import Known, beat, due
from tests.fakes.model import calls, says
from tests.fakes.world import World

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.close()


@pytest.mark.parametrize(
    ("known", "chores"),
    [
        (Known(sweep=True, living=False, forgot=None), ("orphans", "sweep", "forget")),
        (Known(sweep=False, living=False, forgot=None), ("orphans", "forget")),
        (Known(sweep=True, living=True, forgot=None), ("orphans", "sweep")),
        (Known(sweep=True, living=False, forgot=NOW - timedelta(hours=23)), ("orphans", "sweep")),
        (Known(sweep=True, living=False, forgot=NOW - timedelta(hours=24)), ("orphans", "sweep", "forget")),
        (Known(sweep=True, living=False, forgot=NOW + timedelta(days=9)), ("orphans", "sweep", "forget")),
    ],
)
def test_what_is_due(known, chores):
    assert due(NOW, known) == chores


def reviews(world):
    return [row["kind"] for row in world.parts.ledger.reviews()]


def test_a_session_that_rests_is_looked_back_at_once(world):
    world.script(says("hello"), says("Nothing to save."))
    world.ask("hi")
    beat(world.parts, world.working.executor)
    assert reviews(world) == []

    world.clock.advance(hours=2, minutes=1)
    beat(world.parts, world.working.executor)
    world.clock.advance(hours=3)
    beat(world.parts, world.working.executor)

    assert len(reviews(world)) == 1


def test_no_sweep_where_the_settings_say_so(world):
    world.configure("review: {sweep: false}\n")
    world.script(says("hello"))
    world.ask("hi")
    world.clock.advance(hours=3)

    beat(world.parts, world.working.executor)

    assert reviews(world) == []


def test_old_events_go_and_what_they_led_to_stays(world):
    world.script(says("hello"), says("and again"))
    old = world.ask("hi")
    world.clock.advance(days=31)
    new = world.ask("again")

    beat(world.parts, world.working.executor)

    assert world.parts.runs.told(old.run_id) == []
    assert [told.event for told in world.parts.runs.told(new.run_id)] == new.events
    assert world.parts.runs.row(old.run_id)["output"] == "hello"
    assert [m.text for m in world.messages()] == ["hi", "hello", "again", "and again"]
    assert list(world.runs.events(old.run_id)) == []


def test_nothing_is_forgotten_while_a_run_lives(world):
    world.script(says("hello"), calls("terminal", command="rm -rf build"), says("done"))
    old = world.ask("hi")
    world.clock.advance(days=31)
    living = world.start("clean")
    asked = next(t.event for t in world.runs.events(living) if t.event.type == "approval.requested")

    beat(world.parts, world.working.executor)

    assert world.parts.runs.told(old.run_id) != []
    world.runs.decide(living, "deny", asked.approval_id)
    world.follow(living)


def test_a_run_of_a_dead_process_is_taken_up(world):
    world.script(says("hello"))
    with world.parts.database.writing() as tx:
        session = world.parts.sessions.create(tx, "m", workdir=str(world.work))
        run_id = world.parts.runs.queue(tx, Start("hi"), "turn", session)
        world.parts.runs.set(tx, run_id, status="running", executor="exe_gone", beat=world.parts.database.now())

    beat(world.parts, world.working.executor)

    row = world.parts.runs.row(run_id)
    assert (row["status"], row["resumed"], row["executor"]) == ("queued", 1, "")
