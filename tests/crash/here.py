"""One `ask --here` that kills itself at a chosen point: `python -m tests.crash.here HOME URL POINT TEXT`.

Prints the number of points passed.
"""

import sys

from assistant.core.ports import Start
from assistant.wiring.build import Working
from tests.crash.dying import assembled, passed


def main() -> None:
    text = sys.argv[4]
    assembly = assembled(*sys.argv[1:3])
    with Working(assembly, only_own=True) as working:
        if not working.parts.sessions.newest():
            working.runs.start(Start(text))
        for row in working.parts.database.all("SELECT id FROM runs ORDER BY rowid"):
            working.finish([row["id"]])
        while (row := working.parts.database.one("SELECT id FROM runs WHERE finished IS NULL")) is not None:
            working.finish([row["id"]])
    print(passed())


main()
