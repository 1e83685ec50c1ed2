"""How often skills are looked at and changed: rows of the application's database, handed in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
COLUMNS = ("views", "uses", "patches", "last_used", "last_viewed", "last_patched", "created")
MAKE = (
    "INSERT INTO skill_usage (name, views, uses, patches, created) VALUES (?, 0, 0, 0, ?) ON CONFLICT(name) DO NOTHING"
)


class Database(Protocol):
    """Whatever runs SQL."""

    def execute(self, sql: str, parameters: Any = ...) -> Any:
        """One statement; a cursor."""
        ...


Write = Callable[[Callable[[Any], T]], T]
"""Runs a function with the connection inside one writing transaction."""


@dataclass(frozen=True, slots=True)
class Use:
    """What is known of one skill's use."""

    views: int = 0
    uses: int = 0
    patches: int = 0
    last_used: datetime | None = None
    last_viewed: datetime | None = None
    last_patched: datetime | None = None
    created: datetime | None = None


class Usage:
    """Counts; a view in a turn that a person started is a use."""

    def __init__(
        self, db: Database, write: Callable[[Callable[[Any], None]], None], clock: Callable[[], datetime]
    ) -> None:
        self.db = db
        self.write = write
        self.clock = clock

    def viewed(self, name: str, by_person_turn: bool) -> None:
        """Somebody looked at a skill."""
        self.count(name, ("views", "last_viewed"), *((("uses", "last_used"),) if by_person_turn else ()))

    def patched(self, name: str) -> None:
        """A skill's text was changed."""
        self.count(name, ("patches", "last_patched"))

    def count(self, name: str, *columns: tuple[str, str]) -> None:
        """One more in some columns, in one transaction."""
        now = self.clock().isoformat()
        sets = ", ".join(f"{number} = CAST({number} AS INTEGER) + 1, {stamp} = ?" for number, stamp in columns)

        def change(connection: Any) -> None:
            connection.execute(MAKE, (name, now))
            connection.execute(f"UPDATE skill_usage SET {sets} WHERE name = ?", (*(now for _ in columns), name))

        self.write(change)

    def forget(self, name: str) -> None:
        """A deleted skill takes its counts with it; another of the name starts anew."""
        self.write(lambda connection: connection.execute("DELETE FROM skill_usage WHERE name = ?", (name,)) and None)

    def renamed(self, old: str, new: str) -> None:
        """The counts follow the skill."""

        def change(connection: Any) -> None:
            connection.execute("DELETE FROM skill_usage WHERE name = ?", (new,))
            connection.execute("UPDATE skill_usage SET name = ? WHERE name = ?", (new, old))

        self.write(change)

    def all(self) -> Mapping[str, Use]:
        """Every skill that was ever counted."""
        rows = self.db.execute(f"SELECT name, {', '.join(COLUMNS)} FROM skill_usage").fetchall()
        return {
            str(name): Use(number(views), number(uses), number(patches), *map(moment, times))
            for name, views, uses, patches, *times in rows
        }


def number(value: Any) -> int:
    """A count; whatever is none counts as 0."""
    return value if isinstance(value, int) else 0


def moment(value: Any) -> datetime | None:
    """A stored time, if there is one."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) and value else None
    except ValueError:
        return None
