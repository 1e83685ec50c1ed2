"""A conversation that outgrows the window is shortened, and nothing of it is lost."""

import json

import pytest

from assistant.core.events import Compacted
from assistant.core.messages import Call, Message
from assistant.runtime.compaction import place_to_cut
from skills_store.values import Origin
from tests.fakes.model import calls, says
from tests.fakes.world import World

SMALL = "model: {context_window: 12000}\nskills: {creation_nudge_interval: 100}\nmemory: {nudge_interval: 100}\n"
LONG = "The harbour was built in 1890. " * 500


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.configure(SMALL)
    yield world
    world.close()
    world.model.finished()


def person(text):
    return Message("user", text, origin=Origin.YOU)


def long_talk(world, *then):
    world.script(says(LONG), says("Short."))
    world.ask("Tell me about the harbour")
    world.ask("And briefly?")
    world.script(says("## What was done\nTold of the harbour of 1890."), *then)


def test_the_older_part_becomes_a_summary_and_the_newest_words_stay(world):
    long_talk(world, says("In 1890."))
    world.script(says("nothing to save"))

    turn = world.ask("When was it built? " + "x" * 12000)

    [compacted] = [e for e in turn.events if isinstance(e, Compacted)]
    assert compacted.after < compacted.before
    request = next(r for r in reversed(world.model.requests) if "When was it built" in r.messages[-1].text)
    assert "Told of the harbour of 1890" in request.messages[0].wire_text
    assert LONG not in [m.text for m in request.messages]
    assert request.messages[-1].text.startswith("When was it built?")
    world.follow(world.parts.ledger.reviews()[0]["run_id"])


def test_what_was_put_away_is_still_shown_and_found(world):
    long_talk(world, says("In 1890."), says("nothing to save"))
    world.ask("When was it built? " + "x" * 12000)

    assert LONG in [m.text for m, _ in world.parts.sessions.transcript(world.session)]
    assert world.parts.sessions.search("harbour")
    world.follow(world.parts.ledger.reviews()[0]["run_id"])


def test_what_no_review_has_seen_is_looked_at_as_it_stood_before(world):
    long_talk(world, says("In 1890."), says("Nothing to save."))
    world.ask("When was it built? " + "x" * 12000)
    review = world.parts.ledger.reviews()[0]

    world.follow(review["run_id"])

    seen = [m.text for m in world.model.requests[-1].messages]
    assert LONG in seen
    assert review["kind"] == "both"


def test_a_summary_that_fails_to_come_leaves_everything_as_it_was(world):
    long_talk(world)
    world.model.replies[-1:] = [[], says("In 1890.")]

    turn = world.ask("When was it built? " + "x" * 12000)

    assert turn.answer == "In 1890."
    assert not any(isinstance(e, Compacted) for e in turn.events)
    assert LONG in [m.text for m in world.messages()]
    world.model.replies.append(says("nothing to save"))
    world.follow(world.parts.ledger.reviews()[0]["run_id"])


def test_the_cut_never_parts_a_call_from_its_results():
    results = [Message("tool", "r" * 400, answers=str(n)) for n in range(3)]
    reply = Message("assistant", "", tuple(Call(str(n), "a", "{}") for n in range(3)))
    talk = [person("one"), reply, *results, Message("assistant", "done"), person("two"), Message("assistant", "ok")]

    cuts = {place_to_cut(talk, keep) for keep in range(0, 2000, 10)}

    assert cuts == {0, 6}


def test_the_newest_message_of_the_person_always_stays():
    talk = [person("one"), Message("assistant", "x" * 9000), person("y" * 9000)]

    assert place_to_cut(talk, 10) == 2
    assert place_to_cut([person("y" * 9000)], 10) == 0


def test_a_short_conversation_is_left_alone(world):
    world.script(calls("todo", todos=[{"id": "1", "content": "a", "status": "pending"}]), says("ok"))

    assert "context.compacted" not in world.ask("hello").types
    assert json.loads(world.messages()[2].text)["success"]
