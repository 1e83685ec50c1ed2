"""What was learned, over HTTP: skills, what waits for the person, reviews."""

import json
from typing import Any, Literal

from pydantic import BaseModel, Field

from assistant.errors import NotFound
from assistant.runtime import inbox
from assistant.runtime.parts import Parts
from assistant.runtime.views import Object, commit_object, review_object, skill_object, skill_page
from assistant.server.runs import ID
from assistant.server.service import Asked, Service, listed, page
from skills_store.errors import StoreError
from skills_store.outcome import Applied, Record, Refused, Staged, View
from skills_store.values import Actor, Cause

LONG_AGO = 10_000
"""Changes of one skill that are looked through for one of them."""


class SkillsQuery(BaseModel):
    """Which skills."""

    q: str = Field("", max_length=1000, description="Words to rank by; empty: all.")
    archived: bool = False


class HistoryQuery(BaseModel):
    """How much of a history."""

    limit: int = Field(100, ge=1, le=1000)


class UndoBody(BaseModel):
    """What to take back."""

    commit: str = Field(min_length=4, max_length=64, pattern=r"^[0-9a-fA-F]+$")


class Verdict(BaseModel):
    """What becomes of a waiting item."""

    decision: Literal["approve", "reject"]
    reason: str = Field("", max_length=10_000)


class ReviewsQuery(BaseModel):
    """Which reviews."""

    session_id: str = Field("", max_length=ID)
    limit: int = Field(50, ge=1, le=500)


def skills(service: Service, asked: Asked) -> dict[str, Any]:
    """Every skill, or those that fit some words."""
    library, wanted = service.parts.library, asked.query
    if wanted.q:
        hits = library.search(wanted.q, archived=wanted.archived)
        return listed([skill_object(hit.record) | {"score": hit.score} for hit in hits])
    shown = [record for record in library.records() if wanted.archived or record.state != "archived"]
    return listed([skill_object(record) for record in shown])


def skill(service: Service, asked: Asked) -> dict[str, Any]:
    """One skill, to be read."""
    record = service.parts.library.record(asked.path["name"])
    view, raw = seen(service.parts, record)
    return skill_page(record, view, raw, provenance(service.parts, record))


def seen(parts: Parts, record: Record) -> tuple[View | None, str]:
    """The skill as it is viewed; its raw text when it cannot be, because it is broken, disabled or for elsewhere."""
    try:
        return parts.library.view(f"{record.category}/{record.name}" if record.category else record.name), ""
    except StoreError:
        path = parts.library.root / record.path / "SKILL.md"
        return None, path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def provenance(parts: Parts, record: Record) -> Object:
    """What we know of where a skill comes from."""
    path = parts.library.root / record.path / ".provenance.json"
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    return known if isinstance(known, dict) else {}


def history(service: Service, asked: Asked) -> dict[str, Any]:
    """The changes of a skill, the newest first."""
    commits = service.parts.library.log(asked.path["name"], asked.query.limit + 1)
    if not commits:
        service.parts.library.record(asked.path["name"])
    shown, more = page(list(commits), asked.query.limit)
    return listed([commit_object(commit) for commit in shown], more)


def diff(service: Service, asked: Asked) -> dict[str, Any]:
    """What one commit changed."""
    name = asked.path["name"]
    commit = commit_of(service.parts, name, asked.path["commit"])
    return {"name": name, "commit": commit, "diff": service.parts.library.diff(commit)}


def commit_of(parts: Parts, name: str, beginning: str) -> str:
    """A commit of this very skill, by the beginning of its id; NotFound."""
    commits = [commit.commit for commit in parts.library.log(name, LONG_AGO)]
    found = next((commit for commit in commits if commit.startswith(beginning.lower())), None)
    if found is None:
        raise NotFound(f"no change {beginning!r} of {name!r}: GET /v1/skills/{name}/history lists them")
    return found


def undo(service: Service, asked: Asked) -> dict[str, Any]:
    """Take one commit back."""
    commit = commit_of(service.parts, asked.path["name"], asked.body.commit)
    result = service.parts.library.undo(commit, Cause(Actor.YOU, "undone over HTTP"))
    match result:
        case Applied():
            return {"name": result.name, "commit": result.commit, "message": result.message}
        case Staged():
            return {"name": result.name, "staged": result.id, "message": result.message}
        case Refused():
            raise StoreError(result.error, result.code, result.hint)


def waiting(service: Service, asked: Asked) -> dict[str, Any]:
    """All that waits for the person."""
    return listed(inbox.items(service.parts))


def decide(service: Service, asked: Asked) -> dict[str, Any]:
    """Say yes or no to one of them."""
    number, said = asked.path["id"], asked.body
    if said.decision == "approve":
        message = inbox.approve(service.parts, number)
    else:
        message = inbox.reject(service.parts, number, said.reason)
    return {"id": number, "decision": said.decision, "message": message}


def reviews(service: Service, asked: Asked) -> dict[str, Any]:
    """Looks back, the newest first."""
    rows = service.parts.ledger.reviews(asked.query.session_id, limit=asked.query.limit + 1)
    shown, more = page(rows, asked.query.limit)
    return listed([review_object(row) for row in shown], more)
