"""`assistant sessions`: conversations, listed, read, searched, renamed, copied, deleted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.given import LIMIT, Json, Limit, agreed, chapter, opened
from assistant.cli.show import Item, Show
from assistant.errors import PersonMustAct
from assistant.home.files import write_whole
from assistant.home.first_start import unwritable
from assistant.runtime.views import hit_object, message_object, session_object

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly

sessions = chapter("Conversations.")
commands = {"sessions": sessions}
Session = Annotated[str, typer.Argument(metavar="ID", help="The session's id.")]


@sessions.command("list")
def list_(context: typer.Context, limit: Limit = LIMIT, as_json: Json = False) -> None:
    """Conversations, the last used first."""
    with opened(context, as_json) as (assembly, show):
        items = [session_object(session) for session in assembly.sessions.newest(limit)]
        show.items(items, "id updated messages model title", "no conversation yet: assistant chat")


@sessions.command()
def show(context: typer.Context, session: Session, as_json: Json = False) -> None:
    """One conversation, whole."""
    with opened(context, as_json) as (assembly, look):
        look.thing(whole := whole_session(assembly, session), transcript(whole, look))


@sessions.command()
def search(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="Every one must occur.")],
    limit: Limit = LIMIT,
    as_json: Json = False,
) -> None:
    """Messages that contain some words, best first."""
    with opened(context, as_json) as (assembly, show):
        items = [hit_object(hit) for hit in assembly.sessions.search(" ".join(words), limit)]
        show.items(items, "session_id message_id when role excerpt", "nothing found")


@sessions.command()
def rename(
    context: typer.Context, session: Session, title: Annotated[str, typer.Argument(metavar="TITLE", help="New title.")]
) -> None:
    """Give a conversation a title of your own."""
    with opened(context) as (assembly, show):
        assembly.sessions.rename(session, title)
        show.note(f"{session} is called {title.strip()!r} now")


@sessions.command()
def fork(
    context: typer.Context,
    session: Session,
    before: Annotated[
        int, typer.Option("--before", metavar="MESSAGE", help="Leave out this message and all after.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Copy a conversation, to go on from an earlier place; prints the new id."""
    with opened(context, as_json) as (assembly, show):
        new = assembly.sessions.fork(session, before)
        show.thing(session_object(assembly.sessions.show(new)), [new])


@sessions.command()
def export(
    context: typer.Context,
    session: Session,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to; none: standard output.")] = None,
    as_json: Json = False,
) -> None:
    """Write a conversation as Markdown, or as JSON."""
    with opened(context, as_json) as (assembly, show):
        whole = whole_session(assembly, session)
    if file is None:
        show.thing(whole, transcript(whole, show))
        return
    text = json.dumps(whole, ensure_ascii=False, indent=2) if as_json else "\n".join(transcript(whole, show))
    if file.exists():
        raise PersonMustAct(f"{file} is there already: name a file that is not")
    try:
        write_whole(file, f"{text}\n".encode())
    except OSError as fault:
        raise unwritable(file, fault) from None
    show.note(f"written to {file}")


@sessions.command()
def delete(
    context: typer.Context,
    session: Session,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a conversation: messages, runs, quotes. What was learned from it stays."""
    with opened(context) as (assembly, show):
        found = assembly.sessions.show(session)
        question = f"Delete {found.title or session!r} with its {found.messages} messages for ever?"
        sure = yes or agreed(question)
        if sure is None:
            raise PersonMustAct(f"{question} Say so with --yes.")
        if not sure:
            raise typer.Exit(1)
        assembly.sessions.delete(session)
        show.note(f"{session} is deleted")


def whole_session(assembly: "Assembly", session: str) -> Item:
    """The session with its messages."""
    told = [message_object(message, at) for message, at in assembly.sessions.transcript(session)]
    return session_object(assembly.sessions.show(session)) | {"messages": told}


def transcript(whole: Item, show: Show) -> Iterator[str]:
    """A conversation as Markdown."""
    yield f"# {whole['title'] or whole['id']}"
    for message in whole["messages"]:
        who = f"{message['role']} {message.get('name', '')}".rstrip()
        yield f"\n## {who} · {show.when(message['when'])} · {message['id']}\n"
        yield from spoken(message)


def spoken(message: Item) -> Iterator[str]:
    """What a message says and asks for."""
    if message["text"]:
        yield message["text"]
    yield from (f"→ {call['name']} {call['arguments']}" for call in message["tool_calls"])
