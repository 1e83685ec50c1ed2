"""
title: Hermes Assistant
author: hermes-assistant
version: 0.1.0
required_open_webui_version: 0.9.0
description: Runs of a Hermes assistant inside Open WebUI: they outlive the page, the connection and Open WebUI itself.
"""
# WARNING: a pipe is code that runs inside the Open WebUI server with all of its rights.  Paste only what you have read.
# The assistant works on the machine of ITS server, with the rights of its user, for everybody who may use this model.
#
# Paste this whole file under Admin Panel > Functions, then set BASE_URL and API_KEY in its valves.  It needs nothing
# but Open WebUI.  A run is created under a key made of the chat's and the message's id, so the same message asked
# again (after a reload, or a restart of Open WebUI) is the same run, and all of it is shown again.

import asyncio
import hashlib
import html
import importlib.util
import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

from pydantic import BaseModel, Field

MODEL = "hermes-agent"
NOTE = "hermes"
"""The name of our part of a message's `meta`."""
ENDED = ("completed", "failed", "cancelled")
SILENCE_SECONDS, SAVE_SECONDS, PAUSE_SECONDS = 40.0, 2.0, 0.5
SHOWN_RESULT = 4000
WORDS = {
    "run.steered": "\n\n> {text}\n\n",
    "run.failed": "\n\n**The run failed:** {error}",
    "run.cancelled": "\n\n*(stopped)*",
}
"""Events that are simply written."""
DETAILS = re.compile(r"<details type=\"(?:tool_calls|reasoning)\".*?</details>\s*", re.DOTALL)
Emit = Callable[[dict[str, Any]], Awaitable[Any]]
Note = dict[str, Any]


