"""One `ask --here` that kills itself at a chosen point: `python -m tests.crash.here HOME URL POINT TEXT`.

Points count every durable step of the process, in order: each commit of the database (before and after it) and each
step of a change to the skills.  Point 0 never comes.  Prints the number of points passed.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from assistant.core.ports import Start
from assistant.store.database import Database, Tx
from assistant.wiring.build import Assembly, Working, World

POINTS = count(1)


def point(_name: str = "") -> None:
    """Die here, if this is the chosen point."""
    if next(POINTS) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)


class Dying(Database):
    """Dies just before or just after one of its commits."""

    @contextmanager
    def writing(self) -> Iterator[Tx]:
        """As ever, with two points."""
        with super().writing() as tx:
            yield tx
            point()
        point()


def main() -> None:
    home, url, text = sys.argv[1], sys.argv[2], sys.argv[4]
    environ = {**os.environ, "OPENAI_BASE_URL": url, "HERMES_HOME": home}
    assembly = Assembly(World(environ, Path.cwd()))
    assembly.database.close()
    assembly.__dict__["database"] = Dying(assembly.home.database, assembly.world.clock)
    assembly.library.vault.told = point
    assembly.library.vault.landing.told = point
    with Working(assembly, only_own=True) as working:
        if not working.parts.sessions.newest():
            working.runs.start(Start(text))
        for row in working.parts.database.all("SELECT id FROM runs ORDER BY rowid"):
            working.finish([row["id"]])
        while (row := working.parts.database.one("SELECT id FROM runs WHERE finished IS NULL")) is not None:
            working.finish([row["id"]])
    print(next(POINTS) - 1)


main()
