"""Sessions and messages over a real file."""

import pytest

from assistant.core.messages import Call, Message
from assistant.errors import NotFound
from assistant.store.database import integrity, open_database
from assistant.store.sessions import Sessions, excerpt
from skills_store.values import Origin
from tests.fakes.world import CountedIds, SteppedClock


@pytest.fixture
def sessions(tmp_path):
    database = open_database(tmp_path / "assistant.db", SteppedClock())
    yield Sessions(database, CountedIds())
    database.close()


def create(sessions, *texts):
    with sessions.database.writing() as tx:
        session = sessions.create(tx, "m")
        for text in texts:
            sessions.add(tx, session, "", Message("user", text, origin=Origin.YOU))
    return session


def test_a_message_comes_back_as_it_was(sessions):
    message = Message(
        "assistant",
        "shown",
        (Call("1", "a", '{"x": 1}'),),
        origin=Origin.UNTRUSTED,
        sent="sent",
        reasoning="because",
    )
    with sessions.database.writing() as tx:
        session = sessions.create(tx, "m")
        number = sessions.add(tx, session, "run", message)

    [found] = sessions.messages(session)

    assert found == Message(**{**{f: getattr(message, f) for f in message.__slots__}, "number": number})


@pytest.mark.parametrize(
    "words", ["don't", "src/main.py", "me@server", "75%", "auto-save", "22.10", "6f1c0c1e-11aa-4c1c-9a77-0d7c2f7d2f11"]
)
def test_everyday_punctuation_finds_its_message(sessions, words):
    session = create(sessions, f"before {words} after", "something else")

    [hit] = sessions.search(words)

    assert (hit.session_id, words in hit.excerpt) == (session, True)


def test_a_korean_compound_is_found_inside_longer_words(sessions):
    create(sessions, *["서울지하철역에서"] * 8, "지하철 타고", "지하철")

    assert len(sessions.search("지하철", limit=20)) == 10


@pytest.mark.parametrize(("words", "found"), [("100% 완료", "100% 완료"), ("a_b 배포", "a_b 배포")])
def test_signs_are_taken_literally(sessions, words, found):
    create(sessions, "100% 완료", "100 완료", "a_b 배포", "aXb 배포")

    assert [hit.excerpt for hit in sessions.search(words)] == [found]


@pytest.mark.parametrize("words", ["", "   ", "!!!", '"', "AND", "(", "NEAR(", "*"])
def test_no_query_is_an_error(sessions, words):
    create(sessions, "plain words")

    assert sessions.search(words) == []


def test_what_tools_printed_is_not_searched(sessions):
    with sessions.database.writing() as tx:
        session = sessions.create(tx, "m")
        sessions.add(tx, session, "", Message("tool", "needle"))

    assert sessions.search("needle") == []


def test_a_deleted_session_leaves_nothing_to_find(sessions):
    session = create(sessions, "the needle")
    other = create(sessions, "another needle")

    sessions.delete(session)

    assert [hit.session_id for hit in sessions.search("needle")] == [other]
    with pytest.raises(NotFound, match="sessions list"):
        sessions.row(session)


def test_a_fork_holds_what_came_before_the_named_message(sessions):
    session = create(sessions, "one", "two", "three")
    third = sessions.messages(session)[2].number

    fork = sessions.fork(session, before_message=third)

    assert [m.text for m in sessions.messages(fork)] == ["one", "two"]
    assert [m.text for m in sessions.messages(session)] == ["one", "two", "three"]


def test_a_fork_in_the_middle_of_calls_leaves_no_call_without_result(sessions):
    session = create(sessions, "go")
    with sessions.database.writing() as tx:
        sessions.add(tx, session, "", Message("assistant", "", (Call("1", "a", "{}"), Call("2", "a", "{}"))))
        sessions.add(tx, session, "", Message("tool", "one", answers="1"))

    assert [m.text for m in sessions.messages(sessions.fork(session))] == ["go"]


def test_messages_put_away_are_searched_and_shown_but_not_sent(sessions):
    session = create(sessions, "old needle", "new")
    old, new = sessions.messages(session)
    with sessions.database.writing() as tx:
        summary = Message("user", "what was", name="summary", sent="<earlier>")
        sessions.put_away(tx, session, [old], summary, new.number)

    assert [m.text for m in sessions.messages(session)] == ["what was", "new"]
    assert [m.text for m, _ in sessions.transcript(session)] == ["old needle", "new"]
    assert [hit.message_id for hit in sessions.search("needle")] == [old.number]


def test_an_excerpt_shows_the_place_on_one_line():
    text = "x " * 100 + "the\nneedle here" + " y" * 100

    assert excerpt(text, "needle", around=12) == "…x x x x the needle here…"


def test_a_damaged_search_index_is_noticed_and_made_anew_from_the_messages(sessions):
    session = create(sessions, "the needle", "지하철")
    path = sessions.database.path
    sessions.database.execute("UPDATE words_data SET block = X'00' WHERE id > 10")
    assert integrity(path) != []

    assert sessions.rebuild_search() == 2

    assert integrity(path) == []
    assert [hit.session_id for hit in sessions.search("needle")] == [session]
