import pytest

from assistant.errors import ModelCanFix
from assistant.store.sessions import Hit
from assistant.tools.recall import clarify, session_search
from skills_store.values import Origin
from tests.fakes.context import Desk, Past


def hit(origin=Origin.YOU, excerpt="the rent is due"):
    return Hit("s1", 3, "2026-02-01T09:00:00+00:00", "user", excerpt, "Rent", origin)


def test_hits_come_with_day_session_and_words(tmp_path):
    desk = Desk(tmp_path, sessions=Past(hit()))

    assert session_search.run(desk.context(), query="rent").text == "2026-02-01 s1 “Rent” user: the rent is due"
    assert desk.sessions.asked == [("rent", 5, "session-1")]


def test_what_rested_on_a_strangers_text_is_not_believed_later(tmp_path):
    desk = Desk(tmp_path, sessions=Past(hit(Origin.UNTRUSTED)))

    assert session_search.run(desk.context(), query="rent").origin is Origin.UNTRUSTED


def test_nothing_found_says_what_to_try(tmp_path):
    assert "other words" in session_search.run(Desk(tmp_path).context(), query="rent").text


def test_the_limit_is_checked_in_words():
    with pytest.raises(ModelCanFix, match=r"limit: .*20, not 99"):
        session_search.read('{"query": "rent", "limit": 99}')


def test_the_person_s_answer_is_the_person_s_word(tmp_path):
    result = clarify.run(Desk(tmp_path, answers=["blue"]).context(), question="Which colour?", choices=["red", "blue"])

    assert (result.text, result.origin) == ("blue", Origin.YOU)


def test_without_a_person_the_model_is_told(tmp_path):
    with pytest.raises(ModelCanFix, match="nobody is here"):
        clarify.run(Desk(tmp_path).context(), question="Which colour?")
