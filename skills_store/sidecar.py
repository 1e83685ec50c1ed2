"""`.provenance.json`: what the store knows about a skill and no model can write."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from skills_store.names import SIDECAR
from skills_store.values import OWNER_OF_MAKER, Actor, Owner

PINS = ("", "frozen", "keep")
STATES = ("active", "stale", "archived")


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Whose a skill is, and how it is kept."""

    owner: Owner = Owner.YOU
    adopted: bool = False
    """The person's consent that review and curator may change a skill of theirs."""
    pin: str = ""
    state: str = "active"
    maker: str = ""
    source: str = ""
    created: str = ""
    absorbed_into: str = ""
    seeded: Mapping[str, str] = field(default_factory=dict)
    """Hashes of a bundled skill's files as they were copied."""
    damaged: str = ""
    """Why the file cannot be read; then nothing automatic may touch the skill."""

    def write(self) -> bytes:
        """The file's bytes, the same for the same facts."""
        known: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if value and item.name != "damaged":
                known[item.name] = dict(value) if isinstance(value, Mapping) else value
        return (json.dumps(known, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def made_by(actor: Actor, created: str) -> Sidecar:
    """The sidecar of a skill that an actor makes now."""
    return Sidecar(owner=OWNER_OF_MAKER[actor], maker=actor.value, created=created)


def read(data: bytes | None) -> Sidecar:
    """The sidecar from its bytes; none means a skill of the person's, a damaged one says why."""
    if data is None:
        return Sidecar()
    try:
        known = json.loads(data.decode("utf-8"))
        return from_mapping(known)
    except (ValueError, TypeError, AttributeError) as problem:
        return Sidecar(damaged=f"{SIDECAR} cannot be read: {problem}")


def from_mapping(known: Mapping[str, Any]) -> Sidecar:
    """The sidecar from parsed JSON; ValueError for a value that means nothing."""
    pin, state = known.get("pin", ""), known.get("state", "active")
    if pin not in PINS or state not in STATES or not isinstance(known.get("adopted", False), bool):
        raise ValueError(f"pin must be one of {PINS}, state one of {STATES}, adopted true or false")
    return Sidecar(
        owner=Owner(known.get("owner", Owner.YOU)),
        adopted=known.get("adopted", False),
        pin=pin,
        state=state,
        maker=str(known.get("maker", "")),
        source=str(known.get("source", "")),
        created=str(known.get("created", "")),
        absorbed_into=str(known.get("absorbed_into", "")),
        seeded={str(key): str(value) for key, value in known.get("seeded", {}).items()},
    )


def merged(base: bytes | None, today: bytes | None, wanted: bytes | None) -> bytes | None:
    """Fact by fact: what the change wanted where nobody else changed it, today's otherwise."""
    if today is None or wanted is None:
        return wanted if base == today else today
    old, now, new = read(base), read(today), read(wanted)
    if now.damaged or new.damaged:
        return today
    names = [item.name for item in fields(now) if getattr(now, item.name) == getattr(old, item.name)]
    return replace(now, **{name: getattr(new, name) for name in names}).write()
