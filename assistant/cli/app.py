"""The root of the command tree, and the global options."""

from dataclasses import replace
from typing import Annotated

import typer

from assistant import __version__
from assistant.cli.given import given_of
from assistant.cli.tree import Chapters, Tree

app = typer.Typer(
    cls=Tree,
    help="A personal assistant that learns. Without a command: the chat.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"assistant {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    home: Annotated[
        str, typer.Option("--home", metavar="PATH", help="The home; else HERMES_HOME, else ~/.hermes.")
    ] = "",
    server: Annotated[str, typer.Option("--server", metavar="URL", help="A server elsewhere (ASSISTANT_TOKEN).")] = "",
    _version: Annotated[bool, typer.Option("--version", callback=version, is_eager=True, help="The version.")] = False,
) -> None:
    """Keep the global options; without a command, chat."""
    given = given_of(context)
    context.obj = replace(given, home=home or given.home, server=server or given.server)
    if context.invoked_subcommand is None:
        word = "chat"
        with Chapters()[word].make_context(word, [], parent=context) as chat:
            chat.command.invoke(chat)
