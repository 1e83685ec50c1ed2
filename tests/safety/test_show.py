import pytest

from assistant.safety.show import escaped, one_line


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("ls \u202egnp.exe", "ls ⟨U+202E⟩gnp.exe"),
        ("r\u200bm x", "r⟨U+200B⟩m x"),
        ("ls\u2028rm x", "ls⟨U+2028⟩rm x"),
        ("ls\rrm x", "ls⟨U+000D⟩rm x"),
        ("ls\x1b[2Krm", "ls⟨U+001B⟩[2Krm"),
        ("ls\u00a0-l", "ls⟨U+00A0⟩-l"),
        ("ls\u3164x", "ls⟨U+3164⟩x"),
        ("echo 안녕 é 日本", "echo 안녕 é 日本"),
        ("a\n\tb", "a\n\tb"),
    ],
)
def test_what_cannot_be_seen_is_written_out(hidden, shown):
    assert escaped(hidden) == shown


def test_padding_does_not_push_a_command_out_of_sight():
    assert escaped("ls" + " " * 300 + "; x") == "ls ⟨298 more blanks⟩ ; x"


def test_a_long_command_is_shown_whole():
    assert escaped("a" * 500) == "a" * 500


def test_in_one_line_line_ends_are_written_out():
    assert one_line("ls\nrm x") == "ls⟨U+000A⟩rm x"
