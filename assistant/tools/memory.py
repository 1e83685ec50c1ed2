"""Remembering facts between sessions."""

from typing import Annotated, Literal

from pydantic import Field

from assistant.core.events import LearningStaged, MemoryChanged
from assistant.core.messages import Effect
from assistant.errors import ModelCanFix
from assistant.store.memory import Applied, MemoryFiles, Refused, Staged
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool
from assistant.tools.skills import Evidences, as_json, cause_of, refusal


@tool(Effect.OWN, preview="action")
def memory(
    context: Context,
    action: Literal["add", "replace", "remove"],
    target: Annotated[Literal["memory", "user"], Field(description="user: about the person; memory: everything else")],
    content: Annotated[str | None, Field(description="The entry, for add and replace")] = None,
    old_text: Annotated[
        str | None, Field(description="For replace: exactly this is exchanged; for remove: the entry")
    ] = None,
    evidence: Evidences = None,
) -> Result:
    """Keep a short fact for later sessions: who the person is, what holds for long. Answers with the whole list."""
    try:
        cause = cause_of(context, evidence or ())
    except ModelCanFix as missing:
        return refusal(str(missing), "no_evidence", "Quote the conversation word for word.")
    files: MemoryFiles = context.memory
    match files.change(action, target, content or "", old_text or "", cause):
        case Applied() as done:
            if done.commit:
                context.tell(MemoryChanged(target, action, done.commit))
            body = {"success": True, "message": done.message, "target": target, "entries": list(done.entries)}
            return Result(as_json(body | {"used": done.used, "limit": done.limit}), preview=f"{action} {target}")
        case Staged(id, message):
            context.tell(LearningStaged(id, target, action))
            body = {"success": True, "staged": True, "id": id, "message": message}
            return Result(as_json(body), preview=f"{action} {target}: waits for you")
        case Refused() as no:
            body = {"success": False, "error": no.error, "hint": no.hint, "code": no.code, "target": target}
            now = {"entries": list(no.entries), "used": no.used, "limit": no.limit}
            return Result(as_json(body | now), failed=True, preview=no.code)
