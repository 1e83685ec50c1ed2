"""Feeds the reader N made-up files: `python tests/skills_store/fuzz_document.py N [SEED]`.

Every file must give a document in a bounded time, a field must change alone, and nothing may be raised.
"""

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from skills_store.document import encode, read, with_field
from skills_store.links import dead_links
from skills_store.match import replace
from skills_store.validate import problems

SLOWEST = 2.0
PIECES = [
    *(
        "---",
        "---\n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "  ",
        ": ",
        ":",
        "- ",
        "#",
        " #",
        "'",
        '"',
        "|",
        ">-",
        ">2\n",
        "[",
        "]",
        "{",
        "}",
    ),
    *(
        "&a ",
        "*a",
        "!!binary ",
        "!t ",
        "? ",
        "...",
        "%YAML 1.2\n",
        "\\",
        "\\n",
        "\ufeff",
        "\x00",
        "\x07",
        "\u2028",
        "\x85",
    ),
    *(
        "name",
        "description",
        "name: a\n",
        "description: d\n",
        "platforms: ",
        "yes",
        "2024-01-01",
        "~",
        "null",
        "카페",
        "🚀",
        "e\u0301",
    ),
    *(
        "# Title\n",
        "[x](y.md)",
        "```\n",
        "<!--",
        "](",
        "![",
        "`references/a.md`",
        "* " * 30,
        "> " * 30,
        "[" * 40,
        "x" * 200,
    ),
]


def made_up(dice: random.Random) -> bytes:
    """A file of random pieces, most of them inside a header, some with broken bytes."""
    text = "".join(dice.choice(PIECES) for _ in range(dice.randrange(1, 40)))
    if dice.random() < 0.7:
        text = f"---\nname: a\ndescription: {text}\n---\nBody {dice.choice(PIECES)}\n"
    data = bytearray(text.encode())
    for _ in range(dice.choice([0, 0, 0, 1, 5])):
        data[dice.randrange(len(data))] = dice.randrange(256)
    return bytes(data)


def check(data: bytes) -> None:
    """Everything that must hold for any file."""
    document = read(data)
    assert isinstance(document.name, str), data
    assert isinstance(document.description, str), data
    assert "\n" not in document.name + document.description, data
    assert document.text.endswith(document.body), data
    if not (document.broken and "UTF-8" in document.broken.message):
        assert encode(document.text, document) == data, data
    if document.broken is None:
        renamed = read(with_field(data, "name", "renamed"))
        assert (renamed.name, renamed.body, renamed.broken) == ("renamed", document.body, None), data
        assert {k: v for k, v in renamed.header.items() if k != "name"} == {
            k: v for k, v in document.header.items() if k != "name"
        }, data
    problems(document, "a", files=("references/a.md",))
    dead_links(document.body, ())
    replace(document.text, document.body[:20] or "x", "y", strict=False)


def main(count: int, seed: int) -> None:
    """Try so many files and say how many there were and how long the slowest took."""
    dice, slowest = random.Random(seed), 0.0
    for _ in range(count):
        data = made_up(dice)
        before = time.perf_counter()
        check(data)
        slowest = max(slowest, time.perf_counter() - before)
    print(f"{count:,} files, seed {seed}, slowest {slowest * 1000:.1f} ms")
    assert slowest < SLOWEST, f"a file took {slowest:.1f} s"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
