"""From a home and an environment to an assistant that can run turns: the list of parts."""

import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from logging import Logger
from pathlib import Path
from typing import Any

from assistant import __version__
from assistant.home.first_start import find_template
from assistant.home.lock import held
from assistant.home.place import cache_folder
from assistant.runtime.bell import QUEUE, Bell
from assistant.runtime.desk import waiting_out
from assistant.runtime.engine import Engine
from assistant.runtime.executors import Executor, at_work
from assistant.runtime.local import LocalRuns
from assistant.runtime.log import logger_of, reporting
from assistant.runtime.parts import Parts
from assistant.runtime.recovery import recover
from assistant.runtime.reviewing import by_hand
from assistant.runtime.slots import Slots
from assistant.runtime.workers import Workers
from assistant.store.database import Database, open_database
from assistant.store.ledger import Ledger
from assistant.store.memory import MemoryFiles, MemorySettings
from assistant.store.runs import Runs
from assistant.store.sessions import Sessions
from assistant.store.waiting import Waiting
from assistant.tools.background import Background
from assistant.tools.toolbox import ALL
from assistant.wiring.models import builtin_of, models_of
from assistant.wiring.world import Ground, World
from skills_store.library import Library, Outside
from skills_store.settings import StoreSettings
from skills_store.usage import Usage
from skills_store.values import Actor

PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ")
"""What commands see of our environment besides `terminal.pass_env`: enough to work, no keys."""


class Assembly(Ground):
    """The parts over one home, each built when it is first wanted: a command pays only for what it uses."""

    def __init__(self, world: World, explicit_home: str | Path = "") -> None:
        super().__init__(world, explicit_home)
        if self.made or not (self.home.skills / ".git").exists():
            library = self.library
            with held(self.home):
                library.seed(find_template() / "skills")

    @cached_property
    def database(self) -> Database:
        """The home's database, brought up to date under the home lock."""
        with held(self.home):
            return open_database(self.home.database, self.world.clock)

    @cached_property
    def library(self) -> Library:
        """The skills."""
        skills = self.settings.skills
        settings = StoreSettings(
            write_approval=skills.write_approval,
            scan=skills.scan,
            index_tokens=skills.index_tokens,
            external_dirs=tuple(Path(folder).expanduser() for folder in skills.external_dirs),
            disabled=frozenset(skills.disabled),
            platform=platform(),
        )
        outside = Outside(partial(self._hand, self.home.skills), self._has)
        library = Library(
            self.home.skills, self.world.clock, partial(self.world.ids, "chg"), settings, self.usage, outside
        )
        library.recover()
        return library

    def _hand(self, root: Path) -> Actor:
        """Who made a change of files that we did not make: the person, unless a command of ours ran since."""
        heads = list((root / ".git/refs/heads").glob("*"))
        last = datetime.fromtimestamp(max((head.stat().st_mtime for head in heads), default=0.0), UTC)
        return Actor.UNKNOWN if self.ledger.command_since(last.isoformat()) else Actor.YOU

    def _has(self, kind: str, name: str) -> bool:
        """Whether a command or a variable that a skill asks for is there, for the commands that it tells to run."""
        seen = self._for_commands()
        return name in seen if kind == "variable" else shutil.which(name, path=seen.get("PATH")) is not None

    @cached_property
    def ledger(self) -> Ledger:
        """Intents, plans, counters, reviews."""
        return Ledger(self.database)

    @cached_property
    def usage(self) -> Usage:
        """How often each skill was used."""
        database = self.database

        def write(change: Callable[[Any], None]) -> None:
            with database.writing() as tx:
                change(tx)

        return Usage(database, write, self.world.clock)

    @cached_property
    def memory(self) -> MemoryFiles:
        """MEMORY.md and USER.md."""
        memory = self.settings.memory
        kept = {"memory": memory.memory_enabled, "user": memory.user_profile_enabled}
        settings = MemorySettings(
            memory.memory_char_limit,
            memory.user_char_limit,
            memory.write_approval,
            tuple(target for target, wanted in kept.items() if wanted),
        )
        return MemoryFiles(
            self.home.memories,
            self.world.clock,
            partial(self.world.ids, "mem"),
            settings,
            partial(self._hand, self.home.memories),
        )

    @cached_property
    def sessions(self) -> Sessions:
        """Conversations."""
        return Sessions(self.database, self.world.ids)

    @cached_property
    def parts(self) -> Parts:
        """What every run shares."""
        world, settings = self.world, self.settings
        slots = Slots(settings.server.max_concurrent_runs)
        wait = partial(waiting_out, slots)
        return Parts(
            version=__version__,
            settings=settings,
            home=self.home.root,
            soul=self._soul,
            platform=platform(),
            workdir=Path(settings.terminal.workdir).expanduser() if settings.terminal.workdir else world.folder,
            environment=self._for_commands(),
            clock=world.clock,
            ids=world.ids,
            ticks=world.ticks,
            report=reporting(self.logger, world.ids),
            database=self.database,
            sessions=self.sessions,
            runs=Runs(self.database, world.ids),
            waiting=Waiting(self.database, world.ids),
            ledger=self.ledger,
            library=self.library,
            memory=self.memory,
            tools=tuple(t for t in ALL if t.name != "memory" or self.memory.settings.targets),
            models=world.models
            or models_of(settings, self.environ, wait, builtin_of(cache_folder(self.environ), wait)),
            background=self.background,
            bell=Bell(),
            slots=slots,
        )

    @cached_property
    def logger(self) -> Logger:
        """The home's log file."""
        return logger_of(self.home.log, secrets(self.environ))

    @cached_property
    def background(self) -> Background:
        """Commands that outlive their call."""
        return Background()

    def close(self) -> None:
        """Give back what stays open: background commands, the database, the log."""
        self.background.close()
        for handler in self.logger.handlers:
            handler.close()
        self.database.close()

    def _soul(self) -> str:
        try:
            return self.home.soul.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def _for_commands(self) -> dict[str, str]:
        names = (*PASSED_ON, *self.settings.terminal.pass_env)
        return {name: self.environ[name] for name in names if name in self.environ}


