"""A context for one tool call, with real folders and recording ends."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from assistant.core.events import Event
from assistant.core.interrupt import Interrupt
from assistant.errors import ModelCanFix
from assistant.tools.background import Background
from assistant.tools.context import Context
from skills_store.values import Actor, Evidence, Origin


class Marks:
    """Read marks in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def seen(self, path: str) -> str | None:
        return self.kept.get(path)

    def mark(self, path: str, seen: str) -> None:
        self.kept[path] = seen


class Plans:
    """The lists of sessions in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[dict[str, str], ...]] = {}
        self.writes = 0

    def read(self, session_id: str) -> tuple[dict[str, str], ...]:
        return self.kept.get(session_id, ())

    def write(self, session_id: str, items: Sequence[Any]) -> None:
        self.writes += 1
        self.kept[session_id] = tuple(dict(item) for item in items)


class Past:
    """Earlier conversations: answers with what it was given, and remembers what it was asked."""

    def __init__(self, *hits: Any) -> None:
        self.hits = hits
        self.asked: list[tuple[str, int, str]] = []

    def search(self, words: str, limit: int, not_session: str = "") -> Sequence[Any]:
        self.asked.append((words, limit, not_session))
        return self.hits[:limit]


@dataclass
class Desk:
    """One session's surroundings; `context()` makes those of a call."""

    root: Path
    actor: Actor = Actor.ASSISTANT
    heard: Origin = Origin.OWN
    answers: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """What was said in the session, for quotes."""
    told: list[Event] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    over: list[int] = field(default_factory=list)
    """Groups in the background that have ended."""
    spilled: list[Path] = field(default_factory=list)
    interrupt: Interrupt = field(default_factory=Interrupt)
    marks: Marks = field(default_factory=Marks)
    todos: Plans = field(default_factory=Plans)
    sessions: Past = field(default_factory=Past)
    background: Background = field(default_factory=Background)
    library: Any = None
    memory: Any = None
    calls: int = 0
    backend: str = "local"

    def __post_init__(self) -> None:
        self.home = self.root / "home"
        self.folder = self.root / "work"
        for place in (self.home, self.folder):
            place.mkdir(exist_ok=True)
        self.now = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def ids(self) -> str:
        self.calls += 1
        return f"id{self.calls}"

    def ask(self, question: str, choices: tuple[str, ...]) -> str:
        if not self.answers:
            raise ModelCanFix("nobody is here to answer")
        return self.answers.pop(0)

    def goes_on(self, group: int) -> Callable[[], None]:
        self.groups.append(group)
        return lambda: self.over.append(group)

    def spill(self, text: str) -> Path:
        place = self.root / f"spill-{len(self.spilled)}.txt"
        place.write_text(text, encoding="utf-8")
        self.spilled.append(place)
        return place

    def quotes(self, wanted: Sequence[str]) -> tuple[Evidence, ...]:
        missing = [quote for quote in wanted if not any(quote in text for text in self.said)]
        if missing:
            raise ModelCanFix(f"not found in this session: {missing[0]!r}")
        return tuple(Evidence(next(n for n, text in enumerate(self.said, 1) if q in text), q) for q in wanted)

    def context(self) -> Context:
        self.calls += 1
        return Context(
            run_id="run-1",
            session_id="session-1",
            call_id=f"call-{self.calls}",
            actor=self.actor,
            heard=self.heard,
            interrupt=self.interrupt,
            home=self.home,
            root=self.folder,
            workdir=lambda: self.folder,
            change_workdir=lambda folder: setattr(self, "folder", folder),
            tell=self.told.append,
            started_group=self.groups.append,
            goes_on=self.goes_on,
            ask=self.ask,
            spill=self.spill,
            environment={"PATH": os.defpath, "HOME": str(self.root), "LANG": "C.UTF-8"},
            settings=SimpleNamespace(terminal=SimpleNamespace(timeout=20, backend=self.backend, network=True)),
            sessions=self.sessions,
            todos=self.todos,
            library=self.library,
            memory=self.memory,
            marks=self.marks,
            quotes=self.quotes,
            background=self.background,
        )
