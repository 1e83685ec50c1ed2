"""What the library answers: values for people, tools and programs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Applied:
    """The change is in the files and in the history."""

    name: str
    action: str
    path: str
    """The skill's folder, below the root."""
    skill_md: str
    commit: str
    message: str
    strategy: str = ""
    diff: str = ""
    warnings: tuple[str, ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)
    """What the written files are now, by path below the root."""


@dataclass(frozen=True, slots=True)
class Staged:
    """The change waits for the person."""

    id: str
    name: str
    action: str
    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written; `code` is one of the contract's."""

    code: str
    error: str
    hint: str = ""
    shown: str = ""
    """For a conflict: both versions of the lines in question."""


Outcome = Applied | Staged | Refused


@dataclass(frozen=True, slots=True)
class Record:
    """A skill in a list."""

    name: str
    category: str
    description: str
    owner: str
    state: str
    pin: str
    broken: str | None
    warnings: tuple[str, ...]
    views: int
    uses: int
    last_used: datetime | None
    path: str
    adopted: bool = False
    external: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A skill, or one of its files, to be read."""

    name: str
    description: str
    category: str
    owner: str
    content: str
    files: tuple[str, ...]
    path: str
    """The file that was read, below the root; marks go by it."""
    hash: str
    setup: tuple[str, ...] = ()
    """What is missing here before the skill can be followed."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A skill that fits a search."""

    record: Record
    score: float


@dataclass(frozen=True, slots=True)
class Pending:
    """A change that waits for the person."""

    id: str
    name: str
    action: str
    actor: str
    why: str
    when: datetime
    conflict: bool
    run: str
    session: str
    evidence: tuple[int, ...]
    diff: str


@dataclass(frozen=True, slots=True)
class Taught:
    """A line of a skill, and what taught it."""

    line: int
    text: str
    commit: str
    when: datetime | None
    actor: str
    session: str = ""
    run: str = ""
    evidence: tuple[int, ...] = ()
