import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from assistant.client.paint import Paint, cut, wrap

STYLING = re.compile(r"\x1b\[[0-9;]*m")
WORDS = st.text(st.sampled_from("ab 가나다한👍日é-|*`#>1.\n"), max_size=200)


def bare(lines):
    return [STYLING.sub("", line) for line in lines]


@given(WORDS, st.integers(8, 50))
def test_no_line_of_markdown_is_wider_than_the_window(source, width):
    assert all(cell_len(line) <= width for line in bare(Paint(lambda: width).markdown(source)))


@given(st.text(st.sampled_from("ab 가나👍"), max_size=80), st.integers(2, 30))
def test_folding_loses_no_word_and_keeps_the_width(line, width):
    pieces = wrap(line, width)
    assert all(cell_len(piece) <= width for piece in pieces)
    assert "".join(pieces).replace(" ", "") == line.replace(" ", "")


def test_a_wide_character_is_never_halved():
    assert cut("가나다라", 6) == "가나…"
    assert cut("가나", 4) == "가나"


def test_html_line_ends_links_and_pictures_stay_readable():
    text = "\n".join(bare(Paint(lambda: 60).markdown("a <b>c</b>\nd [here](http://x.y) ![pic](p.png)")))
    assert text == "a <b>c</b>\nd here (http://x.y) pic (p.png)"


def test_without_colour_there_is_no_escape_sequence():
    lines = Paint(lambda: 60, colour=False).markdown("# a\n\n**b** `c`\n\n```py\ndef f(): pass\n```")
    assert lines == ["a", "", "b c", "", "  def f(): pass"]


def test_no_line_ends_in_blanks_that_a_narrower_window_would_fold():
    lines = bare(Paint(lambda: 60).markdown("# a\n\nb\n\n- c\n\n> d\n\n```\ne\n```\n\n| f |\n|---|\n| g |"))
    assert [line for line in lines if line != line.rstrip()] == []


def test_without_markdown_the_source_is_shown():
    assert Paint(lambda: 60, markdown=False).markdown("**a**\n\n- b") == ["**a**", "", "- b"]


def test_hostile_text_in_an_answer_cannot_colour_or_move():
    assert "\x1b[2J" not in "\n".join(Paint(lambda: 60).markdown("a \x1b[2J b\n\n```\n\x1b[2J\n```"))
