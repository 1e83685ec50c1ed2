"""Rows and values as the objects of the contract: what `--json` prints and what HTTP answers."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from assistant.core.messages import Message
from assistant.runtime.desk import UNATTENDED
from assistant.runtime.parts import Parts
from assistant.store.database import Row
from assistant.store.runs import moment
from assistant.store.sessions import Hit, Session
from skills_store.outcome import Pending, Record, Taught, View
from skills_store.story import Commit

Object = dict[str, Any]


def run_object(parts: Parts, row: Row) -> Object:
    """A run, with everything of it that waits for a person."""
    approvals, questions = ([], []) if row["finished"] else parts.waiting.open_of(row["id"])
    tokens = ("input_tokens", "output_tokens", "cached_tokens")
    return {
        "object": "run",
        "run_id": row["id"],
        "session_id": row["session_id"],
        "kind": row["kind"],
        "status": row["status"],
        "created_at": row["created"],
        "started_at": row["started"],
        "finished_at": row["finished"],
        "model": row["answered_by"] or row["model"],
        "input": row["input"],
        "output": row["output"] if row["finished"] else None,
        "error": row["error"] or None,
        "usage": {name: row[name] for name in tokens},
        "steps": row["steps"],
        "last_event": row["last_event"],
        "approvals": [approval_object(parts, item) for item in approvals],
        "questions": [question_object(parts, item) for item in questions],
        "resumed": row["resumed"],
    }


def approval_object(parts: Parts, row: Row) -> Object:
    """An open approval."""
    return {
        "approval_id": row["id"],
        "call_id": row["call_id"],
        "tool": row["tool"],
        "arguments": row["arguments"],
        "why": row["why"],
        "choices": ["once", "session", "always", "deny"] if row["rule"] else ["once", "deny"],
        "expires_at": expires(parts, row).isoformat(),
    }


def question_object(parts: Parts, row: Row) -> Object:
    """An open question."""
    return {
        "question_id": row["id"],
        "call_id": row["call_id"],
        "text": row["text"],
        "choices": json.loads(row["choices"]),
        "expires_at": expires(parts, row).isoformat(),
    }


def expires(parts: Parts, row: Row) -> datetime:
    """When an open approval or question ends unanswered, if whoever is there now stays."""
    last = moment(row["created"]) + UNATTENDED
    if not parts.bell.attended(row["run_id"]):
        return last
    left = parts.settings.approvals.timeout - row["attended_seconds"]
    return min(last, parts.clock() + timedelta(seconds=max(0.0, left)))


def session_object(session: Session) -> Object:
    """A session in a list."""
    return {
        "object": "session",
        "id": session.id,
        "title": session.title,
        "created": session.created,
        "updated": session.updated,
        "messages": session.messages,
        "model": session.model,
    }


def message_object(message: Message, when: str) -> Object:
    """A message as a person reads it."""
    shown: Object = {
        "id": message.number,
        "role": message.role,
        "text": message.text,
        "tool_calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.calls],
        "when": when,
    }
    if message.role == "tool":
        shown |= {"tool_call_id": message.answers, "name": message.name, "ok": not message.failed}
    return shown


def hit_object(hit: Hit) -> Object:
    """A message that was searched for."""
    return {
        "session_id": hit.session_id,
        "message_id": hit.message_id,
        "when": hit.when,
        "role": hit.role,
        "excerpt": hit.excerpt,
        "title": hit.title,
    }


def review_object(row: Row) -> Object:
    """A look back, what came of it and what it cost."""
    return {
        "run_id": row["run_id"],
        "session_id": row["session_id"],
        "kind": row["kind"],
        "outcome": row["outcome"],
        "commits": json.loads(row["commits"]),
        "steps": row["steps"],
        "tokens": row["tokens"],
        "seconds": row["seconds"],
        "when": row["at"],
        "focus": row["focus"],
        "line": row["line"],
        "status": row["status"],
        "error": row["error"] or None,
    }


def skill_object(record: Record) -> Object:
    """A skill in a list."""
    return {
        "name": record.name,
        "category": record.category,
        "description": record.description,
        "owner": record.owner,
        "state": record.state,
        "pin": record.pin,
        "broken": record.broken,
        "views": record.views,
        "uses": record.uses,
        "last_used": time_text(record.last_used),
    }


def skill_page(record: Record, view: View | None, content: str, provenance: Object) -> Object:
    """A skill to be read; `view` is None when it is broken or archived, and `content` is then its raw text."""
    return skill_object(record) | {
        "path": record.path,
        "files": list(view.files) if view else [],
        "content": view.content if view else content,
        "warnings": list(record.warnings),
        "provenance": provenance,
    }


def commit_object(commit: Commit) -> Object:
    """A change in the history."""
    return {
        "commit": commit.commit,
        "when": time_text(commit.when),
        "actor": commit.actor,
        "action": commit.action,
        "name": commit.name,
        "subject": commit.subject,
        "why": commit.why,
        "session": commit.session,
        "run": commit.run,
        "evidence": list(commit.evidence),
    }


def taught_object(line: Taught, quotes: Sequence[Mapping[str, Any]]) -> Object:
    """A line of a skill and what taught it, with the quotes that only the database has."""
    told: Object = {name: getattr(line, name) for name in ("line", "text", "commit", "actor", "session", "run")}
    return told | {"when": time_text(line.when), "evidence": [dict(quote) for quote in quotes]}


def staged_object(kind: str, item: Pending) -> Object:
    """A change of a skill or of memory that waits in the inbox."""
    return {
        "id": item.id,
        "kind": kind,
        "name": item.name,
        "action": item.action,
        "actor": item.actor,
        "why": item.why,
        "when": time_text(item.when),
        "conflict": item.conflict,
    }


def waiting_objects(approvals: Sequence[Row], questions: Sequence[Row]) -> list[Object]:
    """Approvals and questions as the inbox shows them."""
    asked = [
        waiting_object("approval", row, row["tool"], row["arguments"], row["why"], ["once", "deny"])
        for row in approvals
    ]
    return asked + [
        waiting_object("question", row, "", "answer", row["text"], json.loads(row["choices"])) for row in questions
    ]


def waiting_object(kind: str, row: Row, name: str, action: str, why: str, choices: list[str]) -> Object:
    """Something that a run asks."""
    return {
        "id": row["id"],
        "kind": kind,
        "name": name,
        "action": action,
        "actor": "assistant",
        "why": why,
        "when": row["created"],
        "conflict": False,
        "run_id": row["run_id"],
        "choices": choices,
    }


def time_text(when: datetime | None) -> str | None:
    """A time as JSON has it."""
    return None if when is None else when.isoformat()
