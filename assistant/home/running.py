"""`server.json`: how a server of this home is found; written whole, readable by its owner alone."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from assistant.home.files import write_whole
from assistant.home.place import Home

LOOPBACK = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}
"""How to reach a server that listens on every address."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server as it describes itself."""

    pid: int
    port: int
    token: str
    version: str
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        """Where it answers, seen from this machine."""
        host = LOOPBACK.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"


def write_running(home: Home, running: Running) -> None:
    """Say that a server runs."""
    write_whole(home.server_file, json.dumps(asdict(running)).encode(), 0o600)


def read_running(home: Home) -> Running | None:
    """The server that says it runs; None when there is none, or the file cannot be understood."""
    try:
        told: Any = json.loads(home.server_file.read_text(encoding="utf-8"))
        host = str(told.get("host", "127.0.0.1"))
        return Running(int(told["pid"]), int(told["port"]), str(told["token"]), str(told["version"]), host)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def forget_running(home: Home, pid: int) -> None:
    """Take the note back, if it is this process's own."""
    found = read_running(home)
    if found is not None and found.pid == pid:
        home.server_file.unlink(missing_ok=True)
