"""What the person set about the store, as a value."""

from dataclasses import dataclass
from pathlib import Path

APPROVALS = {"false": "false", "off": "false", "true": "all", "on": "all", "learning": "learning", "all": "all"}


@dataclass(frozen=True)
class StoreSettings:
    """How the library behaves."""

    write_approval: str = "false"
    """false | learning | all"""
    scan: bool = True
    index_tokens: int = 1500
    external_dirs: tuple[Path, ...] = ()
    disabled: frozenset[str] = frozenset()
    platform: str = "linux"
    prune_builtins: bool = False

    def __post_init__(self) -> None:
        known = APPROVALS.get(str(self.write_approval).lower())
        if known is None:
            raise ValueError(f"write_approval must be one of false, learning, all, not {self.write_approval!r}")
        object.__setattr__(self, "write_approval", known)