class Working:
    """A process that runs turns: an executor, an engine, and the port `Runs` over them."""

    def __init__(self, assembly: Assembly, only_own: bool) -> None:
        self.assembly = assembly
        self.parts = assembly.parts
        alone = not at_work(assembly.home.run)
        self.executor = Executor(assembly.home.run, assembly.world.ids("exe"))
        self.engine = Engine(self.parts)
        self.runs = LocalRuns(self.parts, self.engine, self.executor.id if only_own else "")
        self.workers = Workers(self.parts, self.engine, self.executor, only_own)
        # Beside a server, what a dead process left is the server's to go on with.
        self.recovered = recover(self.parts, self.executor, reserve=only_own) if alone or not only_own else []
        self.workers.start()

    def __enter__(self) -> "Working":
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.stop()
        self.executor.close()
        self.assembly.close()

    def finish(self, run_ids: list[str]) -> None:
        """Follow runs to their ends."""
        for run_id in run_ids:
            for _ in self.runs.events(run_id):
                pass


def looking(assembly: Assembly) -> LocalRuns:
    """The port `Runs` for whoever only looks at runs, or acts on one that another process works on."""
    return LocalRuns(assembly.parts, Engine(assembly.parts))


def look_back(assembly: Assembly, session: str, focus: str, executor: str = "") -> str:
    """Begin a review of a session now; its run."""
    run = by_hand(assembly.parts, session, focus, executor)
    assembly.parts.bell.ring(QUEUE)
    return run


def platform() -> str:
    """`linux` or `macos`."""
    return "macos" if sys.platform == "darwin" else sys.platform


def secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values that must never reach a log."""
    words = ("KEY", "TOKEN", "SECRET", "PASSWORD")
    return tuple(v for name, v in environ.items() if len(v) >= 8 and any(word in name.upper() for word in words))
