"""A shell over a home in a temporary folder: commands run in this process, everything behind them is real."""

import io
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.cli.given import Given
from assistant.cli.run import run
from assistant.cli.show import Streams
from assistant.wiring.build import World
from tests.fakes.model import ScriptedModel

PATH = os.environ["PATH"]


@dataclass(frozen=True)
class Said:
    """What one command answered."""

    code: int
    out: str
    notes: str

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


class Shell:
    """Types commands."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.environ = {"PATH": PATH, "HOME": str(folder), "HERMES_HOME": str(self.home), **environ}
        self.model = ScriptedModel()

    def __call__(self, *words: str) -> Said:
        return self.through(self.world(), io.StringIO(), io.StringIO(), *words)

    def world(self) -> World:
        """The scripted model answers under every name."""
        return World(self.environ, self.folder, models=lambda name: self.model)

    def really(self, *words: str) -> Said:
        """With the models that settings and environment name."""
        return self.through(World(self.environ, self.folder), io.StringIO(), io.StringIO(), *words)

    def through(self, world: World, out: io.StringIO, notes: io.StringIO, *words: str) -> Said:
        """One command in one world."""
        code = run(words, Given(outside=world, streams=Streams(out, notes)))
        return Said(code, out.getvalue(), notes.getvalue())

    def fine(self, *words: str) -> Said:
        """A command that must end well."""
        said = self(*words)
        assert said.code == 0, said
        return said

    def write(self, name: str, text: str) -> Path:
        """A file in the folder where commands are typed."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def editor(self, script: str) -> None:
        """From now on EDITOR is a shell script that gets the file as $1."""
        path = self.write("editor.sh", f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.environ["EDITOR"] = str(path)

    def tree(self) -> dict[str, bytes]:
        """Every file of the home, except what opening a database touches."""
        files = (path for path in sorted(self.home.rglob("*")) if path.is_file())
        return {str(p.relative_to(self.home)): p.read_bytes() for p in files if not p.name.endswith(("-shm", "-wal"))}


def skill(name: str, body: str = "1. Look.\n2. Act.", description: str = "Use when a test needs a skill.") -> str:
    """A SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n"
