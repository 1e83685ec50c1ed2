"""Chat completions: a run for what a person says, a plain model call for what a front end asks on the side.

A client that named a session may leave: its run goes on and is found there.  One that did not is the only one who
knows its run, so leaving stops it.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Message, Usage
from assistant.core.messages import Request as ModelRequest
from assistant.core.ports import Start, Started
from assistant.server.completion import DONE, Head, Telling, failure
from assistant.server.conversation import TASK_HEADER, ChatBody, Said, is_side_task, refuse_tools, said_in
from assistant.server.faults import BadRequest
from assistant.server.feeds import KEEP_ALIVE
from assistant.server.runs import ID, OWN_NAME, model_of, sse
from assistant.server.service import Asked, Service
from skills_store.values import Origin

__all__ = ["ChatBody", "completions"]
GONE_SECONDS = 0.5
"""How often to look whether a client that waits is still there."""
NO_RETRY = {"x-should-retry": "false"}
"""The run was written down: asking again would do the work twice."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that answers a chat request."""

    run_id: str
    session_id: str
    named: bool
    """Whether the client named the session."""
    head: Head

    @property
    def headers(self) -> dict[str, str]:
        """How the client finds the run again."""
        return {"X-Session-Id": self.session_id, "X-Run-Id": self.run_id}


async def completions(service: Service, request: Request, asked: Asked) -> Response:
    """Answer a chat request, as a stream or whole."""
    body: ChatBody = asked.body
    refuse_tools(body)
    said = said_in(body)
    loop = asyncio.get_running_loop()
    if is_side_task(said, asked.headers.get(TASK_HEADER, "")):
        return await aside(service, body, said)
    begun = await loop.run_in_executor(service.answering, partial(begin, service, asked, said))
    if body.stream:
        response: Response = sse(streamed(service, body, begun))
        response.headers.update(begun.headers)
        return response
    return await whole(service, request, begun)


def begin(service: Service, asked: Asked, said: Said) -> Begun:
    """Write the run down: in the named session, or in one of its own that holds the messages as they were sent."""
    body: ChatBody = asked.body
    named = asked.headers.get("x-session-id", "").strip()
    key = asked.headers.get("idempotency-key", "")
    if max(len(named), len(key)) > ID or not named.isprintable():
        raise BadRequest(f"X-Session-Id and Idempotency-Key may have {ID} printable characters each")
    wish = Start(said.text, "", model_of(body.model), said.instructions, key)
    started: Started = service.runs.start(wish, said.history, named)
    created = int(service.parts.clock().timestamp())
    head = Head(f"chatcmpl-{started.run_id}", created, body.model or OWN_NAME)
    return Begun(started.run_id, started.session_id, bool(named), head)


async def streamed(service: Service, body: ChatBody, begun: Begun) -> AsyncIterator[bytes]:
    """The run as a stream of chunks."""
    telling = Telling(begun.head, bool(body.stream_options and body.stream_options.include_usage))
    ended = False
    try:
        yield telling.begin()
        async for frames in service.feeds.frames(begun.run_id):
            ended = bool(frames) and frames[-1].last
            yield b"".join(piece for frame in frames for piece in telling.pieces(frame)) or KEEP_ALIVE
    finally:
        if not ended:
            left(service, begun)


async def whole(service: Service, request: Request, begun: Begun) -> Response:
    """The run's answer in one piece."""
    end = asyncio.create_task(until_over(service, begun.run_id))
    gone = asyncio.create_task(until_gone(request))
    try:
        await asyncio.wait({end, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not end.done():
            left(service, begun)
            return Response(status_code=400)
    finally:
        end.cancel()
        gone.cancel()
    loop = asyncio.get_running_loop()
    row = await loop.run_in_executor(service.answering, service.parts.runs.row, begun.run_id)
    if row["status"] == "failed":
        told = failure(row["error"], end.result())
        return JSONResponse(told.body(), told.status, begun.headers | NO_RETRY)
    usage = {name: row[name] for name in ("input_tokens", "output_tokens", "cached_tokens")}
    return JSONResponse(begun.head.whole(row["output"], usage), headers=begun.headers)


async def until_over(service: Service, run_id: str) -> str:
    """Wait for the run's last event; the code of its fault, if it failed."""
    async for frames in service.feeds.frames(run_id):
        if frames and frames[-1].last:
            return frames[-1].code
    return ""


async def until_gone(request: Request) -> None:
    """Wait until the client is gone."""
    while not await request.is_disconnected():
        await asyncio.sleep(GONE_SECONDS)


def left(service: Service, begun: Begun) -> None:
    """The client is gone before the end; a server that ends is no such thing."""
    if not begun.named and not service.feeds.closing:
        service.answering.submit(service.runs.stop, begun.run_id)


async def aside(service: Service, body: ChatBody, said: Said) -> Response:
    """A small question for the model itself: no run, no session, no tools."""
    loop = asyncio.get_running_loop()
    text, usage = await loop.run_in_executor(service.aside, partial(ask_model, service, body, said))
    head = Head(f"chatcmpl-{service.parts.ids('task')}", int(service.parts.clock().timestamp()), body.model or OWN_NAME)
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    if not body.stream:
        return JSONResponse(head.whole(text, counts))

    async def pieces() -> AsyncIterator[bytes]:
        yield head.delta(role="assistant", content=text) + head.delta("stop") + DONE

    return sse(pieces())


def ask_model(service: Service, body: ChatBody, said: Said) -> tuple[str, Usage]:
    """The model's answer and what it cost."""
    model = service.parts.models(model_of(body.model))
    message = Message("user", said.text, origin=Origin.OWN)
    text, usage = "", Usage()
    interrupt = Interrupt()
    with service.parts.slots.taken(interrupt):
        for chunk in model.stream(ModelRequest(said.instructions, (), (message,)), interrupt):
            text = "" if chunk.restarted else text + chunk.text
            usage += chunk.usage or Usage()
    return text, usage
