"""Finding the server of a home, or starting one: also when ten of us look in the same instant."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from assistant.client.http_runs import Address, trust
from assistant.errors import PersonMustAct, TryLater
from assistant.home.place import Home, person
from assistant.home.running import Running, read_running

HEALTH_SECONDS = 3.0
"""How long a living server may take to say so."""
START_SECONDS = 30.0
END_SECONDS = 15.0
PAUSE_SECONDS = 0.02
Say = Callable[[str], None]


class Outliving(subprocess.Popen[bytes]):
    """A process that is meant to go on when this one ends."""

    def __del__(self) -> None:
        """Nothing to wait for."""


@dataclass(frozen=True, slots=True)
class Found:
    """A server that says it runs, and how it is."""

    running: Running
    health: str
    """`well`, `hangs` or `gone`."""
    version: str = ""

    @property
    def address(self) -> Address:
        """How to ask it."""
        return Address(self.running.url, self.running.token)


@dataclass(frozen=True, slots=True)
class Attach:
    """The way to one home's server."""

    home: Home
    version: str
    command: Sequence[str]
    """What starts a server of this home."""
    say: Say
    environ: Mapping[str, str]
    """What a new server gets."""

    def look(self) -> Found | None:
        """The server that `server.json` names, if there is one."""
        running = read_running(self.home)
        return None if running is None else self._examine(running)

    def runs(self) -> bool:
        """Whether a server is there, as far as its note says."""
        return read_running(self.home) is not None

    def find(self) -> Address:
        """A server that is well; TryLater when there is none just now.  Starts nothing."""
        found = self.look()
        if found is None or found.health != "well":
            raise TryLater(f"no server of {self.home.root} answers: `assistant up` starts one")
        return found.address

    def find_or_start(self) -> Address:
        """A server that is well: the one there is, or a new one."""
        found = self.look()
        if found is not None and found.health == "well" and not older(found.version, self.version):
            self._mention(found)
            return found.address
        self.home.run.mkdir(parents=True, exist_ok=True)
        try:
            with lock(self.home.run / "start.lock", START_SECONDS):
                return self._start()
        except TimeoutError:
            raise TryLater("another program has been starting the server for too long; try again") from None

    def end(self, found: Found) -> bool:
        """Ask a server to end, then make it; False when it was not there any more."""
        pid = found.running.pid
        if not self.is_ours(pid):
            self.home.server_file.unlink(missing_ok=True)
            return False
        patience = END_SECONDS if found.health == "well" else HEALTH_SECONDS
        for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, END_SECONDS)):
            if not send(pid, number) or until(lambda: not self.is_ours(pid), seconds):
                break
        self.home.server_file.unlink(missing_ok=True)
        return True

    def is_ours(self, pid: int) -> bool:
        """Whether a process is this home's server: it holds the lock that only a living server can hold."""
        try:
            with lock(self.home.run / "server.lock", 0):
                return False
        except TimeoutError:
            return alive(pid)

    def _start(self) -> Address:
        """Start a server, now that nobody else does; what stands in the way is said and put right."""
        found = self.look()
        if found is not None:
            if found.health == "well" and not older(found.version, self.version):
                return found.address
            self.say(why_not(found, self.version))
            self.end(found)
        log = self.home.logs / "server.out"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as out:
            process = Outliving(
                list(self.command),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                cwd=person(self.environ),
                env=dict(self.environ),
            )
        until(lambda: process.poll() is not None or self._well(), START_SECONDS)
        now = self.look()
        if now is not None and now.health == "well":
            self.say(f"started the server at {now.running.url}; it stays until `assistant down`")
            return now.address
        if process.poll() is None:
            process.terminate()
        raise PersonMustAct(f"the server did not start: {last_words(log)}")

    def _well(self) -> bool:
        found = self.look()
        return found is not None and found.health == "well"

    def _mention(self, found: Found) -> None:
        if found.version != self.version:
            self.say(f"the server is version {found.version}, this program {self.version}: `assistant down` ends it")

    def _examine(self, running: Running) -> Found:
        """Ask with the token: whoever else has that port now does not know it."""
        headers = {"Authorization": f"Bearer {running.token}"}
        url = f"{running.url}/v1/capabilities"
        try:
            answer = httpx2.get(
                url, headers=headers, timeout=HEALTH_SECONDS, trust_env=False, verify=trust(running.url)
            )
            return Found(running, "well", str(answer.json()["version"]))
        except httpx2.TimeoutException:
            return Found(running, "hangs")
        except (httpx2.HTTPError, KeyError, TypeError, json.JSONDecodeError):
            return Found(running, "gone")


def lock(path: Path, seconds: float) -> AbstractContextManager[Any]:
    """Hold a lock file; TimeoutError when somebody else does for so long."""
    from filelock import FileLock  # 35 ms, needed when a server is started or ended

    return FileLock(path).acquire(timeout=seconds, poll_interval=PAUSE_SECONDS)


def older(theirs: str, ours: str) -> bool:
    """Whether a version comes before another."""
    return numbers(theirs) < numbers(ours)


def numbers(version: str) -> tuple[int, ...]:
    """A version as it is compared."""
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def why_not(found: Found, ours: str) -> str:
    """Why a server that was found is not used."""
    pid = found.running.pid
    return {
        "hangs": f"the server (pid {pid}) does not answer any more: starting another one; its runs go on there",
        "gone": "the last server ended without taking its note back: starting another one",
        "well": f"the server is version {found.version}, older than this program ({ours}): starting this one instead",
    }[found.health]


def send(pid: int, number: signal.Signals) -> bool:
    """Signal a process; False when it is gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def alive(pid: int) -> bool:
    """Whether a process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def until(true: Callable[[], bool], seconds: float) -> bool:
    """Wait for something, but not for ever; whether it came true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


def last_words(log: Path) -> str:
    """The end of what a program printed."""
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return said[-1] if said else f"it said nothing; see {log}"
