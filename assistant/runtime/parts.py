"""What a run is made of: its own row as a value, and everything it shares with other runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assistant.core.events import RunKind
from assistant.core.ports import Clock, Model
from assistant.runtime.bell import Bell
from assistant.runtime.slots import Slots
from assistant.settings import Settings
from assistant.store.database import Database, Row
from assistant.store.ledger import Ledger
from assistant.store.memory import MemoryFiles
from assistant.store.runs import Runs, moment
from assistant.store.sessions import Sessions
from assistant.store.waiting import Waiting
from assistant.tools.background import Background
from assistant.tools.declare import Tool
from skills_store.library import Library
from skills_store.values import Actor


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the engine needs to know it."""

    id: str
    session_id: str
    kind: RunKind
    model: str
    input: str
    review_kind: str
    upto_message: int
    resumed: int
    orphaned: datetime | None

    @property
    def own_session(self) -> str | None:
        """Where its messages go: a review's belong to the run alone."""
        return None if self.kind == "review" else self.session_id

    @property
    def actor(self) -> Actor:
        """Who writes when this run writes."""
        return {"review": Actor.REVIEW, "curator": Actor.CURATOR}.get(self.kind, Actor.ASSISTANT)


def run_of(row: Row) -> Run:
    """A run from its row."""
    return Run(
        row["id"],
        row["session_id"],
        row["kind"],
        row["model"],
        row["input"],
        row["review_kind"],
        row["upto_message"],
        row["resumed"],
        moment(row["orphaned"]) if row["orphaned"] else None,
    )


Models = Callable[[str], Model]
"""The model by a name, the configured one for an empty name; PersonMustAct when there is none."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Built once by `wiring`; shared by every run of this process."""

    version: str
    settings: Settings
    home: Path
    soul: Callable[[], str]
    platform: str
    workdir: Path
    environment: Mapping[str, str]
    clock: Clock
    ids: Callable[[str], str]
    ticks: Callable[[], float]
    """Seconds that only ever grow, for measuring."""
    report: Callable[[str], str]
    """Log the exception being handled, with the run's id; returns the name under which it is found."""
    database: Database
    sessions: Sessions
    runs: Runs
    waiting: Waiting
    ledger: Ledger
    library: Library
    memory: MemoryFiles
    tools: tuple[Tool, ...]
    background: Background
    models: Models
    bell: Bell
    slots: Slots
