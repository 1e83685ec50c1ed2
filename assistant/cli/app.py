"""What there is: the words after `assistant`, where each is written, its line in `--help`; and the global options.

A chapter is loaded when its word is used, so that a command pays for itself alone.
"""

import importlib
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from assistant import __version__
from assistant.cli.given import given_of

TREE: dict[str, tuple[str, str]] = {
    "chat": ("chat", "Talk; what is worth keeping is kept afterwards."),
    "ask": ("ask", "Ask once and print the answer."),
    "setup": ("setup", "Choose the model that answers, or bring skills along from elsewhere."),
    "demo": ("demo", "Watch it learn: a scripted model, no account, a throwaway home."),
    "doctor": ("doctor", "Look at everything that must be right, and say what to do where it is not."),
    "config": ("config", "The settings."),
    "sessions": ("sessions", "Conversations."),
    "runs": ("runs", "Turns and reviews as runs: find, follow, steer, stop, answer them."),
    "skills": ("skill_changes", "What it has learned to do: read, change, explain, undo."),
    "memory": ("memory", "What it remembers: MEMORY.md and USER.md."),
    "inbox": ("inbox", "All that waits for you: staged learning, approvals, questions."),
    "reviews": ("reviews", "Looking back: what reviews kept, and what they cost."),
    "approvals": ("approvals", "What needs your yes."),
    "serve": ("serve", "Answer over HTTP until Ctrl-C or SIGTERM."),
    "up": ("server", "Start the server in the background, if it does not run."),
    "down": ("server", "End the server; what still runs is finished or left for the next one to go on with."),
    "status": ("server", "Whether the server runs, where, and what it works on."),
    "backup": ("backup", "Write everything but secrets into one file."),
    "restore": ("backup", "Bring a backup back into an empty home."),
}


class Chapters(MutableMapping[str, Any]):
    """The commands by their words, each loaded when it is looked at."""

    def __init__(self) -> None:
        self.loaded: dict[str, Any] = {}

    def __getitem__(self, word: str) -> Any:
        if word not in self.loaded:
            module = importlib.import_module(f"assistant.cli.{TREE[word][0]}")
            self.loaded[word] = get_command(module.commands[word])
        return self.loaded[word]

    def __iter__(self) -> Iterator[str]:
        return iter(TREE)

    def __len__(self) -> int:
        return len(TREE)

    def __setitem__(self, word: str, command: Any) -> None:
        self.loaded[word] = command

    def __delitem__(self, word: str) -> None:
        del self.loaded[word]


class Tree(TyperGroup):
    """The root: lists every word, loads only the one that is used."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.commands = Chapters()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The words with their lines, nothing loaded."""
        with formatter.section("Commands"):
            formatter.write_dl([(word, help) for word, (_, help) in TREE.items()])


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
