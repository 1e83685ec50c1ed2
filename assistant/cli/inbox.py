"""`assistant inbox`: all that waits for you."""

from collections.abc import Iterator
from typing import Annotated

import typer

from assistant.cli.given import Json, chapter, given_of
from assistant.cli.show import Columns, Item, Show
from assistant.runtime import inbox as waiting

inbox = chapter("All that waits for you: staged learning, approvals, questions.")
commands = {"inbox": inbox}
Number = Annotated[str, typer.Argument(metavar="ID", help="As `inbox list` shows it.")]


@inbox.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """What waits, the oldest first."""
    with given_of(context).assembly() as assembly:
        show = given_of(context).show(as_json, assembly.settings.timezone)
        items = [{k: v for k, v in item.items() if k != "diff"} for item in waiting.items(assembly.parts)]
        columns: Columns = {
            "id": "id",
            "kind": "kind",
            "name": "name",
            "action": "action",
            "by": "actor",
            "when": lambda item: show.when(item["when"]),
            "why": lambda item: ("conflict: " if item["conflict"] else "") + item["why"],
        }
        show.items(items, columns, "nothing waits for you")


@inbox.command()
def show(context: typer.Context, number: Number, as_json: Json = False) -> None:
    """One thing that waits: who, why, and exactly what would be done."""
    with given_of(context).assembly() as assembly:
        look = given_of(context).show(as_json, assembly.settings.timezone)
        item = waiting.item(assembly.parts, number)
        look.thing(item, told(item, look))
        if not as_json:
            look.diff(item["diff"])


@inbox.command()
def approve(context: typer.Context, number: Number) -> None:
    """Say yes: the change lands on today's files, or the call runs once."""
    with given_of(context).assembly() as assembly:
        given_of(context).show().note(waiting.approve(assembly.parts, number))


@inbox.command()
def reject(
    context: typer.Context,
    number: Number,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is remembered.")] = "",
) -> None:
    """Say no; the same proposal is not made again."""
    with given_of(context).assembly() as assembly:
        given_of(context).show().note(waiting.reject(assembly.parts, number, reason))


def told(item: Item, look: Show) -> Iterator[str]:
    """An item for people, above what it would do."""
    yield f"{item['kind']} {item['name']}: {item['action']}, by {item['actor']}, {look.when(item['when'])}"
    for name in ("why", "run", "session"):
        if item.get(name):
            yield f"{name}: {item[name]}"
    if item["conflict"]:
        yield "conflict: the files moved on, so that it no longer fits"
    yield ""
