"""One process looks at a library of skills: the first time, again, and after somebody edited a file by hand.

python -m tests.benchmarks.look ROOT     prints milliseconds as JSON; imports are not counted
"""

import json
import sys
from dataclasses import astuple
from pathlib import Path

from tests.benchmarks.library import library, name_of, place_of, text_of
from tests.benchmarks.table import timed


def main(root: Path) -> None:
    """Look three times."""
    store = library(root)
    took = [timed(store.index) for _ in range(3)]
    lines = store.index()
    mine, before = root / place_of(3) / "SKILL.md", text_of(3)
    mine.write_text(before.replace("Use when", "Use whenever"))
    seen = any(r.name == name_of(3) and r.description.startswith("Use whenever") for r in store.records())
    mine.write_text(before)
    told = {"first": astuple(took[0]), "again": astuple(took[-1]), "seen": seen, "bytes": len(lines.encode())}
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
