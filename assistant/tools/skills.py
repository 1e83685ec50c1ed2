"""Reading and writing skills; every write goes through the guarded library."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from assistant.core.events import Event, LearningStaged, SkillChanged
from assistant.core.messages import Effect
from assistant.errors import ModelCanFix
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool
from skills_store.errors import StoreError
from skills_store.library import Library
from skills_store.outcome import Applied, Refused, Staged
from skills_store.plan import Wish
from skills_store.values import Actor, Cause, Evidence

Evidences = Annotated[
    list[str] | None, Field(max_length=20, description="Quotes from this conversation; a review must give them")
]
WHOLE = ("create", "edit", "write_file")
MOST_LISTED = 200


@tool(Effect.READ, preview="query")
def skills_list(context: Context, query: str = "", category: str = "") -> Result:
    """List skills; with a query the 20 that fit best."""
    library = library_of(context)
    if query:
        records = [hit.record for hit in library.search(query, category, 20)]
    else:
        records = [record for record in library.records() if category in ("", record.category)]
    rows = [
        {"name": r.name, "category": r.category, "owner": r.owner, "description": r.description}
        for r in records[:MOST_LISTED]
    ]
    body: dict[str, Any] = {"success": True, "skills": rows, "count": len(records)}
    if len(records) > MOST_LISTED:
        body["hint"] = f"the first {MOST_LISTED} of {len(records)}; give a query or a category"
    return Result(as_json(body), preview=query or f"{len(records)} skills")


@tool(Effect.READ, preview="name")
def skill_view(
    context: Context, name: str, file_path: Annotated[str, Field(description="One of its files")] = ""
) -> Result:
    """Load a skill, or one of its files, before acting on it."""
    try:
        view = library_of(context).view(name, file_path)
    except StoreError as refused:
        return refusal(refused.message, refused.code, refused.hint)
    library_of(context).viewed(view.name, context.actor is Actor.ASSISTANT)
    shown = {"success": True, "name": view.name, "path": view.path, "hash": view.hash}
    if context.marks.seen(view.path) == view.hash:
        context.marks.mark(view.path, view.hash)
        unchanged = shown | {"unchanged": True, "message": "Unchanged since you saw it in this run; see above."}
        return Result(as_json(unchanged), preview=view.name)
    context.marks.mark(view.path, view.hash)
    about = {"description": view.description, "category": view.category, "owner": view.owner}
    rest = {"files": list(view.files), "setup": list(view.setup), "content": view.content}
    return Result(as_json(shown | about | rest), preview=view.name)


@tool(Effect.OWN, preview="name")
def skill_manage(  # noqa: PLR0913 - its parameters are its schema
    context: Context,
    action: Literal["create", "edit", "patch", "write_file", "remove_file", "delete"],
    name: str,
    category: Annotated[str, Field(description="For create")] = "",
    content: Annotated[str | None, Field(description="The whole SKILL.md, for create and edit")] = None,
    old_string: Annotated[str | None, Field(description="For patch: text that stands in the file once")] = None,
    new_string: Annotated[str | None, Field(description="For patch")] = None,
    replace_all: bool = False,
    file_path: Annotated[str, Field(description="In references/ templates/ scripts/ assets/; else SKILL.md")] = "",
    file_content: Annotated[str | None, Field(description="The whole file, for write_file")] = None,
    absorbed_into: Annotated[str | None, Field(description="For delete: the skill that holds its content now")] = None,
    evidence: Evidences = None,
) -> Result:
    """Create, change or remove a skill: YAML header with name and description ("Use when …"), then Markdown."""
    wish = Wish(
        action,
        name,
        category=category,
        content=content,
        old_string=old_string,
        new_string=new_string,
        replace_all=replace_all,
        file_path=file_path,
        file_content=file_content,
        absorbed_into=absorbed_into,
    )
    try:
        cause = cause_of(context, evidence or ())
        outcome = library_of(context).manage(wish, cause, context.marks.seen)
    except StoreError as refused:
        return refusal(refused.message, refused.code, refused.hint)
    except ModelCanFix as missing:
        return refusal(str(missing), "no_evidence", "Quote the conversation word for word.")
    return result_of(context, wish, outcome)


def result_of(context: Context, wish: Wish, outcome: Applied | Staged | Refused) -> Result:
    """What came of a wish: told to listeners, and to the model as the contract says."""
    if isinstance(outcome, Refused):
        return refusal(outcome.error, outcome.code, outcome.hint)
    if isinstance(outcome, Applied):
        whole = wish.action in WHOLE
        for path, seen in outcome.hashes.items():
            if whole or context.marks.seen(path):
                context.marks.mark(path, seen)
    result, events = receipt_of(outcome)
    for event in events:
        context.tell(event)
    return result


def receipt_of(outcome: Applied | Staged) -> tuple[Result, tuple[Event, ...]]:
    """The answer to a change that was made or waits, and what listeners are told of it."""
    if isinstance(outcome, Applied):
        changed = SkillChanged(outcome.name, outcome.action, outcome.commit)
        return Result(as_json(applied_body(outcome)), preview=outcome.action), (changed,)
    body = {"success": True, "staged": True, "id": outcome.id, "message": outcome.message}
    staged = LearningStaged(outcome.id, outcome.name, outcome.action)
    return Result(as_json(body), preview=f"{outcome.action}: waits for you"), (staged,)


def applied_body(done: Applied) -> dict[str, Any]:
    """The answer to a change that was made; empty optional fields are left out."""
    told = {"success": True, "message": done.message, "name": done.name, "path": done.path, "skill_md": done.skill_md}
    more = {"commit": done.commit, "strategy": done.strategy, "diff": done.diff, "warnings": list(done.warnings)}
    return told | {key: value for key, value in more.items() if value}


def refusal(error: str, code: str, hint: str = "") -> Result:
    """A refused call as the contract says."""
    return Result(as_json({"success": False, "error": error, "hint": hint, "code": code}), failed=True, preview=code)


def cause_of(context: Context, quotes: Sequence[str]) -> Cause:
    """Who writes and what it rests on; nobody asked a review, so it must quote."""
    evidence: tuple[Evidence, ...] = ()
    if context.actor.automatic and quotes:
        evidence = tuple(context.quotes(quotes))
    return Cause(context.actor, "", context.session_id, context.run_id, receipt_mark(context), evidence, context.heard)


def receipt_mark(context: Context) -> str:
    """The trailer `Call` of a commit: call ids alone may repeat between runs."""
    return f"{context.run_id}/{context.call_id}"


def library_of(context: Context) -> Library:
    """The library, as the type it has."""
    library: Library = context.library
    return library


as_json: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, default=str).encode
