"""`assistant memory`: what it remembers of you and of the state of things."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.changing import edited, tell
from assistant.cli.given import LIMIT, Json, Limit, chapter, opened
from assistant.cli.show import Item, Show
from assistant.cli.skills import Commit, changes
from assistant.errors import Conflict
from assistant.home.files import write_whole
from assistant.home.first_start import unwritable
from assistant.runtime.views import time_text
from assistant.store.entries import size_of
from assistant.store.memory import FILES
from skills_store.values import Actor, Cause

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly

memory = chapter("What it remembers: MEMORY.md and USER.md.")
commands = {"memory": memory}
Target = Annotated[str, typer.Argument(metavar="[memory|user]", help="One of the two files.")]


@memory.command()
def show(
    context: typer.Context,
    why: Annotated[bool, typer.Option("--why", help="Who wrote each entry, when, in which run.")] = False,
    as_json: Json = False,
) -> None:
    """Everything that is remembered."""
    with opened(context, as_json) as (assembly, look):
        items = [remembered(assembly, target) for target in FILES]
        if as_json:
            look.value(items)
            return
        for item in items:
            look.thing(item, told(item, look, why))


@memory.command()
def edit(context: typer.Context, target: Target = "memory") -> None:
    """Change one of the files in your editor; entries are separated by a line with §."""
    with opened(context) as (assembly, look):
        path = assembly.home.memories / FILES[name_of(target)]
        before = bytes_of(path)
        with edited(look, assembly.environ, before.decode("utf-8", "surrogateescape"), path.name) as text:
            if text.encode() == before:
                look.note("nothing was changed")
                return
            if bytes_of(path) != before:
                raise Conflict(f"{path.name} was changed by somebody else meanwhile; nothing of yours was written")
            try:
                write_whole(path, text.encode())
            except OSError as fault:
                raise unwritable(path, fault) from None
        assembly.memory.vault.take_in(paths=[path.name])
        look.note(f"{path.name} is written")


@memory.command()
def log(context: typer.Context, target: Target = "", limit: Limit = LIMIT, as_json: Json = False) -> None:
    """The changes, the newest first."""
    with opened(context, as_json) as (assembly, look):
        changes(look, assembly.memory.log(target and name_of(target), limit))


@memory.command()
def undo(context: typer.Context, commit: Commit) -> None:
    """Take one change back and keep what came later."""
    with opened(context) as (assembly, look):
        tell(look, assembly.memory.undo(commit, Cause(Actor.YOU)))


def remembered(assembly: "Assembly", target: str) -> Item:
    """One file as the contract has it."""
    files = assembly.memory
    entries = [
        {"text": entry.text, "when": time_text(entry.when), "actor": entry.actor, "run": entry.run}
        for entry in files.show(target)
    ]
    used = size_of([entry["text"] or "" for entry in entries])
    return {"target": target, "entries": entries, "used": used, "limit": files.limit(target)}


def told(item: Item, look: Show, why: bool) -> Iterator[str]:
    """One file for people."""
    yield f"{FILES[item['target']]}  {item['used']} of {item['limit']} characters"
    for entry in item["entries"]:
        yield "- " + entry["text"].replace("\n", "\n  ")
        if why:
            run = f", run {entry['run']}" if entry["run"] else ""
            yield f"    {entry['actor']}, {look.when(entry['when']) or 'just now'}{run}"
    if not item["entries"]:
        yield "  nothing yet"
    yield ""


def name_of(target: str) -> str:
    """`memory` or `user`, also by the file's name."""
    by_file = {file.lower(): name for name, file in FILES.items()}
    name = by_file.get(target.lower(), target.lower())
    if name not in FILES:
        raise typer.BadParameter(f"say memory or user, not {target!r}")
    return name


def bytes_of(path: Path) -> bytes:
    """What a file holds now; nothing when it is not there."""
    return path.read_bytes() if path.exists() else b""
