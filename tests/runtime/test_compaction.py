"""A conversation that outgrows the window is shortened, and nothing of it is lost."""

import json

import pytest

from assistant.core.events import Compacted
from assistant.core.messages import Call, Message
from assistant.llm.faults import TooLong
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


def call(number, text="r" * 400):
    """A reply with one call, and its result."""
    wanted = Call(str(number), "a", "{}")
    return [Message("assistant", "", (wanted,)), Message("tool", text, answers=str(number))]


def test_the_cut_never_parts_a_call_from_its_results():
    results = [Message("tool", "r" * 400, answers=str(n)) for n in range(3)]
    reply = Message("assistant", "", tuple(Call(str(n), "a", "{}") for n in range(3)))
    talk = [person("one"), reply, *results, Message("assistant", "done"), person("two"), *call(4), *call(5), *call(6)]

    cuts = {place_to_cut(talk, keep)[1] for keep in range(0, 2000, 10)}

    assert cuts == {0, 6, 9, 11}
    assert all(talk[cut].role != "tool" for cut in cuts)


def test_the_newest_message_of_the_person_always_stays():
    talk = [person("one"), Message("assistant", "x" * 9000), person("y" * 9000)]

    assert place_to_cut(talk, 10) == (2, 2)
    assert place_to_cut([person("y" * 9000)], 10) == (0, 0)
    assert place_to_cut([person("y" * 9000), *call(1), *call(2)], 10) == (0, 3)


def test_a_turn_that_outgrows_the_window_by_itself_keeps_its_question_and_its_newest_results(world):
    for name in "abc":
        (world.work / name).write_text(f"{name}\n" * 8000)
    world.script(
        calls("todo", todos=[{"id": "1", "content": "Compare them", "status": "in_progress"}]),
        calls("skill_view", name="writing-a-skill"),
        calls("read_file", path="a"),
        calls("read_file", path="b", limit=2000),
        says("## What was done\nRead a."),
        calls("skill_view", name="writing-a-skill"),
        calls("read_file", path="c", limit=2000),
        says("## What was done\nRead a and b."),
        says("They differ."),
        says("Nothing to save."),
    )
    world.configure(SMALL.replace("12000", "9000"))

    turn = world.ask("Compare a, b and c")

    assert turn.answer == "They differ."
    assert turn.types.count("context.compacted") == 2
    sent = world.model.requests[8].messages
    assert [m.role for m in sent] == ["user", "user", "assistant", "tool"]
    assert "Read a and b." in sent[0].wire_text
    assert "[>] 1. Compare them" in sent[0].wire_text
    assert sent[1].text == "Compare a, b and c"
    assert sent[3].text.startswith("1|c")
    assert list(sent) == world.messages()[:-1]
    views = [m.text for m in turn.results() if m.name == "skill_view"]
    assert views[0] == views[1]
    world.follow(world.parts.ledger.reviews()[0]["run_id"])


TOO_LONG = TooLong("The conversation is too long for scripted.")


def test_a_conversation_that_the_provider_finds_too_long_is_shortened_and_asked_again(world):
    world.script(says("It is old. " * 300), TOO_LONG, says("## What was done\nTold of its age."), says("1890."))
    world.script(says("Nothing to save."))
    world.ask("How old is the harbour?")

    turn = world.ask("When was it built?")

    assert turn.answer == "1890."
    assert [t for t in turn.types if "message.r" in t or "context" in t] == ["message.restarted", "context.compacted"]
    assert [m.text for m in world.model.requests[3].messages][1:] == ["When was it built?"]
    world.follow(world.parts.ledger.reviews()[0]["run_id"])
    world.script(says("It stands."))
    assert world.ask("And now?").answer == "It stands."


def test_a_conversation_too_long_even_to_be_summarised_is_summarised_from_its_beginnings(world):
    world.script(says("It is old. " * 300), TOO_LONG, TOO_LONG, says("## What was done\nTold."), says("1890."))
    world.script(says("Nothing to save."))
    world.ask("How old is the harbour?")

    assert world.ask("When was it built?").answer == "1890."
    assert "assistant: It is old. It is old." in world.model.requests[3].messages[0].text
    world.follow(world.parts.ledger.reviews()[0]["run_id"])


def test_a_review_of_more_than_the_window_holds_is_given_beginnings(world):
    world.script(says("It is old. " * 3000), TOO_LONG, TOO_LONG, says("## What was done\nTold."), says("1890."))
    world.script(says("Nothing to save."))
    world.ask("How old is the harbour?")
    world.ask("When was it built?" + " now" * 100)

    assert world.follow(world.parts.ledger.reviews()[0]["run_id"]).types[-1] == "run.completed"

    assert len(world.model.requests[-1].messages[0].wire_text) < 2000


def test_a_message_too_long_by_itself_ends_the_turn_with_the_providers_sentence(world):
    world.script(TOO_LONG)

    assert "too long for scripted" in world.ask("x" * 1000).events[-1].error
    world.script(says("Yes."))
    assert world.ask("Are you there?").answer == "Yes."


def test_a_summary_as_long_as_what_it_stands_for_is_cut(world):
    world.script(says(LONG), says("Short."))
    world.ask("Tell me about the harbour")
    world.ask("And briefly?")
    world.script(says(LONG), says("In 1890."), says("Nothing to save."))

    turn = world.ask("When was it built? " + "x" * 12000)

    [compacted] = [e for e in turn.events if isinstance(e, Compacted)]
    assert compacted.after < compacted.before
    assert "the summary was too long" in world.messages()[0].text
    world.follow(world.parts.ledger.reviews()[0]["run_id"])


def test_a_short_conversation_is_left_alone(world):
    world.script(calls("todo", todos=[{"id": "1", "content": "a", "status": "pending"}]), says("ok"))

    assert "context.compacted" not in world.ask("hello").types
    assert json.loads(world.messages()[2].text)["success"]
