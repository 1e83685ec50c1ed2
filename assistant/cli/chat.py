"""`assistant chat`: a conversation in the terminal."""

import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

import typer

from assistant.cli.ask import Continue, Here, Model, Session, alive, look_of, person_for, screen_for
from assistant.cli.attach import Attached, runs_for
from assistant.cli.given import Given, alone, given_of
from assistant.cli.leaving import finish_own, tell_recovered
from assistant.cli.setup import choose
from assistant.cli.show import Show
from assistant.cli.slash import commands_for
from assistant.errors import PersonMustAct

if TYPE_CHECKING:
    from assistant.client.face import Means

SMALL = "**{model}** is small, knows little and uses no tools; `assistant setup` names a larger one"


def chat(
    context: typer.Context, session: Session = "", newest: Continue = False, model: Model = "", here: Here = False
) -> None:
    """Talk; what is worth keeping is kept afterwards."""
    from assistant.client.face import Means, Place

    given = given_of(context)
    if not given.server and not can_answer(given, model) and not choose(given):
        raise typer.Exit(2)
    with runs_for(given, here) as at:
        show = given.show(zone=at.ground.settings.timezone)
        place = Place(at.session(session, newest), model)
        settings = at.ground.settings
        means = Means(
            at.runs,
            place,
            commands_for(given, at, place),
            skill_names(at),
            lambda wanted: unfinished(at, wanted),
            settings.review.notify == "on",
        )
        tell_recovered(at, show)
        code = talk(at, means, show)
        finish_own(at, person_for(False, False, screen_for(at, show)), show)
    raise typer.Exit(code)


def talk(at: Attached, means: "Means", show: Show) -> int:
    """Chat until the person leaves, in whatever kind of terminal this is; the exit code."""
    if not (sys.stdin.isatty() and sys.stdout.isatty() and alive(at)):
        from assistant.client.simple import SimpleChat

        return SimpleChat(means, screen_for(at, show), sys.stdin, sys.stderr).run()
    from assistant.client.terminal import Terminal, terminal_ends

    ends = terminal_ends(sys.stdin, sys.stdout, at.ground.environ["TERM"])
    Terminal(means, at.ground.home.root / "chat_history", monotonic, look_of(at, show), ends).run(greeting(at, means))
    return 0


def greeting(at: Attached, means: "Means") -> str:
    """The first line: who answers, and how to learn more."""
    if at.distant:
        return "**assistant** · at the server you named · /help lists the commands"
    model = at.assembly.parts.models(means.place.model)
    name = f"**assistant** · {model.name} · /help lists the commands"
    session = means.place.session_id
    title = at.assembly.sessions.show(session).title if session else ""
    return "\n\n".join(
        [name, *([] if model.tools_supported else [SMALL.format(model=model.name)]), *([f"*{title}*"] if title else [])]
    )


def can_answer(given: Given, model: str) -> bool:
    """Whether a model is set.  Where nobody can be asked for one, its absence ends the command."""
    with given.assembly() as assembly:
        try:
            assembly.parts.models(model)
        except PersonMustAct:
            if not sys.stdin.isatty():
                raise
            return False
    return True


def unfinished(at: Attached, session: str) -> str:
    """The oldest turn of a session that is queued or at work."""
    if at.distant:
        told = at.distant.get("/v1/runs", session_id=session, limit=50)["data"]
        open_ = [run["run_id"] for run in told if not run["finished_at"] and run["kind"] != "review"]
    else:
        rows = at.assembly.parts.runs.newest(session)
        open_ = [row["id"] for row in rows if not row["finished"] and row["kind"] != "review"]
    return str(open_[-1]) if open_ else ""


def skill_names(at: Attached) -> Callable[[], list[str]]:
    """The skills that may be named in this chat; those of a server elsewhere are asked for once."""
    if at.distant:
        there = [str(skill["name"]) for skill in at.distant.get("/v1/skills")["data"] if not skill["broken"]]
        return lambda: there
    return lambda: [record.name for record in at.assembly.library.records() if not record.broken]


commands = {"chat": alone(chat)}
