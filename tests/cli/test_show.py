import io

import pytest

from assistant.cli.show import Show, Streams, folded
from tests.cli.scene import Shell


def printed(show, *items):
    out, notes = io.StringIO(), io.StringIO()
    with_streams = Show(show.json, show.colour, show.width, show.zone, Streams(out, notes))
    with_streams.items(items, "name size text", "nothing here")
    return out.getvalue(), notes.getvalue()


KOREAN = {"name": "한국어 도움말", "size": 1, "text": "가나다라마바사아자차카타파하"}
PLAIN = {"name": "plain", "size": 1000, "text": "abc"}


def test_columns_line_up_by_cells_in_any_script():
    out, _ = printed(Show(), KOREAN, PLAIN)
    assert out == (
        "NAME           SIZE  TEXT\n"
        "한국어 도움말  1     가나다라마바사아자차카타파하\n"
        "plain          1000  abc\n"
    )  # fmt: skip


def test_only_the_end_of_a_line_is_cut_and_never_through_a_wide_character():
    out, _ = printed(Show(width=29), KOREAN)
    assert out.splitlines()[1] == "한국어 도움말  1     가나다…"


def test_a_long_note_is_broken_at_spaces_and_its_paths_stay_whole():
    path = "/a/very/long/path/with-hyphens/that/is/wider/than/any/window"
    assert folded(f"  it is in {path} now", 20) == ["  it is in", path, "now"]
    assert folded("", 20) == [""]


def test_an_empty_list_says_so_among_the_notes_and_is_an_array_for_programs():
    assert printed(Show()) == ("", "nothing here\n")
    assert printed(Show(json=True)) == ("[]\n", "")


def test_text_of_unknown_making_cannot_touch_the_terminal():
    out, _ = printed(Show(), PLAIN | {"text": "a\x1b[2Jb\nc\u202e"})
    assert out.splitlines()[1].endswith("ab c")


@pytest.mark.parametrize(("colour", "marks"), [(True, 3), (False, 0)])
def test_a_difference_has_colours_only_where_there_is_colour(colour, marks):
    out = io.StringIO()
    Show(colour=colour, streams=Streams(out, io.StringIO())).diff("@@ -1 +1 @@\n-old\n+new\n same\n")
    assert out.getvalue().count("\x1b[0m") == marks


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals_that_have_it(tmp_path, environ, coloured):
    shell = Shell(tmp_path, **environ)
    out = Terminal()
    assert shell.through(shell.world(), out, io.StringIO(), "skills", "list").code == 0
    assert ("\x1b[" in out.getvalue()) == coloured
