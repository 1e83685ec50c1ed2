"""`assistant skills`: looking at them.  What changes them is in `skill_changes`."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.given import LIMIT, Json, Limit, chapter, given_of, opened
from assistant.cli.show import Item, Show
from assistant.runtime.reading import read_skill
from assistant.runtime.views import commit_object, skill_object, taught_object
from skills_store.outcome import Taught
from skills_store.problems import Problem
from skills_store.story import Commit as History

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly

skills = chapter("What it has learned to do: read, change, explain, undo.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The skill; category/name where a name is not enough.")]
Commit = Annotated[str, typer.Argument(metavar="COMMIT", help="The change's id, as `log` shows it.")]


@skills.command("list")
def list_(
    context: typer.Context,
    category: Annotated[str, typer.Option("--category", help="Of this category alone.")] = "",
    as_json: Json = False,
) -> None:
    """Every skill."""
    with opened(context, as_json) as (assembly, show):
        found = [record for record in assembly.library.records() if category in ("", record.category)]
        items = [skill_object(record) for record in found]
        columns = "name category owner state uses last_used description"
        show.items(items, columns, "no skills yet", state=state, description=described)


@skills.command()
def show(
    context: typer.Context,
    name: Name,
    at: Annotated[str, typer.Option("--at", metavar="COMMIT", help="As this commit has it.")] = "",
    as_json: Json = False,
) -> None:
    """One skill: its text, its files, where it comes from."""
    with opened(context, as_json) as (assembly, look):
        if at:
            content = assembly.library.show_at(name, at)
            look.thing({"name": name, "commit": at, "content": content}, [content])
            return
        look.thing(item := read_skill(assembly.library, name), page(item, look))


@skills.command()
def search(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What it should be about.")],
    archived: Annotated[bool, typer.Option("--archived", help="In the archive instead.")] = False,
    limit: Limit = LIMIT,
    as_json: Json = False,
) -> None:
    """The skills that fit some words, best first."""
    with opened(context, as_json) as (assembly, show):
        found = assembly.library.search(" ".join(words), limit=limit, archived=archived)
        items = [skill_object(hit.record) | {"score": hit.score} for hit in found]
        columns = "name category score description"
        show.items(items, columns, "nothing found", score=lambda item: f"{item['score']:.0f}", description=described)


@skills.command()
def validate(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A skill's folder, its SKILL.md, or a folder of skills.")
    ],
    as_json: Json = False,
) -> None:
    """Every problem of a skill as a sentence with its line; exit code 1 when one is an error."""
    from skills_store.validate import validate_folder

    found = validate_folder(path)
    ok = all(problem.severity != "error" for problem in found)
    item = {"ok": ok, "problems": [problem_object(problem) for problem in found]}
    given_of(context).show(as_json).thing(item, [str(problem) for problem in found] or ["no problems"])
    if not ok:
        raise typer.Exit(1)


@skills.command()
def log(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Of this skill alone.")] = "",
    limit: Limit = LIMIT,
    as_json: Json = False,
) -> None:
    """The changes, the newest first."""
    with opened(context, as_json) as (assembly, show):
        changes(show, assembly.library.log(name, limit))


@skills.command()
def diff(context: typer.Context, commit: Commit) -> None:
    """What a change did; a skill's name stands for its newest change."""
    with opened(context) as (assembly, show):
        show.diff(assembly.library.diff(newest(assembly, commit)))


@skills.command()
def why(
    context: typer.Context,
    name: Name,
    line: Annotated[int | None, typer.Argument(metavar="[LINE]", help="This line alone.")] = None,
    as_json: Json = False,
) -> None:
    """Which change, run and words taught each line."""
    with opened(context, as_json) as (assembly, look):
        lines = [told(assembly, item) for item in assembly.library.why(name, line)]
        look.thing(lines, by_change(lines, look))


def by_change(lines: Sequence[Item], look: Show) -> Iterator[str]:
    """Neighbouring lines that one change taught stand together, under who made it and on which words."""
    for _, group in groupby(lines, lambda item: item["commit"]):
        taught = list(group)
        first = taught[0]
        yield f"{first['commit'][:10] or 'not committed yet'}  {first['actor']}  {look.when(first['when'])}".rstrip()
        yield from (f"       because “{quote['quote']}”" for quote in first["evidence"])
        yield from (f"{item['line']:>5}  {item['text']}".rstrip() for item in taught)


def told(assembly: "Assembly", line: Taught) -> Item:
    """A line with the quotes it rests on."""
    quotes = assembly.parts.ledger.quotes(line.run, line.evidence) if line.evidence else []
    known = {quote["message"] for quote in quotes}
    bare = [{"message": number, "quote": ""} for number in line.evidence if number not in known]
    return taught_object(line, [*quotes, *bare])


def newest(assembly: "Assembly", commit: str) -> str:
    """The commit, or the newest one of the skill that goes by this name."""
    if assembly.library.proposing.shelves.folders(commit):
        commits = assembly.library.log(commit, 1)
        return commits[0].commit if commits else commit
    return commit


def page(item: Item, show: Show) -> Iterator[str]:
    """A skill for people."""
    marks = [item["owner"], state(item), f"pinned: {item['pin']}" if item["pin"] else ""]
    yield f"{item['category']}/{item['name']} · {' · '.join(mark for mark in marks if mark)}"
    made = item["provenance"]
    since = f" at {show.when(made['created'])}" if made["created"] else ""
    yield f"made by {made['maker'] or 'you'}{since}{', from ' + made['source'] if made['source'] else ''}"
    yield f"used {item['uses']} times{', last at ' + show.when(item['last_used']) if item['last_used'] else ''}"
    yield from (f"warning: {text}" for text in [item["broken"], *item["warnings"]] if text)
    if item["files"]:
        yield f"files: {', '.join(item['files'])}"
    yield f"\n{item['content']}"


def changes(show: Show, commits: Sequence[History]) -> None:
    """A history."""
    items = [commit_object(commit) for commit in commits]
    show.items(items, "commit when actor subject", "no changes yet", commit=lambda item: item["commit"][:10])


def state(item: Item) -> str:
    """What a list says of a skill's condition."""
    if item["broken"]:
        return "broken"
    return f"{item['state']}, {item['pin']}" if item["pin"] else str(item["state"])


def described(item: Item) -> str:
    """The description, or what is wrong."""
    return str(item["broken"] or item["description"])


def problem_object(problem: Problem) -> Item:
    """A problem as the contract has it."""
    return {"severity": problem.severity, "line": problem.line, "message": problem.message, "file": problem.file}
