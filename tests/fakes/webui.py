"""Calls a pipe as Open WebUI would: loads its source anew, keeps chats, injects what it asks for by name."""

import asyncio
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

SOURCE = Path(__file__).parents[2] / "assistant" / "client" / "webui_pipe.py"


class Chats:
    """The two methods of the chat model that a pipe needs, over a dict."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, dict[str, Any]]] = {}

    async def get_messages_map_by_chat_id(self, id: str) -> dict[str, dict[str, Any]] | None:
        return self.kept.get(id)

    async def upsert_message_to_chat_by_id_and_message_id(self, id: str, message_id: str, message: dict) -> None:
        self.kept.setdefault(id, {}).setdefault(message_id, {}).update(message)


class WebUI:
    """One Open WebUI; `again()` is its restart: all that it kept in memory is gone."""

    def __init__(self, base_url: str, key: str) -> None:
        self.valves = {"BASE_URL": base_url, "API_KEY": key}
        self.chats = Chats()
        self.statuses: list[str] = []
        self.dialogs: list[dict[str, Any]] = []
        self.answer: Callable[[dict[str, Any]], Any] = lambda asked: {"error": "Client session disconnected."}
        self.again()

    def again(self) -> None:
        package, models, chats = (ModuleType(n) for n in ("open_webui", "open_webui.models", "open_webui.models.chats"))
        chats.Chats = self.chats  # type: ignore[attr-defined]
        sys.modules.update({m.__name__: m for m in (package, models, chats)})
        module = ModuleType("function_hermes")
        exec(compile(SOURCE.read_text(encoding="utf-8"), "function_hermes", "exec"), module.__dict__)
        self.pipe = module.Pipe()
        self.pipe.valves = self.pipe.Valves(**self.valves)

    async def emit(self, event: dict[str, Any]) -> None:
        if event["type"] == "status":
            self.statuses.append(event["data"]["description"])

    async def call(self, event: dict[str, Any]) -> Any:
        self.dialogs.append(event)
        said = self.answer(event)
        return await said if inspect.isawaitable(said) else said

    def say(self, chat: str, message: str, parent: str, text: str, answered: str = "") -> None:
        """A person's message, and the empty answer that Open WebUI makes for it."""
        messages = self.chats.kept.setdefault(chat, {})
        messages[message] = {"role": "user", "content": text, "parentId": answered or None}
        messages[parent] = {"role": "assistant", "content": "", "parentId": message}

    def history(self, chat: str, message: str) -> list[dict[str, str]]:
        """The visible branch above an answer, as Open WebUI sends it."""
        messages, found = self.chats.kept[chat], []
        at = messages[message]["parentId"]
        while at:
            found.append({"role": messages[at]["role"], "content": messages[at]["content"]})
            at = messages[at]["parentId"]
        return found[::-1]

    async def ask(self, chat: str, answer: str, task: str | None = None) -> str:
        """One call of the pipe, to its end; the answer's text, as it is then saved."""
        messages = self.chats.kept[chat]
        text = ""
        try:
            async for piece in self.begin(chat, answer, task):
                text += piece if isinstance(piece, str) else ""
        finally:
            messages[answer]["content"] = text
        return text

    def begin(self, chat: str, answer: str, task: str | None = None) -> Any:
        """The generator that the pipe returns."""
        body = {"model": "hermes.hermes-agent", "stream": True, "messages": self.history(chat, answer)}
        metadata = {
            "chat_id": chat,
            "message_id": answer,
            "user_message_id": self.chats.kept[chat][answer]["parentId"],
            "session_id": "socket",
        }
        offered = {
            "body": body,
            "__metadata__": metadata,
            "__chat_id__": chat,
            "__message_id__": answer,
            "__event_emitter__": self.emit,
            "__event_call__": self.call,
            "__task__": task,
            "__user__": {"id": "u", "valves": None},
        }
        wanted = inspect.signature(self.pipe.pipe).parameters
        return self.pipe.pipe(**{name: value for name, value in offered.items() if name in wanted})


def together(work: Any) -> Any:
    """Run something asynchronous to its end."""
    return asyncio.run(work)
