import pytest

from assistant.client.blocks import Draft, recent, split

ANSWER = """# 제목

Hello **world**
second line

- one

- two
  - nested

1. first
2. second

```python
# a comment

print("한글")
```

| a | b |
|---|---|
| 1 | 2 |

> quoted

done"""


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1000])
def test_a_reply_that_arrives_in_pieces_gives_the_same_blocks_as_the_whole(size):
    draft = Draft()
    told = [block for n in range(0, len(ANSWER), size) for block in draft.add(ANSWER[n : n + size])]
    assert told + draft.end() == split(ANSWER)


def test_only_the_last_block_is_unfinished():
    draft = Draft()
    assert draft.add("one\n\ntwo\n\nthr") == ["one", "two"]
    assert draft.add("ee\n\n# four\n") == ["three"]
    assert draft.rest.strip() == "# four"


def test_an_open_code_block_is_never_cut_at_its_blank_lines():
    draft = Draft()
    assert draft.add("```\na\n\nb\n\n") == []
    assert draft.add("```\n\nafter\n") == ["```\na\n\nb\n\n```"]


def test_a_dropped_draft_leaves_nothing():
    draft = Draft()
    draft.add("half a sen")
    draft.drop()
    assert draft.end() == []


def test_no_word_is_lost_between_blocks():
    source = "<div>\nraw\n</div>\n\n[1]: http://x.y\n\ntext [1]\n\n***"
    assert "".join("".join(split(source)).split()) == "".join(source.split())


def test_the_recent_lines_of_code_are_still_code():
    assert recent("```py\n" + "\n".join("abcdef"), 2) == "```py\ne\nf"
    assert recent("one\ntwo", 5) == "one\ntwo"
