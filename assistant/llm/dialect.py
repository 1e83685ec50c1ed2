"""What one endpoint wants differently, learnt from its refusals and kept as long as the model object lives."""

from dataclasses import dataclass, replace

from assistant.llm.faults import Refusal


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests to one endpoint are written."""

    reasoning: bool = False
    """Messages with calls carry their reasoning, even an empty one."""
    usage: bool = True
    """The stream is asked for a last chunk with token counts."""


def learnt(refusal: Refusal, dialect: Dialect) -> Dialect | None:
    """The dialect to try after this refusal; None when it is not about the dialect."""
    if refusal.status not in (400, 422):
        return None
    words = refusal.words.lower()
    if "reasoning" in words:
        return replace(dialect, reasoning=not dialect.reasoning)
    if dialect.usage and ("stream_options" in words or "include_usage" in words):
        return replace(dialect, usage=False)
    return None
