"""Tagged reasoning, however it is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.llm.thinking import Thinking


def split(*pieces):
    thinking = Thinking()
    chunks = [chunk for piece in pieces for chunk in thinking.split(piece)] + list(thinking.rest())
    return "".join(c.reasoning for c in chunks), "".join(c.text for c in chunks)


@pytest.mark.parametrize(
    ("whole", "reasoning", "text"),
    [
        ("<think>hm</think>\n\nyes", "hm", "yes"),
        ("\n<thinking>a < b</thinking> c", "a < b", "c"),
        ("no tags", "", "no tags"),
        ("a <think>b</think>", "", "a <think>b</think>"),
        ("<thin", "", "<thin"),
        ("<thinner>", "", "<thinner>"),
        ("<think>open", "open", ""),
        ("<think></think>x", "", "x"),
        ("<think>a</thi", "a</thi", ""),
        ("  lead", "", "  lead"),
        ("<think>a</think> <think>b</think>", "a", "<think>b</think>"),
    ],
)
def test_the_same_however_it_is_cut(whole, reasoning, text):
    for size in range(1, len(whole) + 1):
        assert split(*(whole[i : i + size] for i in range(0, len(whole), size))) == (reasoning, text)


@given(st.lists(st.text(alphabet="<>/think ab")))
def test_nothing_is_lost_without_a_tag_at_the_start(pieces):
    whole = "".join(["x", *pieces])
    assert split("x", *pieces) == ("", whole)
