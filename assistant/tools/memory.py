"""Remembering facts between sessions."""

from typing import Annotated, Literal

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
    target: Annotated[Literal["memory", "user"], "user: about the person; memory: everything else"],
    content: Annotated[str | None, "The entry, for add and replace"] = None,
    old_text: Annotated[str | None, "For replace and remove: the entry, or a part that only it has"] = None,
    evidence: Evidences = None,
) -> Result:
    """Keep a short fact for later sessions. What it answers is the list as it is now; do not write it again."""
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
