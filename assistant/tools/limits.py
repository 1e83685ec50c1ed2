"""How long a result may be: the rest goes to a file that the result names."""

from collections.abc import Callable
from pathlib import Path

LONGEST = 100_000
"""Characters of one tool result."""
SHOWN = 90_000
"""Of a result that is too long, so many from its beginning are kept."""


def bound(text: str, spill: Callable[[str], Path]) -> str:
    """The text itself, or its beginning with a notice that names the file holding all of it."""
    if len(text) <= LONGEST:
        return text
    cut = text.rfind("\n", SHOWN - 2_000, SHOWN)
    shown = text[: cut if cut > 0 else SHOWN]
    where = spill(text)
    return f"{shown}\n[… {len(shown):,} of {len(text):,} characters shown; all of it is in {where}; read_file shows it]"


def shorten(text: str, most: int) -> str:
    """A text on one line, cut with a mark where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
