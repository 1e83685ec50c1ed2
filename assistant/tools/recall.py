"""Asking the person, and looking up what was said before."""

from typing import Annotated

from pydantic import Field

from assistant.core.messages import Effect
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool
from assistant.tools.limits import shorten
from skills_store.values import Origin


@tool(Effect.READ, preview="query")
def session_search(
    context: Context,
    query: Annotated[str, Field(description="Words that were used")],
    limit: Annotated[int, Field(ge=1, le=20)] = 5,
) -> Result:
    """Find earlier conversations by their words, best first."""
    hits = context.sessions.search(query, limit, context.session_id)
    lines = [f"{h.when[:10]} {h.session_id} “{shorten(h.title, 60)}” {h.role}: {h.excerpt}" for h in hits]
    origin = Origin.UNTRUSTED if any(hit.origin is Origin.UNTRUSTED for hit in hits) else Origin.TRUSTED
    return Result("\n".join(lines) or "Nothing found; try fewer or other words.", origin, preview=shorten(query, 60))


@tool(Effect.ASK, preview="question")
def clarify(
    context: Context,
    question: Annotated[str, Field(min_length=1)],
    choices: Annotated[list[str] | None, Field(max_length=6, description="Ready answers, the best first")] = None,
) -> Result:
    """Ask the person when only they can know, and wait for the answer."""
    answer = context.ask(question, tuple(choices or ()))
    return Result(answer, Origin.YOU)
