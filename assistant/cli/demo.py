"""`assistant demo`: a story of learning, told by a scripted model over the real program."""

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
    play(place(given.home), given.world, Theatre(show.streams.out, monotonic, sleep, show.colour, alive))


commands = {"demo": alone(demo)}
