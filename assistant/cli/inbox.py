"""`assistant inbox`: all that waits for you."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.given import Json, chapter, opened
from assistant.cli.show import Item, Show
from assistant.errors import NotFound, PersonMustAct
from assistant.runtime import inbox as waiting

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly

inbox = chapter("All that waits for you: staged learning, approvals, questions.")
commands = {"inbox": inbox}
Number = Annotated[str, typer.Argument(metavar="[ID]", help="As `inbox list` shows it; not needed when one waits.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is remembered.")]


@inbox.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """What waits, the oldest first."""
    with opened(context, as_json) as (assembly, show):
        items = [{k: v for k, v in item.items() if k != "diff"} for item in waiting.items(assembly.parts)]
        show.items(items, "id kind name action actor when why", "nothing waits for you", why=why)


@inbox.command()
def show(context: typer.Context, number: Number = "", as_json: Json = False) -> None:
    """One thing that waits: who, why, and exactly what would be done."""
    with opened(context, as_json) as (assembly, look):
        item = waiting.item(assembly.parts, meant(assembly, number))
        look.thing(item, told(item, look))
        if not as_json:
            look.diff(item["diff"])


@inbox.command()
def approve(context: typer.Context, number: Number = "") -> None:
    """Say yes: the change lands on today's files, or the call runs once."""
    with opened(context) as (assembly, look):
        look.note(waiting.approve(assembly.parts, meant(assembly, number)))


@inbox.command()
def reject(context: typer.Context, number: Number = "", reason: Reason = "") -> None:
    """Say no; the same proposal is not made again."""
    with opened(context) as (assembly, look):
        look.note(waiting.reject(assembly.parts, meant(assembly, number), reason))


def meant(assembly: "Assembly", number: str) -> str:
    """What was named, or the only thing that waits."""
    if number:
        return number
    found = [str(item["id"]) for item in waiting.items(assembly.parts)]
    if not found:
        raise NotFound("nothing waits for you")
    if len(found) > 1:
        raise PersonMustAct(f"{len(found)} things wait; say which: {', '.join(found)}")
    return found[0]


def why(item: Item) -> str:
    """The reason, and whether it still fits."""
    return ("conflict: " if item["conflict"] else "") + str(item["why"])


def told(item: Item, look: Show) -> Iterator[str]:
    """An item for people, above what it would do."""
    yield f"{item['kind']} {item['name']}: {item['action']}, by {item['actor']}, {look.when(item['when'])}"
    yield from (f"{name}: {item[name]}" for name in ("why", "run", "session") if item.get(name))
    if item["conflict"]:
        yield "conflict: the files moved on, so that it no longer fits"
    yield ""
