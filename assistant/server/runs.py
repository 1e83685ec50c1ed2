"""Runs over HTTP: start, find, follow, steer, stop, answer."""

from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from assistant.core.ports import Start
from assistant.runtime.views import run_object
from assistant.server.faults import BadRequest
from assistant.server.service import Answer, Asked, Service, listed, page

OWN_NAME = "hermes-agent"
"""The configured model, whatever it is."""
MOST = 2**62
ID = 200
"""Characters of an id or a key."""
Status = Literal["queued", "running", "waiting_for_approval", "waiting_for_answer", "completed", "failed", "cancelled"]
Input = str | list[dict[str, Any]]


class StartBody(BaseModel):
    """A wish for a run."""

    input: Input = Field(description="What the person says: text, or a list of text parts.")
    session_id: str = Field("", max_length=ID, description="The session it belongs to; empty: a new one.")
    model: str = Field("", max_length=ID, description="`hermes-agent` or empty: the configured one.")
    instructions: str = Field("", description="Added to the system prompt of a new session.")
    workdir: str = Field("", max_length=4096, description="The folder where commands of a new session start.")

    @field_validator("session_id", "model", "instructions", "workdir", mode="before")
    @classmethod
    def _null_is_empty(cls, value: Any) -> Any:
        return "" if value is None else value


class Paging(BaseModel):
    """Which part of a list."""

    limit: int = Field(50, ge=1, le=500, description="Most items to answer.")
    after: str = Field("", max_length=ID, description="Go on after the item of this id.")


class RunsQuery(Paging):
    """Which runs."""

    session_id: str = Field("", max_length=ID, description="Only runs of this session.")
    status: Literal[Status, ""] = Field("", description="Only runs in this state.")


class EventsQuery(BaseModel):
    """Where a stream begins."""

    after: int = Field(0, ge=0, le=MOST, description="The number of the last event that was seen.")


class ApprovalBody(BaseModel):
    """A person's decision."""

    approval_id: str = Field("", max_length=ID, description="Needed when several are open.")
    decision: Literal["once", "session", "always", "deny"]
    feedback: str = Field("", max_length=10_000, description="Told to the model.")


class AnswerBody(BaseModel):
    """A person's answer."""

    question_id: str = Field("", max_length=ID, description="Needed when several are open.")
    answer: str = Field(min_length=1, max_length=100_000)


class SteerBody(BaseModel):
    """Words for a running turn, or the next one."""

    input: Input
    mode: Literal["steer", "queue"] = "steer"


def start(service: Service, asked: Asked) -> Answer:
    """Write a run down."""
    wish = asked.body
    key = asked.headers.get("idempotency-key", "")
    if len(key) > ID:
        raise BadRequest(f"an Idempotency-Key may have {ID} characters", param="Idempotency-Key")
    text = plain_text(wish.input, "input")
    started = service.runs.start(
        Start(text, wish.session_id, model_of(wish.model), wish.instructions, key, wish.workdir)
    )
    told = {"run_id": started.run_id, "session_id": started.session_id, "status": "started"}
    return Answer(told, 202, {"Idempotency-Replayed": "true"} if started.replayed else {})


def listing(service: Service, asked: Asked) -> dict[str, Any]:
    """Runs, the newest first."""
    wanted = asked.query
    if wanted.after:
        service.parts.runs.row(wanted.after)
    rows = service.parts.runs.newest(wanted.session_id, wanted.status, wanted.limit + 1, wanted.after)
    shown, more = page(rows, wanted.limit)
    return listed([run_object(service.parts, row) for row in shown], more)


def one(service: Service, asked: Asked) -> dict[str, Any]:
    """One run as it stands."""
    return run_object(service.parts, service.parts.runs.row(asked.path["id"]))


async def events(service: Service, request: Request, asked: Asked) -> Response:
    """The stream of a run; `Last-Event-ID` goes before `after`."""
    last = request.headers.get("last-event-id", "")
    if last and not (last.isascii() and last.isdigit()):
        raise BadRequest("Last-Event-ID must be the number of an event", param="Last-Event-ID")
    after = min(int(last[:20]), MOST) if last else asked.query.after
    await service.feeds.known(asked.path["id"])
    return sse(service.feeds.sse(asked.path["id"], after))


def sse(stream: Any) -> StreamingResponse:
    """A response of server-sent events that no proxy holds back."""
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def approve(service: Service, asked: Asked) -> dict[str, Any]:
    """Decide."""
    run_id, said = asked.path["id"], asked.body
    service.runs.decide(run_id, said.decision, said.approval_id, said.feedback)
    return {"run_id": run_id, "decision": said.decision}


def answer(service: Service, asked: Asked) -> dict[str, Any]:
    """Answer."""
    service.runs.answer(asked.path["id"], asked.body.answer, asked.body.question_id)
    return {"run_id": asked.path["id"], "answer": asked.body.answer}


def steer(service: Service, asked: Asked) -> dict[str, Any]:
    """Hand words over."""
    accepted = service.runs.steer(asked.path["id"], plain_text(asked.body.input, "input"), asked.body.mode)
    return {"run_id": accepted.run_id, "accepted": accepted.mode}


def stop(service: Service, asked: Asked) -> dict[str, Any]:
    """End a run soon."""
    run_id = asked.path["id"]
    service.runs.stop(run_id)
    return {"run_id": run_id, "status": service.parts.runs.row(run_id)["status"], "stopping": True}


def model_of(name: str) -> str:
    """The model as the engine names it: empty for the configured one."""
    return "" if name == OWN_NAME else name


def plain_text(content: Any, where: str) -> str:
    """The text of a message's content; BadRequest for a part that is no text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts = []
    for number, part in enumerate(content):
        if not (isinstance(part, dict) and isinstance(text := part.get("text"), str)):
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            why = f"{where}[{number}] is a part of type {kind!r}: only text can be read here"
            raise BadRequest(why, "unsupported_content_type", f"{where}.{number}")
        texts.append(text)
    return "\n".join(texts)
