"""A chat request of the OpenAI shape, as a wish for a run: instructions, what was said before, what is said now."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from assistant.core.messages import Message
from assistant.server.faults import BadRequest
from assistant.server.runs import ID, plain_text
from skills_store.values import Origin

TASK_HEAD = "### Task:"
TASK_SIGNS = ("### Output:", "### Guidelines:", "<chat_history>", "### Instructions:")
"""What the templates hold by which chat front ends ask for titles, tags and follow-ups."""
TASK_HEADER = "x-task"
"""A front end that can name its side requests does so here; empty for what the person says."""
NO_TOOLS = (
    "this assistant runs its own tools and cannot hand calls back to a client, so `{field}` is refused: "
    "leave it out, and follow the work by the `hermes.tool.progress` events"
)


class ChatMessage(BaseModel):
    """One message of a request."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None


class StreamOptions(BaseModel):
    """What a stream ends with."""

    include_usage: bool | None = False


class ChatBody(BaseModel):
    """A chat request; fields that are not named here are ignored."""

    messages: list[ChatMessage] = Field(min_length=1, max_length=10_000)
    model: str = Field("", max_length=ID)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    tools: list[Any] | None = Field(None, description="Refused unless empty: tools run here, not in the client.")
    functions: list[Any] | None = Field(None, description="Refused unless empty.")


@dataclass(frozen=True, slots=True)
class Said:
    """What a request says."""

    instructions: str
    history: tuple[Message, ...]
    text: str


def refuse_tools(body: ChatBody) -> None:
    """The client's tools cannot be called from here."""
    for field in ("tools", "functions"):
        if getattr(body, field):
            raise BadRequest(NO_TOOLS.format(field=field), "tools_not_supported", field)


def said_in(body: ChatBody) -> Said:
    """The parts of a request; the newest message must be the person's."""
    texts = [plain_text(m.content, f"messages.{i}.content") for i, m in enumerate(body.messages)]
    pairs = list(zip(body.messages, texts, strict=True))
    instructions = "\n\n".join(text for m, text in pairs if m.role in ("system", "developer") and text.strip())
    talk = [(m, text) for m, text in pairs if m.role not in ("system", "developer")]
    if not talk or talk[-1][0].role != "user" or not talk[-1][1].strip():
        raise BadRequest("the last message must be the person's (role user) and hold text", param="messages")
    return Said(instructions, tuple(message_of(m, text) for m, text in talk[:-1] if text.strip()), talk[-1][1])


def message_of(message: ChatMessage, text: str) -> Message:
    """An earlier message as a session holds it; results of the client's own tools are foreign text."""
    match message.role:
        case "assistant":
            return Message("assistant", text, origin=Origin.OWN)
        case "tool" | "function":
            return Message("user", f"[A result of a tool of the client:]\n{text}", origin=Origin.UNTRUSTED)
        case _:
            return Message("user", text, origin=Origin.YOU)


def is_side_task(said: Said, task: str) -> bool:
    """Whether a front end asks something for itself: a title, tags, follow-ups."""
    alone = not said.history and said.text.lstrip().startswith(TASK_HEAD)
    return bool(task.strip()) or (alone and any(sign in said.text for sign in TASK_SIGNS))
