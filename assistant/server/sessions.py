"""Sessions over HTTP: list, make, read, name, fork, delete, search."""

from typing import Any

from pydantic import BaseModel, Field

from assistant.runtime.views import hit_object, message_object, session_object
from assistant.server.runs import ID, MOST, model_of
from assistant.server.service import Answer, Asked, Service, listed, page


class NewSession(BaseModel):
    """A session to be made."""

    title: str = Field("", max_length=500)
    model: str = Field("", max_length=ID)
    instructions: str = ""


class Renamed(BaseModel):
    """What may be changed of a session."""

    title: str = Field(min_length=1, max_length=500)


class Fork(BaseModel):
    """Where a fork ends."""

    before_message: int = Field(0, ge=0, le=MOST, description="The first message that is left out; 0: none.")


class MessagesQuery(BaseModel):
    """Which messages."""

    after: int = Field(0, ge=0, le=MOST, description="The id of the last message that was seen.")
    limit: int = Field(100, ge=1, le=1000)


class SearchQuery(BaseModel):
    """What to look for."""

    q: str = Field(min_length=1, max_length=1000, description="Words that must all occur.")
    limit: int = Field(10, ge=1, le=100)


def listing(service: Service, asked: Asked) -> dict[str, Any]:
    """Sessions, the last used first."""
    sessions = service.parts.sessions
    before = sessions.row(asked.query.after)["updated"] if asked.query.after else ""
    shown, more = page(sessions.newest(asked.query.limit + 1, before), asked.query.limit)
    return listed([session_object(session) for session in shown], more)


def create(service: Service, asked: Asked) -> Answer:
    """An empty session."""
    parts, wish = service.parts, asked.body
    with parts.database.writing() as tx:
        session_id = parts.sessions.create(tx, model_of(wish.model), wish.instructions, str(parts.workdir))
    if wish.title.strip():
        parts.sessions.rename(session_id, wish.title)
    return Answer(session_object(parts.sessions.show(session_id)), 201)


def one(service: Service, asked: Asked) -> dict[str, Any]:
    """One session."""
    return session_object(service.parts.sessions.show(asked.path["id"]))


def rename(service: Service, asked: Asked) -> dict[str, Any]:
    """Give it another title."""
    service.parts.sessions.rename(asked.path["id"], asked.body.title)
    return one(service, asked)


def delete(service: Service, asked: Asked) -> dict[str, Any]:
    """Remove all of it; never under a run that lives."""
    service.parts.sessions.delete(asked.path["id"])
    return {"object": "session.deleted", "id": asked.path["id"], "deleted": True}


def messages(service: Service, asked: Asked) -> dict[str, Any]:
    """What was said, oldest first."""
    said = service.parts.sessions.transcript(asked.path["id"], asked.query.after, asked.query.limit + 1)
    shown, more = page(said, asked.query.limit)
    return listed([message_object(message, when) for message, when in shown], more)


def fork(service: Service, asked: Asked) -> Answer:
    """A new session with the beginning of this one."""
    new = service.parts.sessions.fork(asked.path["id"], asked.body.before_message)
    return Answer(session_object(service.parts.sessions.show(new)), 201)


def search(service: Service, asked: Asked) -> dict[str, Any]:
    """Messages that contain every word."""
    hits = service.parts.sessions.search(asked.query.q, asked.query.limit)
    return listed([hit_object(hit) for hit in hits])
