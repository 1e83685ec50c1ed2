"""What a run tells the world.  Add a class here and mypy names every reader to teach.

A turn with one tool call tells, in this order:

    run.started
    message.delta …            the model talks while it works
    message.completed          stored whole, with its call, before the call runs
    tool.started
    tool.output …              long commands only
    tool.completed             stored with its result
    message.delta …
    message.completed          the answer
    review.queued              only if one is due
    run.completed

Field names are those of the HTTP contract, so that one pair of functions writes and reads them all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from assistant.core.messages import Call, Message

Decision = Literal["once", "session", "always", "deny"]
RunKind = Literal["turn", "review", "job", "subagent", "curator"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """An executor took the run up."""

    type: ClassVar = "run.started"
    kind: RunKind
    model: str


@dataclass(frozen=True, slots=True)
class TextArrived:
    """The model said a little more."""

    type: ClassVar = "message.delta"
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningArrived:
    """The model thought aloud a little more."""

    type: ClassVar = "reasoning.delta"
    text: str


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The whole reply, with its calls; stored before any of them runs."""

    type: ClassVar = "message.completed"
    message: Message


@dataclass(frozen=True, slots=True)
class ReplyRestarted:
    """The model is asked again: drop the deltas since the last whole message."""

    type: ClassVar = "message.restarted"
    reason: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call was allowed and begins to run."""

    type: ClassVar = "tool.started"
    call_id: str
    tool: str
    arguments: str
    preview: str


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A long command printed something."""

    type: ClassVar = "tool.output"
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call was answered, well or badly."""

    type: ClassVar = "tool.completed"
    message: Message
    seconds: float
    preview: str


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A person must decide about one exact call."""

    type: ClassVar = "approval.requested"
    approval_id: str
    call_id: str
    tool: str
    arguments: str
    why: str
    choices: tuple[str, ...]
    rule: str = ""
    """What a grant for the session, or for ever, would cover."""


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """Somebody decided, or nobody did in time (`by` is `timeout`)."""

    type: ClassVar = "approval.resolved"
    approval_id: str
    call_id: str
    decision: str
    by: str
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The model asks the person."""

    type: ClassVar = "question.asked"
    question_id: str
    text: str
    choices: tuple[str, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The person answered."""

    type: ClassVar = "question.answered"
    question_id: str
    answer: str


@dataclass(frozen=True, slots=True)
class TodoChanged:
    """The plan, whole."""

    type: ClassVar = "todo.changed"
    todos: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class Steered:
    """The person's words entered the running turn."""

    type: ClassVar = "run.steered"
    text: str
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class TurnQueued:
    """The person's words wait as a turn of their own, which begins when this one is over."""

    type: ClassVar = "turn.queued"
    run_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """Older messages were replaced by a summary; tokens before and after."""

    type: ClassVar = "context.compacted"
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class SkillChanged:
    """A skill was written."""

    type: ClassVar = "skill.changed"
    name: str
    action: str
    commit: str


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """`MEMORY.md` or `USER.md` was written."""

    type: ClassVar = "memory.changed"
    name: str
    action: str
    commit: str


@dataclass(frozen=True, slots=True)
class LearningStaged:
    """A change waits for the person in the inbox."""

    type: ClassVar = "learning.staged"
    id: str
    name: str
    action: str


@dataclass(frozen=True, slots=True)
class ReviewQueued:
    """A look back at this session waits its turn."""

    type: ClassVar = "review.queued"
    run_id: str
    kind: str


@dataclass(frozen=True, slots=True)
class RunResumed:
    """Another executor took over from a dead one."""

    type: ClassVar = "run.resumed"
    attempt: int


@dataclass(frozen=True, slots=True)
class RunCompleted:
    """The answer stands."""

    type: ClassVar = "run.completed"
    output: str
    usage: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run ended without an answer; `error` says why and what to do."""

    type: ClassVar = "run.failed"
    error: str
    code: str = ""
    """`try_later`, `person_must_act` or `fault`."""


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """Somebody stopped the run."""

    type: ClassVar = "run.cancelled"


Event = (
    RunStarted
    | TextArrived
    | ReasoningArrived
    | ReplyEnded
    | ReplyRestarted
    | ToolStarted
    | ToolOutput
    | ToolEnded
    | ApprovalRequested
    | ApprovalResolved
    | QuestionAsked
    | QuestionAnswered
    | TodoChanged
    | Steered
    | TurnQueued
    | Compacted
    | SkillChanged
    | MemoryChanged
    | LearningStaged
    | ReviewQueued
    | RunResumed
    | RunCompleted
    | RunFailed
    | RunCancelled
)
KINDS: dict[str, type[Any]] = {kind.type: kind for kind in Event.__args__}
LAST = (RunCompleted, RunFailed, RunCancelled)
"""After one of these a run tells nothing more."""


def data_of(event: Event) -> dict[str, Any]:
    """The event as the JSON data of the contract."""
    match event:
        case ReplyEnded(message):
            calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.calls]
            return {"message_id": message.number, "text": message.text, "calls": calls}
        case ToolEnded(message, seconds, preview):
            return {
                "call_id": message.answers,
                "tool": message.name,
                "ok": not message.failed,
                "seconds": seconds,
                "preview": preview,
                "result": message.text,
                "message_id": message.number,
            }
        case Steered(text):
            return {"text": text}
        case _:
            return {f.name: getattr(event, f.name) for f in fields(event)}


def event_of(kind: str, data: Mapping[str, Any]) -> Event | None:
    """The event that `data_of` wrote; None for a kind that this version does not know."""
    if kind == ReplyEnded.type:
        calls = tuple(Call(c["id"], c["name"], c["arguments"]) for c in data["calls"])
        return ReplyEnded(Message("assistant", data["text"], calls, number=data["message_id"]))
    if kind == ToolEnded.type:
        result = Message(
            "tool",
            data["result"],
            answers=data["call_id"],
            name=data["tool"],
            failed=not data["ok"],
            number=data.get("message_id", 0),
        )
        return ToolEnded(result, data["seconds"], data["preview"])
    if kind not in KINDS:
        return None
    known = {f.name: data[f.name] for f in fields(KINDS[kind]) if f.name in data}
    event: Event = KINDS[kind](**known)
    return event
