"""What came of a change, said in one line; a refusal is raised with its code."""

from assistant.cli.show import Show
from assistant.runtime.inbox import landed
from assistant.store import memory
from skills_store import outcome

Outcome = outcome.Outcome | memory.Outcome


def tell(show: Show, result: Outcome) -> None:
    """Say what was done, and what to look at twice."""
    match result:
        case outcome.Staged() | memory.Staged():
            show.note(f"it waits for your yes: assistant inbox show {result.id}")
        case _:
            show.note(landed(result))
            for warning in getattr(result, "warnings", ()):
                show.note(f"warning: {warning}")
