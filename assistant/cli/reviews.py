"""`assistant reviews`: when it looked back, what came of it, and taking that back."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.attach import runs_for
from assistant.cli.changing import Outcome, tell
from assistant.cli.given import LIMIT, Json, Limit, OfSession, chapter, given_of, opened
from assistant.cli.sessions import spoken
from assistant.cli.show import Item, Show
from assistant.errors import NotFound
from assistant.runtime.views import Object, message_object, review_object
from skills_store.values import Actor, Cause

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly

reviews = chapter("Looking back: what reviews kept, and what they cost.")
commands = {"reviews": reviews}
Run = Annotated[str, typer.Argument(metavar="RUN", help="The review's run.")]


@reviews.command("list")
def list_(context: typer.Context, session: OfSession = "", limit: Limit = LIMIT, as_json: Json = False) -> None:
    """Reviews, the newest first."""
    with opened(context, as_json) as (assembly, show):
        items = [review_object(row) for row in assembly.parts.ledger.reviews(session, limit=limit)]
        columns = "run_id when kind outcome steps tokens what"
        show.items(items, columns, "no reviews yet", what=lambda item: item["line"] or item["error"] or "")


@reviews.command()
def show(context: typer.Context, run: Run, as_json: Json = False) -> None:
    """One review, whole: what it said, did and cost."""
    with opened(context, as_json) as (assembly, look):
        item = found(assembly, run)
        said = [message_object(message, "") | {"when": None} for message in assembly.sessions.of_run(run)]
        look.thing(item | {"messages": said}, told(item, said, look))


@reviews.command()
def run(
    context: typer.Context,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="Which conversation; else the newest.")] = "",
    focus: Annotated[str, typer.Option("--focus", metavar="TEXT", help="What to look at most.")] = "",
    as_json: Json = False,
) -> None:
    """Look back at a conversation now."""
    with runs_for(given_of(context), here=False) as at:
        item = review_object(at.review(at.session(session, newest=not session), focus))
        given_of(context).show(as_json).thing(item, [item["line"] or f"review: {item['outcome']}"])
    if item["outcome"] == "failed":
        raise typer.Exit(1)


@reviews.command()
def undo(context: typer.Context, run: Run) -> None:
    """Take back everything that a review changed, the newest first."""
    with opened(context) as (assembly, look):
        commits = found(assembly, run)["commits"]
        if not commits:
            raise NotFound(f"review {run} changed nothing")
        for commit in reversed(commits):
            tell(look, undone(assembly, commit, Cause(Actor.YOU, f"undo of review {run}")))


def found(assembly: "Assembly", run: str) -> Object:
    """A review; NotFound."""
    rows = assembly.parts.ledger.reviews(run_id=run)
    if not rows:
        raise NotFound(f"there is no review {run!r}: `assistant reviews list` shows them")
    return review_object(rows[0])


def told(item: Item, said: Sequence[Item], look: Show) -> Iterator[str]:
    """A review for people."""
    yield f"{item['run_id']}  {item['kind']}  {item['outcome']}  {look.when(item['when'])}"
    yield f"session {item['session_id']}, {item['steps']} steps, {item['tokens']} tokens, {item['seconds']:.0f} s"
    yield from filter(None, (item["line"], item["error"], f"focus: {item['focus']}" if item["focus"] else ""))
    yield from (f"commit {commit[:10]}" for commit in item["commits"])
    for message in said:
        yield f"\n## {message['role']} {message.get('name', '')}".rstrip()
        yield from spoken(message)


def undone(assembly: "Assembly", commit: str, cause: Cause) -> Outcome:
    """Take one commit back, in the repository that has it."""
    if any(known.commit.startswith(commit) for known in assembly.memory.log()):
        return assembly.memory.undo(commit, cause)
    return assembly.library.undo(commit, cause)
