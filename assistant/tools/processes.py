"""Shell commands as process groups: started when recorded, read while they run, ended whole.

A thread starts here for each command in the background, and only there.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from assistant.core.interrupt import Interrupt
from assistant.errors import ModelCanFix
from assistant.tools.capture import Capture

GRACE = 1.5
"""Seconds between asking a group to end and ending it."""
PACE = 0.1
"""At least so many seconds between two pieces of output that are told."""
PIECE = 4_000
"""Most characters of one told piece."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, where, and what it may see."""

    text: str
    folder: Path
    environment: Mapping[str, str]
    typed: bool = False
    """Whether its standard input stays open to be written to."""
    inside: tuple[str, ...] = ()
    """The words of a program that runs it confined, before `bash`."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    why: str = ""
    """`timeout` or `stopped` when we ended it."""
    folder: Path | None = None
    """Where its shell stood at the end."""
    leftovers: bool = False
    """Processes it had left in the background were ended."""


class Shell:
    """One bash in a session and process group of its own; it does nothing before `release`."""

    def __init__(self, command: Command) -> None:
        gate, self._gate = os.pipe()
        self._place, place = os.pipe()
        try:
            self.process = subprocess.Popen(
                [*command.inside, "bash", "--noprofile", "--norc", "-c", prologue(gate, place) + command.text],
                stdin=subprocess.PIPE if command.typed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=command.folder,
                env=dict(command.environment),
                pass_fds=(gate, place),
                start_new_session=True,
            )
        except (OSError, ValueError) as problem:
            os.close(self._gate)
            os.close(self._place)
            raise ModelCanFix(f"the command did not start: {problem}") from problem
        finally:
            os.close(gate)
            os.close(place)
        self.group = self.process.pid
        assert self.process.stdout is not None
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.output, False)
        os.set_blocking(self._place, False)

    def release(self) -> None:
        """Let the command begin."""
        with suppress(BrokenPipeError):
            os.write(self._gate, b"\n")
        os.close(self._gate)
        self._gate = -1

    def read(self) -> bytes | None:
        """What can be read now; None at the end of the output."""
        try:
            return os.read(self.output, 65_536) or None
        except BlockingIOError:
            return b""

    def end(self) -> bool:
        """End whatever is left of the group; whether there was anything."""
        return end_group(self.group, self.process)

    def close(self) -> Path | None:
        """Let go of every pipe; the folder where the shell stood, if it told."""
        told = b""
        with suppress(BlockingIOError):
            told = os.read(self._place, 65_536)
        os.close(self._place)
        if self._gate >= 0:
            os.close(self._gate)
        for pipe in (self.process.stdout, self.process.stdin):
            with suppress(BrokenPipeError):
                pipe and pipe.close()
        return Path(os.fsdecode(told.removesuffix(b"\n"))) if told else None


def prologue(gate: int, place: int) -> str:
    """Shell words before the command, on its first line so that bash counts lines as the command does."""
    return f"read -r -u {gate} _ || exit 125; exec {gate}<&-; trap 'pwd -P >&{place}' EXIT; "


def watching(read: Callable[[], None], name: str) -> Thread:
    """A thread that reads a command to its end."""
    thread = Thread(target=read, name=f"command-{name}", daemon=True)
    thread.start()
    return thread


def end_group(group: int, process: "subprocess.Popen[bytes] | None" = None) -> bool:
    """End a process group: politely, then at once; whether there was anything left of it."""
    if not signalled(group, signal.SIGTERM):
        return False
    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        if process is not None:
            process.poll()
        if not is_alive(group):
            return True
        time.sleep(0.02)
    signalled(group, signal.SIGKILL)
    return True


def is_alive(group: int) -> bool:
    """Whether anybody of a group still runs; the dead that nobody has collected do not."""
    if not signalled(group, 0):
        return False
    stats = list(Path("/proc").glob("[0-9]*/stat"))
    return not stats or any(runs_in(stat, group) for stat in stats)


def runs_in(stat: Path, group: int) -> bool:
    """Whether a process, by its line in /proc, belongs to a group and is not dead."""
    try:
        state, _parent, its_group = stat.read_text().rpartition(")")[2].split()[:3]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(its_group) == group and state not in "ZX"


def signalled(group: int, number: int) -> bool:
    """Send a signal to a group; whether anybody was there."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


@dataclass(slots=True)
class Watch:
    """Reads one shell until it ends, is stopped, or runs out of time."""

    shell: Shell
    capture: Capture
    interrupt: Interrupt
    tell: Callable[[str], None]
    limit: float | None = None
    monotonic: Callable[[], float] = time.monotonic
    _waiting: str = ""
    _told: float = 0.0

    def run(self) -> Ended:
        """Read to the end, then end what is left of the group."""
        begin = self.monotonic()
        why = self._read(None if self.limit is None else begin + self.limit)
        if why:
            self.shell.end()
        code = self.shell.process.wait()
        leftovers = not why and is_alive(self.shell.group) and self.shell.end()
        while data := self.shell.read():
            self.capture.add(data)
        self.capture.add(b"", last=True)
        return Ended(code, why, self.shell.close(), leftovers)

    def _read(self, until: float | None) -> str:
        """Why reading ended: `timeout`, `stopped`, or nothing when the command did."""
        with selectors.DefaultSelector() as ready:
            ready.register(self.shell.output, selectors.EVENT_READ)
            why = None
            while why is None:
                why = self._once(ready, until)
        if self._waiting:
            self._pass_on()
        return why

    def _once(self, ready: selectors.BaseSelector, until: float | None) -> str | None:
        """One wait of at most PACE seconds; None to go on."""
        if ready.get_map():
            ready.select(PACE)
        data = self.shell.read()
        if data is None and ready.get_map():
            ready.unregister(self.shell.output)
        over = self._has_ended(PACE if data is None else 0)
        now = self.monotonic()
        if data:
            self._waiting += self.capture.add(data)
        if self._waiting and now - self._told >= PACE:
            self._pass_on()
            self._told = now
        if self.interrupt.is_set():
            return "stopped"
        if until is not None and now >= until:
            return "timeout"
        return "" if over and not data else None

    def _has_ended(self, patience: float) -> bool:
        """Whether the shell is gone; closing its output does not mean that yet."""
        try:
            self.shell.process.wait(patience)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _pass_on(self) -> None:
        """Tell what came since the last telling, bounded."""
        text, self._waiting = self._waiting, ""
        self.tell(text if len(text) <= PIECE else f"[…]{text[-PIECE:]}")
