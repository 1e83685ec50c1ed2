"""`make bench`: every row of DESIGN 12 that exists so far, measured in one run; the result stays in last.txt.

python tests/benchmarks/run.py [--long | CHAPTER …]     with chapters named, only those, and nothing is kept
"""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks import database, load, served, skills, turns
from tests.benchmarks.table import Row, printed

LAST = Path(__file__).with_name("last.txt")
CHAPTERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "turns": turns.rows,
    "served": served.rows,
    "skills": skills.rows,
    "database": database.rows,
    "load": load.rows,
    "long": database.long_rows,
}
ONLY_WHEN_ASKED = {"long"}


def main() -> None:
    """Measure, print, keep."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("chapters", nargs="*", help=f"only these: {', '.join(CHAPTERS)}")
    options.add_argument("--long", action="store_true", help="with what takes a minute more")
    given = options.parse_args()
    begun, before = monotonic(), os.getloadavg()[0]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="assistant-bench-") as folder:
        for name in given.chapters or [name for name in CHAPTERS if given.long or name not in ONLY_WHEN_ASKED]:
            for row in CHAPTERS[name](Path(folder) / name):
                rows.append(row)
                print(" ".join(row.cells()), file=sys.stderr, flush=True)
    head = (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {platform.python_version()}, {os.cpu_count()} cores,"
        f" load {before:.1f} before and {os.getloadavg()[0]:.1f} after, {monotonic() - begun:.0f} s\n\n"
    )
    print(head + printed(rows))
    if not given.chapters:
        LAST.write_text(head + printed(rows))


if __name__ == "__main__":
    main()
