"""A server that kills itself at a chosen point: `python -m tests.crash.serving HOME URL POINT`.

Points count every durable step of the process, in order: each commit of the database (before and after it) and each
step of a change to the skills.  Point 0 never comes.  When it ends in order it prints the number of points passed.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from assistant.server.process import Listening, only_server, serve
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
    home, url = sys.argv[1:3]
    environ = {**os.environ, "OPENAI_BASE_URL": url, "HERMES_HOME": home}
    assembly = Assembly(World(environ, Path.cwd()))
    assembly.database.close()
    assembly.__dict__["database"] = Dying(assembly.home.database, assembly.world.clock)
    assembly.library.vault.told = point
    assembly.library.vault.landing.told = point
    lock = only_server(assembly.home)
    serve(assembly.home, Working(assembly, only_own=False), Listening("127.0.0.1", 0), lambda words: None)
    print(next(POINTS) - 1, flush=True)
    lock.release()
    os._exit(0)


main()
