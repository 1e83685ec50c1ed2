"""What is said in a session: messages, calls, and the request that carries them to a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from skills_store.values import Origin

Role = Literal["user", "assistant", "tool"]


class Effect(Enum):
    """What a tool may change, declared where the tool is defined."""

    READ = "read"
    """Changes nothing: may run beside others, and again after a crash."""
    OWN = "own"
    """Changes only our own records through a guarded store that remembers the call (skill_manage, memory, todo)."""
    WORLD = "world"
    """May change anything: judged by the policy, preceded by an intent, never repeated on its own."""
    ASK = "ask"
    """Waits for a person."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply.  `arguments` is always the JSON text of an object."""

    id: str
    name: str
    arguments: str
    fault: str = ""
    """Why the arguments could not be read as the model sent them (`arguments` is then `{}`)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a session.  A value: its number in the database is the store's concern."""

    role: Role
    text: str
    calls: tuple[Call, ...] = ()
    answers: str = ""
    """The id of the call that a tool message answers."""
    name: str = ""
    """The tool of a tool message."""
    failed: bool = False
    origin: Origin = Origin.OWN
    sent: str | None = None
    """What the model is sent where it differs from what is shown and searched."""
    reasoning: str = ""
    usage: Usage = Usage()
    number: int = 0
    """The database's id; 0 before it is stored."""

    @property
    def wire_text(self) -> str:
        """The text as the model gets it."""
        return self.text if self.sent is None else self.sent


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model: the whole of what it is told."""

    system: str
    tools: tuple[Mapping[str, Any], ...]
    """OpenAI tool schemas, exactly as they were stored when the session was built."""
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a reply while it arrives; exactly one field is set."""

    text: str = ""
    reasoning: str = ""
    call: Call | None = None
    """A whole call: the provider joins its pieces."""
    usage: Usage | None = None
    restarted: str = ""
    """Why the model is asked again: everything since the last whole message is void."""
