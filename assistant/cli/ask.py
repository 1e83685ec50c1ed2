"""`assistant ask`: one question, one answer."""

import io
import sys
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.attach import Attached, runs_for
from assistant.cli.given import Json, alone, given_of
from assistant.cli.leaving import finish_own, tell_recovered
from assistant.cli.show import Show
from assistant.core.ports import Start
from assistant.errors import PersonMustAct

if TYPE_CHECKING:
    from assistant.client.ask import Outcome, Person
    from assistant.client.face import Look
    from assistant.client.render import Screen

Session = Annotated[str, typer.Option("--session", metavar="ID", help="Go on with this conversation.")]
Continue = Annotated[bool, typer.Option("--continue", help="Go on with the newest conversation.")]
Model = Annotated[str, typer.Option("--model", metavar="M", help="Another model at the same address.")]
Here = Annotated[bool, typer.Option("--here", help="In this process, without a server.")]


def ask(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you want; - reads it from standard input.")],
    session: Session = "",
    newest: Continue = False,
    model: Model = "",
    as_json: Json = False,
    here: Here = False,
    yes: Annotated[bool, typer.Option("--yes", help="Allow whatever asks.")] = False,
    no: Annotated[bool, typer.Option("--no", help="Refuse whatever asks.")] = False,
) -> None:
    """Ask once and print the answer."""
    from assistant.client.ask import ask_once

    given = given_of(context)
    wanted = words(text)
    with runs_for(given, here) as at:
        show = given.show(as_json, at.ground.settings.timezone)
        screen = screen_for(at, show)
        person = person_for(yes, no, screen)
        wish = Start(wanted, session_id=at.session(session, newest), model=model)
        if at.executor:
            at.assembly.parts.models(model)
        tell_recovered(at, show)
        finish_own(at, person, show, wish.session_id)
        outcome = ask_once(at.runs, wish, screen, person)
        if not outcome.left:
            finish_own(at, person, show)
            outcome.review = reviewed(at, outcome)
        if as_json:
            show.value(outcome.as_json())
    raise typer.Exit(outcome.exit_code)


def words(text: str) -> str:
    """What was asked; `-` stands for standard input."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8").strip()
    except UnicodeDecodeError as fault:
        raise PersonMustAct(f"standard input is not UTF-8 text (byte {fault.start})") from None


def reviewed(at: Attached, outcome: "Outcome") -> dict[str, str] | None:
    """The review that the turn made due, with what came of it."""
    if outcome.review is None or at.distant:
        return outcome.review
    row = at.assembly.parts.ledger.reviews(run_id=outcome.review["run_id"])[0]
    return {"run_id": row["run_id"], "kind": row["kind"], "outcome": row["outcome"]}


def look_of(at: Attached, show: Show) -> "Look":
    """How things may look here."""
    from assistant.client.face import Look

    display = at.ground.settings.display
    return Look(show.colour, display.markdown, display.tools == "line")


def screen_for(at: Attached, show: Show) -> "Screen":
    """Living Markdown in a real terminal, plain lines elsewhere; with --json the answer is not shown twice."""
    from assistant.client.render import PlainScreen, TerminalScreen

    look = look_of(at, show)
    out, notes = show.streams.out, show.streams.notes
    if show.json:
        return PlainScreen(io.StringIO(), notes, streaming=False, tools=look.tools)
    if not out.isatty() or not alive(at):
        return PlainScreen(out, notes, streaming=out.isatty(), tools=look.tools)
    from assistant.client.page import Page
    from assistant.client.paint import Paint

    paint = Paint(lambda: get_terminal_size().columns, colour=look.colour, markdown=look.markdown)
    return TerminalScreen(out, Page(paint, monotonic, tools=look.tools), get_terminal_size, monotonic)


def alive(at: Attached) -> bool:
    """Whether the terminal can move its cursor."""
    return at.ground.environ.get("TERM", "dumb") != "dumb"


def person_for(yes: bool, no: bool, screen: "Screen") -> "Person":
    """Who decides: what was said beforehand, a person at the terminal, or nobody."""
    from assistant.client.ask import Absent, AtTerminal
    from assistant.client.asking import Verdict

    if yes and no:
        raise PersonMustAct("give --yes or --no, not both")
    if yes or no:
        return Absent(Verdict("once") if yes else Verdict("deny", "the person said no beforehand, with --no"))
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return Absent()
    return AtTerminal(screen, sys.stdin, sys.stderr)


commands = {"ask": alone(ask)}
