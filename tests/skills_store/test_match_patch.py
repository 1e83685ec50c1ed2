"""A patch finds what it means, says how, and changes nothing when it is not sure."""

import pytest

from skills_store.match import AlreadyApplied, Ambiguous, NoMatch, Replaced, replace


@pytest.mark.parametrize(
    ("text", "old", "new", "result", "how"),
    [
        ("one two three", "two", "2", "one 2 three", "exact"),
        ("a\r\nb\r\nc\r\n", "a\nb", "a\nx", "a\r\nx\r\nc\r\n", "line ends"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", "exact"),
        (
            "run  the\ttests  \nnow",
            "run the tests\nnow",
            "run the tests\nlater",
            "run  the\ttests  \nlater",
            "whitespace",
        ),
        ("say “hi” — now…", 'say "hi" - now...', 'say "hi" - later', "say “hi” — later", "typography"),
        ("cafe\u0301 first", "café first", "café last", "cafe\u0301 last", "typography"),
        ("a\u00a0b c", "a b c", "a b d", "a\u00a0b d", "typography"),
        ("first\nlast", "\nlast\n\n", "\nend\n\n", "first\nend", "edges"),
        ("line1\nline2\nline3", "line1\\nline2", "lineA\\nlineB", "lineA\nlineB\nline3", "escapes"),
        (
            "if x:\n    go()\n    stop()\n",
            "go()\n  stop()",
            "go()\n  halt()",
            "if x:\n    go()\n    halt()\n",
            "indentation",
        ),
        ("- a\n\t- b\n", "- a\n  - b", "- a\n  - b\n    - c", "- a\n\t- b\n\t  - c\n", "indentation"),
    ],
)
def test_a_place_is_found_and_the_way_is_said(text: str, old: str, new: str, result: str, how: str):
    assert replace(text, old, new) == Replaced(result, how, 1)


def test_backslash_n_in_code_stays_when_it_is_meant():
    assert replace('print("a\\n")', 'print("a\\n")', 'print("b\\n")') == Replaced('print("b\\n")', "exact", 1)


def test_lines_that_have_their_indentation_do_not_get_it_twice():
    text = "    - script: |\r\n    start\r\n        inner one\r\n        inner two\r\n"
    outcome = replace(text, "start\n        inner one\n        inner two", "start\n        inner one\n        inner 2")
    assert isinstance(outcome, Replaced)
    assert outcome.text == text.replace("inner two", "inner 2")


def test_an_uneven_indentation_is_refused_with_the_reason():
    outcome = replace("  a()\n    b()\n", " a()\n b()", " a()\n c()")
    assert isinstance(outcome, NoMatch)
    assert "uneven indentation" in outcome.message


@pytest.mark.parametrize("old", [None, "", "   ", "\n\t"])
def test_an_empty_search_is_refused_and_says_how_to_go_on(old: str | None):
    outcome = replace("text", old, "new")
    assert isinstance(outcome, NoMatch)
    assert "copy the exact text" in outcome.message


def test_several_places_are_shown_and_nothing_changes():
    outcome = replace("- go\n- stop\n- go\n", "- go", "- run")
    assert isinstance(outcome, Ambiguous)
    assert outcome.places == ("line 1: - go", "line 3: - go")


def test_all_places_are_replaced_on_request_and_counted():
    assert replace("- go\n- stop\n- go\n", "- go", "- run", all=True) == Replaced("- run\n- stop\n- run\n", "exact", 2)


def test_overlapping_places_are_ambiguous_too():
    assert isinstance(replace("aXaXa", "aXa", "b"), Ambiguous)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("## Steps\n- check the queue\n", "## Steps", "## Steps\n- check the queue"),
        ("use the new way of doing it\n", "use the old way of doing it", "use the new way of doing it"),
        ("say “the new words” here\n", "say the old words", 'say "the new words" here'),
        ("text", "text", "text"),
    ],
)
def test_a_patch_that_was_applied_before_is_told_apart(text: str, old: str, new: str):
    assert isinstance(replace(text, old, new), AlreadyApplied)


def test_a_miss_shows_the_nearest_place_with_its_line():
    outcome = replace("# Title\n\nRun the tests twice.\nThen deploy.\n", "Run all the tests twice now.", "x")
    assert isinstance(outcome, NoMatch)
    assert "    3| Run the tests twice." in outcome.nearest


def test_nothing_near_shows_nothing():
    assert replace("abc\n", "zzzzzzzz qqqqqqq", "x") == NoMatch(
        "old_string is not in the file; nothing in the file comes close: view the file and copy the exact text"
    )


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Step 2: restart the worker\n", "Step 3: restart the worker"),
        ("port: 8080\n", "port: 9090"),
        ("You must not restart the worker\n", "You must restart the worker"),
        ("Always ask before a deploy to the cluster\n", "Always ask after a deploy to the cluster"),
        ("call api_v_one with the token\n", "call api_v_two with the token"),
        ("first restart nginx and then look at the log of it\n", "first restart redis and then look at the log of it"),
        ("Ask Anna to look at the report\n", "Ask Anne to look at the report"),
        ("배포 전에 반드시 확인한다 그리고 기록한다\n", "배포 후에 반드시 확인한다 그리고 기록한다"),
        ("서버를 다시 시작하지 않는다 그리고 기록한다\n", "서버를 다시 시작한다 그리고 기록한다"),
    ],
)
def test_numbers_negations_and_names_never_stand_for_each_other(text: str, old: str):
    for strict in (True, False):
        assert isinstance(replace(text, old, "changed", strict=strict), NoMatch)


def test_likeness_is_for_the_person_only():
    text, old = "Use the deploy script to roll out the change\n", "Use the deploi script to roll out the change"
    assert isinstance(replace(text, old, "x", strict=True), NoMatch)
    assert replace(text, old, "Roll out", strict=False) == Replaced("Roll out\n", "likeness", 1)


def test_likeness_in_two_places_changes_nothing_even_on_request():
    line = "use the deploy script to roll out the change\n"
    outcome = replace(line * 2, "use the deploi script to roll out the change", "x", all=True, strict=False)
    assert isinstance(outcome, Ambiguous)


def test_deleting_is_an_empty_new_text():
    assert replace("keep\ndrop\n", "drop\n", "") == Replaced("keep\n", "exact", 1)
