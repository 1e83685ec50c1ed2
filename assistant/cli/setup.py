"""`assistant setup`: which model answers, and what of another program's home comes along."""

import getpass
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from assistant.cli.given import Given, alone, given_of
from assistant.cli.server import attach_to, counts
from assistant.errors import BadSetting, PersonMustAct
from assistant.home import Home, find_template
from assistant.home.adopt import adopt, own_place, remember
from assistant.settings import load


def setup(
    context: typer.Context,
    local: Annotated[bool, typer.Option("--local", help="Fetch the small built-in model and use it.")] = False,
    source: Annotated[
        Path | None, typer.Option("--adopt", metavar="PATH", help="Copy skills and memories of another program's home.")
    ] = None,
) -> None:
    """Choose the model that answers, or bring skills along from elsewhere."""
    given = given_of(context)
    if source is not None:
        bring_along(given, source)
    if local:
        from assistant.wiring.setup import use_builtin

        with given.assembly() as assembly:
            use_builtin(assembly.home, given.world.environ, given.note)
            renew(given, assembly.home)
    if source is None and not local:
        if not sys.stdin.isatty():
            raise PersonMustAct(
                "setup asks questions and nobody is here to answer: "
                "use --local, or assistant config set model.base_url URL"
            )
        choose(given)


def choose(given: Given) -> bool:
    """Ask which model should answer and store it; whether there is a new choice."""
    from assistant.wiring.setup import Person
    from assistant.wiring.setup import choose as ask

    with given.assembly() as assembly:
        done = ask(assembly.home, given.world.environ, Person(given.note, line, secret))
        if done:
            renew(given, assembly.home)
        return done


def renew(given: Given, home: Home) -> None:
    """A server that runs does not know of the choice: one that rests is ended, one at work is left alone."""
    attach = attach_to(given, home)
    found = attach.look()
    if found is None:
        return
    if found.health == "well" and any(counts(found).values()):
        given.note("the server is at work, and keeps the model it has until `assistant down`")
    elif attach.end(found):
        given.note("the server has ended; the next command starts one with this model")


def bring_along(given: Given, source: Path) -> None:
    """Copy from another program's home into one of our own, and remember where ours is."""
    environ = given.world.environ
    named = given.home or environ.get("HERMES_HOME", "")
    home = Home(Path(named).expanduser().absolute()) if named else default_home(given, source)
    theirs = source.expanduser().absolute() / "config.yaml"
    adopted = adopt(source.expanduser(), home, find_template(), unused_of(theirs))
    carried(theirs, home)
    seed(given, home)
    if not named:
        given.note(f"the place of this home is recorded in {remember(home, environ)}")
    given.note(f"copied into {home.root}: {len(adopted.skills)} skills, {len(adopted.memories)} memory files")
    for sentence in adopted.skipped:
        given.note(f"· {sentence}")
    if adopted.unused_settings:
        given.note(f"· settings that mean nothing here: {', '.join(adopted.unused_settings)}")


def default_home(given: Given, source: Path) -> Home:
    """Where our home goes when nobody says so: the usual place, unless another program lives there."""
    usual = given.place
    if usual.foreign or usual.root.resolve() == source.expanduser().resolve():
        return Home(own_place(given.world.environ))
    return usual


def unused_of(theirs: Path) -> Sequence[str]:
    """Their settings that we do not use."""
    from assistant.settings.read import load_tolerant

    try:
        return load_tolerant(theirs)[1]
    except BadSetting as fault:
        return (f"all of config.yaml: {fault}",)


def carried(theirs: Path, home: Home) -> None:
    """Their settings that mean the same here."""
    from assistant.settings.carry import carry_over

    carry_over(theirs, home.config)
    load(home.config)


def seed(given: Given, home: Home) -> None:
    """What came along becomes the person's first commit; then our own skills join it."""
    with replace(given, home=str(home.root)).assembly() as assembly:
        assembly.library.take_in()
        assembly.library.seed(find_template() / "skills")
        assembly.memory.vault.take_in()


def line(prompt: str) -> str | None:
    """One line of the person."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return sys.stdin.readline() or None


def secret(prompt: str) -> str | None:
    """One line that is not shown while it is typed."""
    try:
        return getpass.getpass(prompt, sys.stderr)
    except EOFError:
        return None


commands = {"setup": alone(setup)}
