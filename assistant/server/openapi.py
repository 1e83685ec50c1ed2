"""The table of endpoints as an OpenAPI 3.1 document."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from assistant.server.service import Endpoint

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
EVERYWHERE = (400, 401, 403, 413, 503)
"""Statuses that any endpoint may answer."""
REASONS = {
    400: "The request cannot be understood, or a person must act first",
    401: "No token, or a wrong one",
    403: "Refused: the host, the origin, or a guard",
    404: "There is no such thing",
    409: "It contradicts what is stored",
    413: "The body is too long",
    503: "The same request may work later",
}


def things(**kinds: Schema) -> Schema:
    """An object with fields that are always there, and perhaps more."""
    return {"type": "object", "properties": kinds, "required": list(kinds)}


def list_of(item: Schema) -> Schema:
    """A list of the contract."""
    return things(object={"const": "list"}, data={"type": "array", "items": item}, has_more={"type": "boolean"})


def either(*kinds: str) -> Schema:
    """One of several types."""
    return {"type": list(kinds)}


USAGE = things(input_tokens=NUMBER, output_tokens=NUMBER, cached_tokens=NUMBER)
OBJECT: Schema = {"type": "object"}
SESSION = things(
    object={"const": "session"}, id=TEXT, title=TEXT, created=TEXT, updated=TEXT, messages=NUMBER, model=TEXT
)
RUN = things(
    object={"const": "run"},
    run_id=TEXT,
    session_id=TEXT,
    kind={"enum": ["turn", "review", "job", "subagent", "curator"]},
    status=TEXT,
    created_at=TEXT,
    started_at=either("string", "null"),
    finished_at=either("string", "null"),
    model=TEXT,
    output=either("string", "null"),
    error=either("string", "null"),
    usage=USAGE,
    steps=NUMBER,
    last_event=NUMBER,
    approvals={"type": "array", "items": OBJECT},
    questions={"type": "array", "items": OBJECT},
    resumed=NUMBER,
)
ERROR = things(error=things(message=TEXT, type=TEXT, code=TEXT, param=either("string", "null")))
SCHEMAS: dict[str, Schema] = {
    "Object": OBJECT,
    "List": list_of(OBJECT),
    "Error": ERROR,
    "Health": things(status={"const": "ok"}, version=TEXT),
    "Capabilities": things(version=TEXT, features=OBJECT, endpoints={"type": "array", "items": OBJECT}),
    "Started": things(run_id=TEXT, session_id=TEXT, status={"const": "started"}),
    "Steered": things(run_id=TEXT, accepted={"enum": ["steer", "queue"]}),
    "Run": RUN,
    "Runs": list_of({"$ref": "#/components/schemas/Run"}),
    "Session": SESSION,
    "Sessions": list_of({"$ref": "#/components/schemas/Session"}),
    "Completion": things(
        id=TEXT,
        object={"const": "chat.completion"},
        created=NUMBER,
        model=TEXT,
        choices={"type": "array", "items": OBJECT},
        usage=OBJECT,
    ),
    "Stream": TEXT,
}
HEADERS: dict[str, list[Schema]] = {
    "POST /v1/runs": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 200}}],
    "POST /v1/chat/completions": [
        {"name": "X-Session-Id", "in": "header", "schema": {"type": "string", "maxLength": 200}},
        {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 200}},
    ],
    "GET /v1/runs/{id}/events": [
        {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"}}
    ],
}


def document(endpoints: Sequence[Endpoint], version: str) -> Schema:
    """The whole document."""
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation(endpoint)
    bodies = [(endpoint.body, "validation") for endpoint in endpoints if endpoint.body]
    _, defined = models_json_schema(bodies, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    return {
        "openapi": "3.1.0",
        "info": {"title": "hermes-assistant", "version": version},
        "paths": paths,
        "components": {
            "schemas": SCHEMAS | defined.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def operation(endpoint: Endpoint) -> Schema:
    """One endpoint."""
    told: Schema = {
        "summary": endpoint.summary,
        "operationId": re.sub(r"\W+", "_", f"{endpoint.method.lower()}{endpoint.path}").strip("_"),
        "parameters": parameters(endpoint),
        "responses": {str(endpoint.status): answered(endpoint)}
        | {str(status): refused(status) for status in sorted({*EVERYWHERE, *endpoint.faults})},
    }
    if endpoint.body:
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{endpoint.body.__name__}"}}}
        told["requestBody"] = {"required": True, "content": content}
    return told


def parameters(endpoint: Endpoint) -> list[Schema]:
    """What stands in the path, the query and the headers."""
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)}", endpoint.path)
    ]
    return in_path + asked(endpoint.query) + HEADERS.get(f"{endpoint.method} {endpoint.path}", [])


def asked(query: type[BaseModel] | None) -> list[Schema]:
    """The fields of a query."""
    if query is None:
        return []
    schema = query.model_json_schema()
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": kind}
        for name, kind in schema["properties"].items()
    ]


def answered(endpoint: Endpoint) -> Schema:
    """The answer when all is well."""
    content: Schema = {endpoint.media: {"schema": {"$ref": f"#/components/schemas/{endpoint.returns}"}}}
    if endpoint.returns == "Completion":
        content["text/event-stream"] = {"schema": TEXT}
    return {"description": endpoint.summary, "content": content}


def refused(status: int) -> Schema:
    """The answer when not."""
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {"description": REASONS[status], "content": content}
