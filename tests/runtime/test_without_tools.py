"""A model that cannot call tools: a short briefing, no tools, and nothing that would make it look back."""

from datetime import timedelta

import pytest

from assistant.errors import PersonMustAct
from assistant.runtime.housekeeping import sweep
from assistant.runtime.reviewing import by_hand
from tests.fakes.model import says
from tests.fakes.world import World


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.model.tools_supported = False
    yield world
    world.close()
    world.model.finished()


def test_it_gets_a_short_prompt_and_no_tools_and_the_persons_bare_words(world):
    world.script(says("Hello."))
    world.ask("hi")
    [request] = world.model.requests
    assert request.tools == ()
    assert len(request.system) < 500
    assert [m.wire_text for m in request.messages] == ["hi"]


def test_no_number_of_turns_makes_a_review_due_now_or_later(world):
    for _ in range(11):
        world.script(says("Hello."))
        assert "review.queued" not in world.ask("hi").types
    assert world.parts.ledger.counters(world.session) == (0, 0)

    world.clock.advance(days=1)
    world.model.tools_supported = True
    sweep(world.parts)
    assert world.parts.ledger.unreviewed((world.clock() + timedelta(days=1)).isoformat()) == []
    assert world.parts.ledger.reviews() == []


def test_asked_to_look_back_it_says_why_it_cannot(world):
    world.script(says("Hello."))
    world.ask("hi")
    with pytest.raises(PersonMustAct, match="takes a model that calls tools"):
        by_hand(world.parts, world.session, "")
    assert world.parts.ledger.reviews() == []