class ServerError(Exception):
    """Raised when the assistant's server refuses something; its text is the server's own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server:
    """HTTP to the assistant, with the client library that Open WebUI brings along."""

    def __init__(self, base_url: str, key: str) -> None:
        name = next(name for name in ("httpx", "httpx2") if importlib.util.find_spec(name))
        self.http = importlib.import_module(name)
        self.url = base_url.rstrip("/").removesuffix("/v1")
        self.headers = {"Authorization": f"Bearer {key}"}

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The JSON of an answer; ServerError for a refusal, OSError when there is none."""
        async with self._stream(method, path, body, headers) as answer:
            return json.loads(await answer.aread())

    async def begin(self, path: str, body: Any, **headers: str) -> Mapping[str, str]:
        """The headers of an answer whose body is not waited for."""
        async with self._stream("POST", path, body, headers) as answer:
            return dict(answer.headers)

    async def events(self, run_id: str, after: int) -> AsyncIterator[dict[str, Any]]:
        """The events of a run past a number, until it ends or the connection does."""
        async with self._stream("GET", f"/v1/runs/{run_id}/events?after={after}", None, {}) as answer:
            rest = b""
            async for piece in answer.aiter_bytes():
                *blocks, rest = (rest + piece).split(b"\n\n")
                for line in (line for block in blocks for line in block.split(b"\n")):
                    if line.startswith(b"data:"):
                        yield json.loads(line[5:])

    @asynccontextmanager
    async def _stream(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> AsyncIterator[Any]:
        named = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {} if body is None else {"json": body}
        try:
            async with (
                self.http.AsyncClient(timeout=SILENCE_SECONDS) as client,
                client.stream(method, self.url + path, headers=named, **sent) as answer,
            ):
                if answer.is_error:
                    raise ServerError(answer.status_code, refusal(await answer.aread()))
                yield answer
        except self.http.HTTPError as fault:
            raise ConnectionError(f"{self.url} does not answer ({fault or type(fault).__name__})") from fault


def refusal(body: bytes) -> str:
    """The message of an error answer."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return body[:200].decode(errors="replace") or "the server refused without a word"


class Shelf:
    """Where a message of Open WebUI keeps what we know of its run: our part of the message's `meta`."""

    def __init__(self, chat_id: str, message_id: str) -> None:
        self.chat_id = chat_id
        self.message_id = message_id
        self.usable = bool(chat_id and message_id) and not chat_id.startswith(("local:", "channel:"))

    async def messages(self) -> dict[str, dict[str, Any]]:
        """All messages of the chat by their ids."""
        return dict(await self._chats().get_messages_map_by_chat_id(self.chat_id) or {}) if self.usable else {}

    async def write(self, note: Note) -> None:
        """Keep what is known, beside what Open WebUI itself keeps there."""
        if self.usable:
            own = (await self.messages()).get(self.message_id, {})
            kept = {"meta": {**(own.get("meta") or {}), NOTE: note}}
            await self._chats().upsert_message_to_chat_by_id_and_message_id(self.chat_id, self.message_id, kept)

    def _chats(self) -> Any:
        return importlib.import_module("open_webui.models.chats").Chats


class Showing:
    """One run, shown in one message; a method a type of event, and whatever has none is passed over."""

    def __init__(self, server: Server, run_id: str, emit: Emit | None, call: Emit | None, valves: Any) -> None:
        self.server, self.run_id, self.emit, self.call, self.valves = server, run_id, emit, call, valves
        self.said = ""  # of the message that the model is saying
        self.arguments: dict[str, str] = {}
        self.dialogs: dict[str, asyncio.Task[None]] = {}

    async def show(self, event: dict[str, Any]) -> list[Any]:
        """What an event adds to the message; the rest is told beside it."""
        kind = str(event["type"])
        teller = getattr(self, "_" + kind.replace(".", "_"), None)
        piece = await teller(event) if teller else WORDS.get(kind, "").format_map(event)
        return [piece] if piece else []

    async def status(self, text: str, done: bool = False) -> None:
        """A line above the message."""
        if self.emit:
            await self.emit({"type": "status", "data": {"description": text, "done": done, "hidden": False}})

    async def stop(self) -> None:
        """End the run."""
        await self.server.ask("POST", f"/v1/runs/{self.run_id}/stop", {})
        await self.status("stopped", done=True)

    def close(self) -> None:
        """Close every dialog."""
        for task in self.dialogs.values():
            task.cancel()

    async def _message_delta(self, event: dict[str, Any]) -> Any:
        self.said += event["text"]
        return event["text"]

    async def _reasoning_delta(self, event: dict[str, Any]) -> Any:
        return {"choices": [{"index": 0, "delta": {"reasoning_content": event["text"]}}]}

    async def _message_restarted(self, event: dict[str, Any]) -> Any:
        void, self.said = self.said, ""
        return f"\n\n~~(asked again: {event['reason']})~~\n\n" if void else ""

    async def _message_completed(self, event: dict[str, Any]) -> Any:
        text, said, self.said = event["text"], self.said, ""
        rest = text[len(said) :] if text.startswith(said) else ""
        return rest + ("\n\n" if event["calls"] and text else "")

    async def _tool_started(self, event: dict[str, Any]) -> Any:
        self.arguments[event["call_id"]] = event["arguments"]
        await self.status(f"{event['tool']}: {event['preview'] or '…'}")

    async def _tool_completed(self, event: dict[str, Any]) -> Any:
        await self.status(f"{event['tool']} {'done' if event['ok'] else 'failed'} ({event['seconds']:.1f} s)")
        return tool_block(event, self.arguments.get(event["call_id"], "{}")) if self.valves.SHOW_TOOLS else ""

    async def _approval_requested(self, event: dict[str, Any]) -> Any:
        await self.status(f"waits for your approval: {event['tool']} ({event['why']})")
        text = f"{event['why']}\n\n{event['tool']} {event['arguments']}"
        said = self._dialog("confirmation", "May the assistant do this?", text)
        self._ask(said, "approval", "decision", approval_id=event["approval_id"])

    async def _question_asked(self, event: dict[str, Any]) -> Any:
        await self.status(f"asks: {event['text']}")
        text = event["text"] + "".join(f"\n- {choice}" for choice in event.get("choices") or ())
        said = self._dialog("input", "The assistant asks", text)
        self._ask(said, "answer", "answer", question_id=event["question_id"])

    async def _approval_resolved(self, event: dict[str, Any]) -> Any:
        self._settled(event["approval_id"])
        await self.status(f"{event['decision']} by {event['by']}")

    async def _question_answered(self, event: dict[str, Any]) -> Any:
        self._settled(event["question_id"])

    def _ask(self, dialog: Awaitable[str], what: str, field: str, **asked: str) -> None:
        """Ask in the browser, while the answer may come from elsewhere: the dialog is closed then."""

        async def asking() -> None:
            try:
                if said := await dialog:
                    await self.server.ask("POST", f"/v1/runs/{self.run_id}/{what}", {field: said, **asked})
            except (OSError, TimeoutError, ServerError) as fault:
                await self.status(str(fault) or "nobody answered in the browser; an answer from elsewhere still counts")

        self.dialogs[next(iter(asked.values()))] = asyncio.get_running_loop().create_task(asking())

    def _settled(self, asked: str) -> None:
        if task := self.dialogs.pop(asked, None):
            task.cancel()

    async def _dialog(self, kind: str, title: str, text: str) -> str:
        """What the person says in the browser; empty when nobody is there."""
        if self.call is None:
            return ""
        async with asyncio.timeout(self.valves.ASK_SECONDS):
            said = await self.call({"type": kind, "data": {"title": title, "message": text, "placeholder": "…"}})
        return (
            {True: "once", False: "deny"}[said]
            if isinstance(said, bool)
            else str(said if isinstance(said, str) else "")
        )


def tool_block(event: dict[str, Any], arguments: str) -> str:
    """A finished tool as Open WebUI shows its own."""
    result = event["result"]
    shown = result if len(result) <= SHOWN_RESULT else result[:SHOWN_RESULT] + "\n…"
    return (
        f'\n\n<details type="tool_calls" done="true" id="{html.escape(event["call_id"])}" '
        f'name="{html.escape(event["tool"])}" arguments="{html.escape(arguments)}">\n'
        f"<summary>Tool Executed</summary>\n{html.escape(shown)}\n</details>\n\n"
    )


def without_blocks(content: Any) -> str:
    """A message's text without the blocks that were only for showing."""
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return DETAILS.sub("", content or "").strip()


def key_of(chat_id: str, message_id: str) -> str:
    """The same message is the same run."""
    return "webui-" + hashlib.sha256(f"{chat_id}\n{message_id}".encode()).hexdigest()[:40]


def everything_ends() -> bool:
    """Whether Open WebUI itself shuts down: then every task is being cancelled, not only ours."""
    own = asyncio.current_task()
    return all(task.cancelling() for task in asyncio.all_tasks() if task is not own)


class Pipe:
    """What Open WebUI calls."""

    class Valves(BaseModel):
        """Set by the administrator."""

        BASE_URL: str = Field(default="http://127.0.0.1:8642", description="Where the assistant's server answers.")
        API_KEY: str = Field(default="", description="ASSISTANT_API_KEY of that server, or `token` in its server.json.")
        SHOW_TOOLS: bool = Field(default=True, description="Show what each tool was asked and answered.")
        ASK_SECONDS: int = Field(default=300, description="How long a question stays open in the browser.")
        AWAY_SECONDS: int = Field(default=300, description="How long to look for a server that went away.")

    def __init__(self) -> None:
        self.type = "manifold"
        self.name = ""
        self.valves = self.Valves()
        self.stopping: set[asyncio.Task[Any]] = set()

    async def pipes(self) -> list[dict[str, str]]:
        """The models to choose from."""
        try:
            await Server(self.valves.BASE_URL, self.valves.API_KEY).ask("GET", "/v1/models")
            return [{"id": MODEL, "name": "Hermes"}]
        except (OSError, TimeoutError, ServerError) as fault:
            return [{"id": MODEL, "name": f"Hermes (not reachable: {fault or 'no answer'})"}]

    async def pipe(
        self,
        body: dict[str, Any],
        __metadata__: dict[str, Any] | None = None,
        __event_emitter__: Emit | None = None,
        __event_call__: Emit | None = None,
        __task__: Any = None,
    ) -> AsyncIterator[Any]:
        """One message, from the run's first event to its last; side requests are answered by a plain model call."""
        server, about = Server(self.valves.BASE_URL, self.valves.API_KEY), __metadata__ or {}
        messages = [{"role": m["role"], "content": without_blocks(m.get("content"))} for m in body["messages"]]
        try:
            features = (await server.ask("GET", "/v1/capabilities"))["features"]
            if __task__ or not (features.get("runs") and features.get("run_events_resume")):
                wish = {"model": MODEL, "messages": messages}
                answer = await server.ask("POST", "/v1/chat/completions", wish, X_Task=str(__task__ or ""))
                yield answer["choices"][0]["message"]["content"]
                return
            shelf = Shelf(str(about.get("chat_id") or ""), str(about.get("message_id") or ""))
            note = await self._begin(server, shelf, messages, str(about.get("user_message_id") or ""))
            showing = Showing(server, note["run_id"], __event_emitter__, __event_call__, self.valves)
            async with aclosing(self._follow(shelf, showing, note)) as pieces:
                async for piece in pieces:
                    yield piece
        except (OSError, ServerError) as fault:
            yield f"\n\n**The assistant cannot be asked:** {fault}"

    async def _begin(self, server: Server, shelf: Shelf, messages: list[dict[str, str]], asked: str) -> Note:
        """The run of this message: the one it has, an unfinished one for the same question, or a new one."""
        others = await shelf.messages()
        for known in (note_of(others.get(shelf.message_id, {})), unfinished(others, shelf.message_id, asked)):
            if known.get("run_id"):
                return {**known, "seq": 0}
        key = key_of(shelf.chat_id, shelf.message_id) if shelf.usable else f"webui-{uuid.uuid4().hex}"
        session = session_before(others, asked)
        if session and await newest_run(server, session["session_id"]) == session["run_id"]:
            wish = {"input": messages[-1]["content"], "session_id": session["session_id"]}
            told = await server.ask("POST", "/v1/runs", wish, Idempotency_Key=key)
            note = {"run_id": told["run_id"], "session_id": told["session_id"]}
        else:
            wish = {"model": MODEL, "messages": messages, "stream": True}
            told = await server.begin("/v1/chat/completions", wish, Idempotency_Key=key, X_Session_Id=key)
            note = {"run_id": told["x-run-id"], "session_id": told["x-session-id"]}
        note |= {"seq": 0, "status": "queued", "asked": asked}
        await shelf.write(note)
        return note

    async def _follow(self, shelf: Shelf, showing: Showing, note: Note) -> AsyncGenerator[Any, None]:
        """Every event from the first; a stop in the browser stops the run, the end of Open WebUI does not."""
        saved, away, seq = time.monotonic(), 0.0, 0
        try:
            while note["status"] not in ENDED:
                begun = seq
                try:
                    async for event in showing.server.events(showing.run_id, seq):
                        seq, away = event["seq"], 0.0
                        for piece in await showing.show(event):
                            yield piece
                        kind = str(event["type"])
                        note |= {"seq": seq, "status": kind[4:] if kind[4:] in ENDED else "running"}
                        if kind.startswith("tool.") or time.monotonic() - saved > SAVE_SECONDS:
                            await shelf.write(note)
                            saved = time.monotonic()
                    run = await showing.server.ask("GET", f"/v1/runs/{showing.run_id}") if seq == begun else {}
                    if run.get("finished_at"):  # its events were forgotten
                        note["status"] = run["status"]
                        yield "" if seq else run["output"]
                except OSError:
                    away += PAUSE_SECONDS
                    if away > self.valves.AWAY_SECONDS:
                        raise
                    await asyncio.sleep(PAUSE_SECONDS)
            await shelf.write(note)
            await showing.status(note["status"], done=True)
        except (asyncio.CancelledError, GeneratorExit):
            if not everything_ends():
                self._later(showing.stop())
            raise
        finally:
            showing.close()

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something that the cancelled task itself cannot wait for."""
        task = asyncio.get_running_loop().create_task(work)
        self.stopping.add(task)
        task.add_done_callback(self.stopping.discard)


def unfinished(messages: Mapping[str, dict[str, Any]], own: str, asked: str) -> Note:
    """The run that another answer to the same question was showing when Open WebUI ended."""
    for name, message in messages.items():
        note = note_of(message)
        if asked and name != own and note.get("asked") == asked and note.get("status") not in ENDED:
            return note
    return {}


def session_before(messages: Mapping[str, dict[str, Any]], asked: str) -> Note:
    """Where the conversation stood when this was asked: the run of the answer before it."""
    note = note_of(messages.get(str(messages.get(asked, {}).get("parentId")), {}))
    return note if note.get("session_id") and note.get("run_id") else {}


async def newest_run(server: Server, session_id: str) -> str:
    """The last turn of a session: one that went on elsewhere, or in another branch, is not continued here."""
    rows = (await server.ask("GET", f"/v1/runs?session_id={session_id}&limit=20"))["data"]
    return next((str(row["run_id"]) for row in rows if row["kind"] == "turn"), "")


def note_of(message: Mapping[str, Any]) -> Note:
    """What a message keeps of its run."""
    return dict((message.get("meta") or {}).get(NOTE) or {})
