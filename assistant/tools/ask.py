"""Asking the person."""

from typing import Annotated

from pydantic import Field

from assistant.core.messages import Effect
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool
from skills_store.values import Origin


@tool(Effect.ASK, preview="question")
def clarify(
    context: Context,
    question: Annotated[str, Field(min_length=1)],
    choices: Annotated[list[str] | None, Field(max_length=6, description="Ready answers, the best first")] = None,
) -> Result:
    """Ask the person when only they can know, and wait for the answer."""
    answer = context.ask(question, tuple(choices or ()))
    return Result(answer, Origin.YOU)
