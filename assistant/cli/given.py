"""What every command is given: the global options, and the parts of the assistant behind them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.show import Show, Streams
from assistant.errors import PersonMustAct
from assistant.home import Home, find_home

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly
    from assistant.wiring.world import Ground, World

LIMIT = 50
AT_THE_SERVER = "this is kept where the server runs: do it there, without --server"
Json = Annotated[bool, typer.Option("--json", help="One JSON value on standard output.")]
OfSession = Annotated[str, typer.Option("--session", metavar="ID", help="Of this session alone.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="Most to show.")]


@dataclass(frozen=True, slots=True)
class Given:
    """The global options."""

    home: str = ""
    server: str = ""
    outside: "World | None" = None
    """Instead of this process's own environment, folder and clock."""
    streams: Streams | None = None
    """Instead of standard output and standard error."""
    width: int = 0
    """Cells a line may take; 0: what the terminal has."""

    @property
    def world(self) -> "World":
        """Environment, working folder, clock and ids."""
        from assistant.wiring.world import World

        return self.outside or World.real()

    @property
    def place(self) -> Home:
        """Where the home is, whether it is there or not."""
        return Home(find_home(self.world.environ, self.home))

    def ground(self) -> "Ground":
        """The home and its settings, without the parts that do the work."""
        from assistant.wiring.world import Ground

        return Ground(self.world, self.home)

    @contextmanager
    def assembly(self) -> Iterator["Assembly"]:
        """The parts over the home, for the time of one command."""
        from assistant.wiring.build import Assembly

        assembly = Assembly(self.world, self.home)
        try:
            yield assembly
        finally:
            if "database" in vars(assembly):
                assembly.close()

    def note(self, text: str) -> None:
        """A line for people, never part of the output."""
        self.show().note(text)

    def show(self, as_json: bool = False, zone: str = "") -> Show:
        """How this command prints."""
        streams = self.streams or Streams(sys.stdout, sys.stderr)
        terminal = streams.out.isatty()
        environ = self.world.environ
        colour = terminal and not environ.get("NO_COLOR") and environ.get("TERM", "") != "dumb"
        width = get_terminal_size().columns if terminal else 0
        return Show(as_json, colour, self.width or width, zone, streams)


def chapter(help: str) -> typer.Typer:
    """A group of commands; also where there is one command only."""
    group = typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None, add_completion=False)
    group.callback(help=help)(lambda: None)
    return group


def alone(command: Callable[..., None]) -> typer.Typer:
    """A command that stands directly under `assistant`."""
    single = typer.Typer(rich_markup_mode=None, add_completion=False)
    single.command()(command)
    return single


def agreed(question: str, usual: str = "n") -> bool | None:
    """The person's word on a question, where Enter means what is usual; None when nobody is there."""
    if not sys.stdin.isatty():
        return None
    sys.stderr.write(f"{question} {'[Y/n]' if usual == 'y' else '[y/N]'} ")
    sys.stderr.flush()
    return (sys.stdin.readline().strip().lower() or usual) in ("y", "yes")


@contextmanager
def opened(context: typer.Context, as_json: bool = False) -> Iterator[tuple["Assembly", Show]]:
    """The parts over the home, and how this command prints, with times in the zone of the settings."""
    given = given_of(context)
    if given.server:
        raise PersonMustAct(AT_THE_SERVER)
    with given.assembly() as assembly:
        yield assembly, given.show(as_json, assembly.settings.timezone)


def given_of(context: typer.Context) -> Given:
    """The global options of a command."""
    given = context.obj
    assert isinstance(given, Given)
    return given
