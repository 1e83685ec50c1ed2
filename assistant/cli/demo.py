"""`assistant demo`: a story of learning, told by a scripted model over the real program."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep

import typer

from assistant.cli.given import alone, given_of


def demo(context: typer.Context) -> None:
    """Watch it learn: a scripted model, no account, a throwaway home."""
    from assistant.demo.stage import Theatre
    from assistant.demo.story import place, play

    given = given_of(context)
    show = given.show()
    alive = show.streams.out.isatty() and given.world.environ.get("TERM", "dumb") != "dumb"
    theatre = Theatre(show.streams.out, monotonic, sleep, show.colour, alive, program(given.world.environ))
    play(place(given.home), given.world, theatre)


def program(environ: Mapping[str, str]) -> str:
    """What to type for this program: it may not be on PATH."""
    if shutil.which("assistant", path=environ.get("PATH")):
        return "assistant"
    called = Path(sys.argv[0])
    return str(called) if called.name == "assistant" else f"{sys.executable} -m assistant"


commands = {"demo": alone(demo)}
