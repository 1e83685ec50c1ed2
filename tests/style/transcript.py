"""The demo as the README shows it: with a clock that stands still, counted ids and a short path."""

import io
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from assistant.demo.stage import Theatre
from assistant.demo.story import CLOSING, play
from assistant.wiring.build import World
from tests.fakes.world import CountedIds

WHEN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
LAST = CLOSING.partition("\n")[0].strip("# ")
SHOWN = "/tmp/assistant-demo"


def transcript() -> str:
    """Both conversations as `assistant demo` prints them, the same in every place and at every time."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        environ = {"PATH": os.environ["PATH"], "HOME": folder}
        world = World(environ, Path(folder), lambda: WHEN, CountedIds(), lambda: 0.0)
        play(Path(folder), world, Theatre(out, lambda: 0.0, lambda seconds: None))
    told = out.getvalue().replace(folder, SHOWN)
    return f"````text\n{told[told.index('❯') : told.index(LAST)].rstrip()}\n````\n"
