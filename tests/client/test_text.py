import json

import pytest

from assistant.client.text import clean, duration, exact, one_line, spelled


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x9b2Jtext", "text"),
        ("\x1bPdevice\x1b\\text", "text"),
        ("a\rb\x08c\x00", "abc"),
        ("one\r\ntwo", "one\ntwo"),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("half \ud800 character", "half  character"),
        ("\x1b[", ""),
        ("가나 👨‍👩‍👧 ❤️", "가나 👨‍👩‍👧 ❤️"),
    ],
)
def test_nothing_in_shown_text_can_steer_the_terminal(hostile, harmless):
    assert clean(hostile) == harmless


def test_what_a_person_decides_about_hides_nothing():
    assert exact("rm -rf /\x1b[2K\u202e x\u200b\tok\n가") == "rm -rf /\\x1b[2K\\u202e x\\u200b\tok\n가"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("r\u200bm x", "r\\u200bm x"),
        ("ls\u2028rm x", "ls\\u2028rm x"),
        ("ls\rrm x", "ls\\rrm x"),
        ("ls\u00a0-l", "ls\\xa0-l"),
        ("ls\u3164x", "ls\\u3164x"),
        ("echo 안녕 é 日本", "echo 안녕 é 日本"),
        ("ls" + " " * 300 + "; x", "ls [… 298 more blanks …] ; x"),
        ("a" * 500, "a" * 500),
    ],
)
def test_what_cannot_be_seen_is_written_out_and_nothing_is_cut(hidden, shown):
    assert exact(hidden) == shown


def test_a_lone_command_is_spelled_as_it_would_be_typed():
    assert spelled(json.dumps({"command": "ls\nrm x"})) == "ls\nrm x"


def test_other_arguments_are_spelled_line_by_line_and_whole():
    text = spelled(json.dumps({"path": "a.txt", "content": "one\ntwo", "deep": {"한": 1}}))
    assert text == 'path: a.txt\ncontent: \n  one\n  two\ndeep: {"한": 1}'


@pytest.mark.parametrize("broken", ["{not json", "[1, 2]"])
def test_arguments_that_are_no_object_are_shown_as_they_came(broken):
    assert spelled(broken) == broken


def test_a_preview_is_one_bounded_line():
    assert one_line("a\n  b\tc\x1b[1m") == "a b c"
    assert len(one_line("x" * 5000)) == 400


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.04, "0.0 s"), (1.26, "1.3 s"), (9.96, "10 s"), (59.4, "59 s"), (61, "1 min 1 s")]
)
def test_durations_are_said_as_people_say_them(seconds, said):
    assert duration(seconds) == said
