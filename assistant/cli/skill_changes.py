"""`assistant skills`: what changes them, as the person."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.changing import edited, tell
from assistant.cli.given import opened
from assistant.cli.skills import Commit, Name, newest, skills
from assistant.errors import Conflict, PersonMustAct
from skills_store.plan import Wish
from skills_store.values import Actor, Cause

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly

YOU = Cause(Actor.YOU)
SKELETON = """---
name: {name}
description: Use when …
---

# {name}

"""
MARKS = {
    "unpin": "Let automatic changes have it again.",
    "adopt": "Allow reviews and the curator to change a skill of yours.",
    "release": "Take that permission back.",
    "archive": "Put it where no conversation sees it; it can come back.",
    "restore": "Bring it back from the archive.",
}
"""Actions that need a name and nothing else."""
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, for the history.")]
From = Annotated[Path | None, typer.Option("--from", metavar="FILE", help="Instead of the editor; - standard input.")]


def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits, hyphens.")],
    category: Annotated[str, typer.Option("--category", help="Its folder; else general.")] = "",
    source: From = None,
    why: Why = "",
) -> None:
    """Write a skill of your own, in your editor."""
    with opened(context) as (assembly, show):
        skeleton = SKELETON.format(name=name.rpartition("/")[2])
        with edited(show, assembly.environ, skeleton, "SKILL.md", source) as text:
            if text == skeleton:
                show.note("nothing was written")
                return
            wish = Wish("create", name, category=category, content=text)
            tell(show, assembly.library.manage(wish, Cause(Actor.YOU, why)))


def edit(
    context: typer.Context,
    name: Name,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="One of its files; else SKILL.md.")] = "",
    source: From = None,
    why: Why = "",
) -> None:
    """Change a skill, or one of its files, in your editor."""
    with opened(context) as (assembly, show):
        before = "" if source else now(assembly, name, file)
        with edited(show, assembly.environ, before, Path(file or "SKILL.md").name, source) as text:
            if text == before:
                show.note("nothing was changed")
                return
            if not source and now(assembly, name, file) != before:
                raise Conflict(f"{name} was changed by somebody else meanwhile; nothing of yours was written")
            tell(show, assembly.library.manage(whole(name, file, text), Cause(Actor.YOU, why)))


def undo(context: typer.Context, commit: Commit, why: Why = "") -> None:
    """Take one change back and keep what came later; a skill's name stands for its newest change."""
    with opened(context) as (assembly, show):
        tell(show, assembly.library.undo(newest(assembly, commit), Cause(Actor.YOU, why)))


def pin(
    context: typer.Context,
    name: Name,
    keep: Annotated[bool, typer.Option("--keep", help="It may be improved, never archived or deleted.")] = False,
) -> None:
    """Protect a skill from every automatic change."""
    with opened(context) as (assembly, show):
        tell(show, assembly.library.manage(Wish("pin", name, pin="keep" if keep else "frozen"), YOU))


def marking(action: str) -> Callable[[typer.Context, str], None]:
    """The command of an action that needs a name and nothing else."""

    def command(context: typer.Context, name: Name) -> None:
        with opened(context) as (assembly, show):
            tell(show, assembly.library.manage(Wish(action, name), YOU))

    return command


def import_(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A skill's folder, or a .zip or .tar.gz of one.")],
    category: Annotated[str, typer.Option("--category", help="Its folder here; else general.")] = "",
) -> None:
    """Take in a skill from elsewhere; it is marked as installed."""
    with opened(context) as (assembly, show):
        tell(show, assembly.library.import_(path.absolute(), YOU, category))


def export(
    context: typer.Context,
    name: Name,
    to: Annotated[Path, typer.Argument(metavar="TO", help="A new folder, or a new .zip or .tar.gz.")],
) -> None:
    """Write a skill out, to give it to somebody."""
    with opened(context) as (assembly, show):
        to = to.absolute()
        if not to.parent.is_dir():
            raise PersonMustAct(f"{to.parent} is not a folder: make it first")
        show.note(f"written to {assembly.library.export(name, to)}")


def sync(context: typer.Context) -> None:
    """Bring the skills here and those of the git remote that skills.sync names to the same state."""
    from skills_store.remote import sync as meet

    with opened(context) as (assembly, show):
        remote = assembly.settings.skills.sync
        if not remote:
            raise PersonMustAct("skills.sync names no git remote yet: assistant config set skills.sync URL")
        done = meet(assembly.library.vault, remote)
        show.note(f"changes taken in: {done.taken}, handed on: {done.given}")


def whole(name: str, file: str, text: str) -> Wish:
    """The wish for a file's whole new text."""
    if file in ("", "SKILL.md"):
        return Wish("edit", name, content=text)
    return Wish("write_file", name, file_path=file, file_content=text)


def now(assembly: "Assembly", name: str, file: str) -> str:
    """The text of a file as it lies there; also of a broken skill, so that it can be mended."""
    skill = assembly.library.explaining.skill(name)
    data = skill.data(file or "SKILL.md")
    if data is None:
        raise PersonMustAct(f"{name} has no file {file!r}; write one with --from FILE")
    return data.decode("utf-8", "replace")


for command in (new, edit, undo, pin, export, sync):
    skills.command()(command)
for action, help in MARKS.items():
    skills.command(action, help=help)(marking(action))
skills.command("import")(import_)
commands = {"skills": skills}
