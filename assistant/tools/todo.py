"""The plan of a session."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from assistant.core.events import TodoChanged
from assistant.core.messages import Effect
from assistant.errors import ModelCanFix
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool

STATUSES = ("pending", "in_progress", "completed", "cancelled")
MOST = 256
LONGEST = 4_000
Items = tuple[Mapping[str, str], ...]


class TodoItem(BaseModel):
    """One step as the model sends it; what is left out keeps its value."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: Annotated[str, Field(min_length=1, max_length=100)]
    content: Annotated[str | None, Field(min_length=1, max_length=LONGEST)] = None
    status: Literal["pending", "in_progress", "completed", "cancelled"] | None = None


def as_list(raw: Any) -> Any:
    """Some models send the list as JSON text."""
    if raw is None:
        raise ValueError("must be a list; leave todos out to read the plan")
    if not isinstance(raw, str):
        return raw
    try:
        return json.loads(raw)
    except json.JSONDecodeError as problem:
        raise ValueError("must be a list of {id, content, status}") from problem


SHAPE: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "content": {"type": "string"},
            "status": {"type": "string", "enum": list(STATUSES)},
        },
        "required": ["id"],
    },
}
Todos = Annotated[list[TodoItem] | None, BeforeValidator(as_list), WithJsonSchema(SHAPE), Field(max_length=MOST)]


@tool(Effect.OWN)
def todo(
    context: Context,
    todos: Todos = None,
    merge: Annotated[bool, Field(description="Update these items by id, keep the others")] = False,
) -> Result:
    """Write the plan of this session, or read it when todos is left out. For work of several steps; one in_progress."""
    now = context.todos.read(context.session_id)
    if todos is None:
        return answer(now)
    plan = merged(now if merge else (), todos)
    context.todos.write(context.session_id, plan)
    context.tell(TodoChanged(plan))
    return answer(plan)


def merged(now: Iterable[Mapping[str, str]], sent: Iterable[TodoItem]) -> Items:
    """The plan after some items were sent: one item an id, in the order in which ids first appeared."""
    plan: dict[str, dict[str, str]] = {item["id"]: dict(item) for item in now}
    for item in sent:
        if item.id not in plan and item.content is None:
            raise ModelCanFix(f"item {item.id!r} is new and needs content; nothing was changed")
        fresh = {"id": item.id, "content": "", "status": "pending"}
        given = item.model_dump(exclude_none=True)
        plan[item.id] = fresh | plan.get(item.id, {}) | given
    running = [item["id"] for item in plan.values() if item["status"] == "in_progress"]
    if len(running) > 1:
        raise ModelCanFix(f"only one item may be in_progress, not {', '.join(running)}; nothing was changed")
    if len(plan) > MOST:
        raise ModelCanFix(f"a plan has at most {MOST} items, not {len(plan)}; nothing was changed")
    return tuple(plan.values())


def answer(plan: Items) -> Result:
    """The whole list with its sums, for the model."""
    sums = {status: sum(item["status"] == status for item in plan) for status in STATUSES}
    body = {"success": True, "todos": list(plan), "summary": {"total": len(plan)} | sums}
    done = f"{sums['completed']} of {len(plan)} done"
    return Result(json.dumps(body, ensure_ascii=False), preview=done)


def open_items(plan: Iterable[Mapping[str, str]]) -> str:
    """What is still to do, for the model after older messages were summarised; empty when nothing is."""
    marks = {"in_progress": "[>]", "pending": "[ ]"}
    return "\n".join(f"- {marks[i['status']]} {i['id']}. {i['content']}" for i in plan if i["status"] in marks)
