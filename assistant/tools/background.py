"""Commands that go on after their call: kept by a name, read by a thread each, ended with the program."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, Thread

from assistant.core.interrupt import Interrupt
from assistant.errors import ModelCanFix
from assistant.tools.capture import Capture
from assistant.tools.limits import shorten
from assistant.tools.processes import Command, Ended, Shell, Watch, watching

MOST = 16
"""Running at once in one session."""
REMEMBERED = 32
"""Ended ones kept in one session for a look at their output."""


@dataclass(slots=True)
class Job:
    """One command in the background."""

    name: str
    command: str
    shell: Shell
    capture: Capture = field(default_factory=Capture)
    stop: Interrupt = field(default_factory=Interrupt)
    ended: Ended | None = None
    told: bool = False
    """Whether its end was told in a note."""
    seen: int = 0
    """The position in the output up to which it was shown."""
    thread: Thread | None = None

    def watch(self, over: Callable[[], None]) -> None:
        """Read until the command ends, and say so."""
        self.ended = Watch(self.shell, self.capture, self.stop, tell=lambda _text: None).run()
        over()

    def state(self) -> str:
        """In words: running, or how it ended."""
        if self.ended is None:
            return "running"
        return "stopped" if self.ended.why else f"ended with exit code {self.ended.code}"

    def type(self, text: str) -> None:
        """Write to its standard input; the terminal's end of input is an empty text."""
        pipe = self.shell.process.stdin
        if self.ended is not None or pipe is None or pipe.closed:
            raise ModelCanFix(f"{self.name} takes no more input: it is {self.state()}")
        try:
            if text:
                pipe.write(text.encode())
                pipe.flush()
            else:
                pipe.close()
        except BrokenPipeError as problem:
            raise ModelCanFix(f"{self.name} has closed its input") from problem

    def end(self) -> None:
        """Stop it and wait until its group is gone."""
        self.stop.set()
        if self.thread is not None:
            self.thread.join()


class Background:
    """The commands of every session that run in the background of this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._jobs: dict[str, list[Job]] = {}
        self._count = 0

    def start(self, session: str, command: Command) -> Job:
        """Make a command ready; it does nothing before `go`."""
        with self._lock:
            jobs = self._jobs.setdefault(session, [])
            if sum(job.ended is None for job in jobs) >= MOST:
                raise ModelCanFix(f"{MOST} commands run in the background already; end one with process(kill)")
            self._count += 1
            job = Job(f"bg{self._count}", command.text, Shell(command))
            over = [job for job in jobs if job.ended is not None]
            for old in over[: max(0, len(over) - REMEMBERED)]:
                jobs.remove(old)
            jobs.append(job)
        return job

    def go(self, job: Job, over: Callable[[], None]) -> None:
        """Let it begin; `over` is called when it has ended."""
        job.thread = watching(partial(job.watch, over), job.name)
        job.shell.release()

    def all(self, session: str) -> tuple[Job, ...]:
        """The session's commands, oldest first."""
        with self._lock:
            return tuple(self._jobs.get(session, ()))

    def find(self, session: str, name: str) -> Job:
        """One of them by its name."""
        jobs = {job.name: job for job in self.all(session)}
        if name not in jobs:
            raise ModelCanFix(f"there is no background command {name!r}; there are: {', '.join(jobs) or 'none'}")
        return jobs[name]

    def news(self, session: str) -> list[str]:
        """A sentence for each command of the session that ended since the last time."""
        over = [job for job in self.all(session) if job.ended is not None and not job.told]
        for job in over:
            job.told = True
        return [f"The background command {job.name} has {job.state()}: {shorten(job.command, 80)}" for job in over]

    def close(self) -> None:
        """End everything that still runs."""
        with self._lock:
            running = [job for jobs in self._jobs.values() for job in jobs if job.ended is None]
        for job in running:
            job.stop.set()
        for job in running:
            job.end()
