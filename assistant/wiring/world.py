"""What a command stands on: the world outside, and a home with its settings.

Enough for whoever leaves the work to a server; it loads nothing of what does the work.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING

from assistant.core.ports import Clock
from assistant.home.first_start import find_git, find_template, prepare
from assistant.home.place import Home, find_home
from assistant.home.secrets import filled
from assistant.settings import Settings, load

if TYPE_CHECKING:
    from assistant.runtime.parts import Models


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def new_id(kind: str) -> str:
    """A fresh id: what it names, and 64 random bits."""
    return f"{kind}_{token_hex(8)}"


@dataclass(frozen=True)
class World:
    """Everything that differs between two starts of the program; tests hand in their own."""

    environ: Mapping[str, str]
    folder: Path
    clock: Clock = now
    ids: Callable[[str], str] = new_id
    ticks: Callable[[], float] = monotonic
    models: "Models | None" = None
    """Instead of those that the settings name."""

    @staticmethod
    def real() -> "World":
        """This process's own."""
        return World(os.environ, Path.cwd())


class Ground:
    """A home, complete, with its settings and the environment that its secrets fill."""

    def __init__(self, world: World, explicit_home: str | Path = "") -> None:
        self.world = world
        self.home = Home(find_home(world.environ, explicit_home))
        find_git(world.environ)
        self.made = prepare(self.home, find_template())
        self.settings: Settings = load(self.home.config)
        self.environ: Mapping[str, str] = filled(world.environ, self.home.env_file)
