"""What a guard answers: go ahead, a person decides, or nobody may."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allow:
    """Go ahead."""

    why: str = ""
    rule: str = ""
    word = "allow"


@dataclass(frozen=True, slots=True)
class Ask:
    """A person decides; `why` is what they are shown."""

    why: str
    rule: str = ""
    word = "ask"


@dataclass(frozen=True, slots=True)
class Deny:
    """Nobody may allow this; `why` is what the model is told."""

    why: str
    rule: str = ""
    word = "deny"


Verdict = Allow | Ask | Deny
SEVERITY: dict[type, int] = {Allow: 0, Ask: 1, Deny: 2}


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """The first of the strictest verdicts; Allow when there are none."""
    return max(verdicts, key=lambda verdict: SEVERITY[type(verdict)], default=Allow())
