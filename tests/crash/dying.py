"""An assistant whose process kills itself at a chosen point, the third word of the command line.

Points count every durable step of the process, in order: each commit of the database (before and after it) and each
step of a change to the skills.  Point 0 never comes.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from assistant.store.database import Database, Tx
from assistant.wiring.build import Assembly, World

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


def assembled(home: str, url: str) -> Assembly:
    """The parts over a home, with a model at an address."""
    environ = {**os.environ, "OPENAI_BASE_URL": url, "HERMES_HOME": home}
    assembly = Assembly(World(environ, Path.cwd()))
    assembly.database.close()
    assembly.__dict__["database"] = Dying(assembly.home.database, assembly.world.clock)
    assembly.library.vault.told = point
    assembly.library.vault.landing.told = point
    return assembly


def passed() -> int:
    """How many points there were."""
    return next(POINTS) - 1
