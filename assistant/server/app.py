"""The application: each endpoint's request is read and checked, answered in a thread, and every fault has one shape."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assistant.server.endpoints import ENDPOINTS
from assistant.server.faults import BadRequest, Fault, fault, fault_of
from assistant.server.gate import Gate
from assistant.server.service import Answer, Asked, Endpoint, Service


def build(service: Service, endpoints: Sequence[Endpoint] = ENDPOINTS) -> Starlette:
    """The application over one service."""
    return Starlette(
        routes=[Route(e.path, handling(service, e), methods=[e.method]) for e in endpoints],
        middleware=[Middleware(Gate, door=service.door)],
        exception_handlers={HTTPException: routing_fault},
    )


def handling(service: Service, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """How one endpoint is answered.  One of the four places that may catch everything."""

    async def handle(request: Request) -> Response:
        try:
            return await respond(service, endpoint, request)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as problem:  # noqa: BLE001 - seam: http
            return faulty(fault_of(problem) or defect(service, f"{endpoint.method} {endpoint.path}"))

    return handle


async def respond(service: Service, endpoint: Endpoint, request: Request) -> Response:
    """Read, check, answer."""
    asked = Asked(
        request.path_params,
        request.headers,
        read_query(endpoint.query, request),
        await read_body(endpoint.body, request),
    )
    if endpoint.respond:
        return await endpoint.respond(service, request, asked)
    assert endpoint.answer is not None
    work = partial(endpoint.answer, service, asked)
    loop = asyncio.get_running_loop()
    answer = work() if endpoint.quick else await loop.run_in_executor(service.answering, work)
    if not isinstance(answer, Answer):
        answer = Answer(answer, endpoint.status)
    return JSONResponse(answer.body, answer.status, dict(answer.headers))


def read_query(kind: type[BaseModel] | None, request: Request) -> BaseModel | None:
    """The query as the endpoint wants it; the last of several equal names counts."""
    return kind.model_validate(dict(request.query_params)) if kind else None


async def read_body(kind: type[BaseModel] | None, request: Request) -> BaseModel | None:
    """The body as the endpoint wants it."""
    if kind is None:
        return None
    body = await request.body()
    if not body.strip():
        raise BadRequest("this needs a JSON object as its body")
    return kind.model_validate_json(body)


def faulty(told: Fault) -> Response:
    """An error as a response."""
    return JSONResponse(told.body(), told.status, dict(told.headers()))


def defect(service: Service, where: str) -> Fault:
    """A fault of ours: logged with its trace, told with the name under which it is found."""
    name = service.parts.report(where)
    return fault(500, f"internal fault, reported as {name} in logs/assistant.log", "internal_fault")


async def routing_fault(request: Request, problem: Exception) -> Response:
    """No such path, or not by this method."""
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    words: dict[int, tuple[str, str]] = {
        404: (f"there is nothing at {request.url.path}: GET /v1/capabilities lists the endpoints", "not_found"),
        405: (f"{request.url.path} does not take {request.method}", "method_not_allowed"),
    }
    message, code = words.get(status, (str(problem), "refused"))
    headers: Any = getattr(problem, "headers", None) or {}
    told = fault(status, message, code)
    return JSONResponse(told.body(), status, dict(headers) | dict(told.headers()))
