"""The tree of commands and the global options."""

from dataclasses import replace
from typing import Annotated

import typer

from assistant import __version__
from assistant.cli import backup, chat, config, doctor, inbox, memory, reviews, runs, sessions, setup, skills
from assistant.cli.approvals import approvals
from assistant.cli.ask import ask
from assistant.cli.given import given_of
from assistant.cli.skill_changes import register

app = typer.Typer(
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
        chat.chat(context)


register(skills.skills)
app.command()(chat.chat)
app.command()(ask)
app.command()(setup.setup)

app.command()(doctor.doctor)
app.add_typer(config.config, name="config")
app.add_typer(sessions.sessions, name="sessions")
app.add_typer(runs.runs, name="runs")
app.add_typer(skills.skills, name="skills")
app.add_typer(memory.memory, name="memory")
app.add_typer(inbox.inbox, name="inbox")
app.add_typer(reviews.reviews, name="reviews")
app.add_typer(approvals, name="approvals")
app.command()(backup.backup)
app.command()(backup.restore)
