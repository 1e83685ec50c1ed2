"""The table of everything that can be asked over HTTP."""

from typing import Any

from assistant.errors import AssistantError
from assistant.server import chat, learning, runs, sessions
from assistant.server.openapi import document
from assistant.server.service import Asked, Endpoint, Service, listed

FEATURES = {
    "runs": True,
    "run_events_sse": True,
    "run_events_resume": True,
    "run_stop": True,
    "run_steer": True,
    "run_queue": True,
    "run_approval_by_id": True,
    "run_answer": True,
    "idempotency_key": True,
    "chat_completions": True,
    "chat_completions_streaming": True,
    "tool_progress_events": True,
    "sessions": True,
    "session_fork": True,
    "search": True,
    "skills": True,
    "inbox": True,
    "reviews": True,
    "responses": False,
    "jobs": False,
}


def health(service: Service, asked: Asked) -> dict[str, Any]:
    """Alive."""
    return {"status": "ok", "version": service.parts.version}


def capabilities(service: Service, asked: Asked) -> dict[str, Any]:
    """What this server can do; clients look here, not at versions."""
    return {
        "object": "capabilities",
        "version": service.parts.version,
        "features": FEATURES,
        "session_header": "X-Session-Id",
        "endpoints": [{"method": e.method, "path": e.path, "summary": e.summary} for e in ENDPOINTS],
    }


def models(service: Service, asked: Asked) -> dict[str, Any]:
    """The configured model under our own name first, then under its own."""
    try:
        own = service.parts.models("").name
    except AssistantError:
        own = ""
    names = dict.fromkeys(name for name in (runs.OWN_NAME, own) if name)
    return listed([{"id": name, "object": "model", "created": 0, "owned_by": "hermes"} for name in names])


def openapi(service: Service, asked: Asked) -> dict[str, Any]:
    """This table as an OpenAPI document."""
    return document(ENDPOINTS, service.parts.version)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/health", "Whether the server is alive", health, returns="Health", quick=True),
    Endpoint("GET", "/v1/capabilities", "What this server can do", capabilities, returns="Capabilities", quick=True),
    Endpoint("GET", "/v1/models", "The models that can be named", models, returns="List"),
    Endpoint(
        "POST",
        "/v1/chat/completions",
        "A chat in the shape of OpenAI",
        respond=chat.completions,
        body=chat.ChatBody,
        returns="Completion",
        faults=(404, 409),
    ),
    Endpoint(
        "POST",
        "/v1/runs",
        "Start a run",
        runs.start,
        body=runs.StartBody,
        returns="Started",
        status=202,
        faults=(404, 409),
    ),
    Endpoint(
        "GET", "/v1/runs", "Runs, the newest first", runs.listing, query=runs.RunsQuery, returns="Runs", faults=(404,)
    ),
    Endpoint("GET", "/v1/runs/{id}", "One run as it stands", runs.one, returns="Run", faults=(404,)),
    Endpoint(
        "GET",
        "/v1/runs/{id}/events",
        "Follow a run",
        respond=runs.events,
        query=runs.EventsQuery,
        media="text/event-stream",
        returns="Stream",
        faults=(404,),
    ),
    Endpoint(
        "POST",
        "/v1/runs/{id}/approval",
        "Decide an approval",
        runs.approve,
        body=runs.ApprovalBody,
        faults=(404, 409),
    ),
    Endpoint("POST", "/v1/runs/{id}/answer", "Answer a question", runs.answer, body=runs.AnswerBody, faults=(404, 409)),
    Endpoint(
        "POST",
        "/v1/runs/{id}/steer",
        "Add words to a run",
        runs.steer,
        body=runs.SteerBody,
        returns="Steered",
        faults=(404,),
    ),
    Endpoint("POST", "/v1/runs/{id}/stop", "Stop a run", runs.stop, faults=(404,)),
    Endpoint(
        "GET",
        "/v1/sessions",
        "Sessions, the last used first",
        sessions.listing,
        query=runs.Paging,
        returns="Sessions",
        faults=(404,),
    ),
    Endpoint(
        "POST",
        "/v1/sessions",
        "Make a session",
        sessions.create,
        body=sessions.NewSession,
        returns="Session",
        status=201,
    ),
    Endpoint("GET", "/v1/sessions/{id}", "One session", sessions.one, returns="Session", faults=(404,)),
    Endpoint(
        "PATCH",
        "/v1/sessions/{id}",
        "Give a session another title",
        sessions.rename,
        body=sessions.Renamed,
        returns="Session",
        faults=(404,),
    ),
    Endpoint("DELETE", "/v1/sessions/{id}", "Remove all of a session", sessions.delete, faults=(404, 409)),
    Endpoint(
        "GET",
        "/v1/sessions/{id}/messages",
        "What was said",
        sessions.messages,
        query=sessions.MessagesQuery,
        returns="List",
        faults=(404,),
    ),
    Endpoint(
        "POST",
        "/v1/sessions/{id}/fork",
        "Begin anew from a place in a session",
        sessions.fork,
        body=sessions.Fork,
        returns="Session",
        status=201,
        faults=(404,),
    ),
    Endpoint("GET", "/v1/search", "Find what was said", sessions.search, query=sessions.SearchQuery, returns="List"),
    Endpoint("GET", "/v1/skills", "All skills", learning.skills, query=learning.SkillsQuery, returns="List"),
    Endpoint("GET", "/v1/skills/{name}", "One skill", learning.skill, faults=(404, 409)),
    Endpoint(
        "GET",
        "/v1/skills/{name}/history",
        "The changes of a skill",
        learning.history,
        query=learning.HistoryQuery,
        returns="List",
        faults=(404, 409),
    ),
    Endpoint("GET", "/v1/skills/{name}/diff/{commit}", "What a commit changed", learning.diff, faults=(404, 409)),
    Endpoint(
        "POST",
        "/v1/skills/{name}/undo",
        "Take a commit back",
        learning.undo,
        body=learning.UndoBody,
        faults=(404, 409),
    ),
    Endpoint("GET", "/v1/inbox", "All that waits for the person", learning.waiting, returns="List"),
    Endpoint(
        "POST",
        "/v1/inbox/{id}",
        "Approve or reject one of them",
        learning.decide,
        body=learning.Verdict,
        faults=(404, 409),
    ),
    Endpoint(
        "GET",
        "/v1/reviews",
        "Looks back, the newest first",
        learning.reviews,
        query=learning.ReviewsQuery,
        returns="List",
    ),
    Endpoint("GET", "/openapi.json", "This table as an OpenAPI document", openapi),
)
