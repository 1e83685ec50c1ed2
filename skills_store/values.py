"""Who writes, whose it is, and where a text came from."""

from dataclasses import dataclass, field
from enum import StrEnum


class Actor(StrEnum):
    """Who writes."""

    YOU = "you"
    ASSISTANT = "assistant"
    REVIEW = "review"
    CURATOR = "curator"
    SEED = "seed"
    UNKNOWN = "unknown"

    @property
    def automatic(self) -> bool:
        """Nobody asked for this very change: the guards for unattended writers apply."""
        return self in (Actor.REVIEW, Actor.CURATOR)


class Owner(StrEnum):
    """Whose a skill is."""

    YOU = "you"
    AGENT = "agent"
    BUNDLED = "bundled"
    INSTALLED = "installed"
    EXTERNAL = "external"


class Origin(StrEnum):
    """Where a text came from, from most to least believed."""

    YOU = "you"
    OWN = "own"
    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


OWNER_OF_MAKER = {
    Actor.YOU: Owner.YOU,
    Actor.ASSISTANT: Owner.YOU,
    Actor.REVIEW: Owner.AGENT,
    Actor.CURATOR: Owner.AGENT,
    Actor.SEED: Owner.BUNDLED,
    Actor.UNKNOWN: Owner.YOU,
}


def worst(origins: "list[Origin] | tuple[Origin, ...]") -> Origin:
    """The least believed of some origins; `own` when there are none."""
    ranking = list(Origin)
    return max(origins, key=ranking.index, default=Origin.OWN)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote that code found in a message of the session."""

    message: int
    quote: str
    origin: Origin = Origin.YOU


@dataclass(frozen=True, slots=True)
class Cause:
    """Who makes a change, why, and what it rests on; becomes the commit's body and trailers."""

    actor: Actor
    why: str = ""
    session: str = ""
    run: str = ""
    call: str = ""
    evidence: tuple[Evidence, ...] = field(default=())
    heard: Origin = Origin.OWN
    """How far the reply that asked for the change is to be believed."""

    @property
    def origin(self) -> Origin:
        """As believable as the least believable thing it rests on."""
        return worst([self.heard, *(item.origin for item in self.evidence)])
