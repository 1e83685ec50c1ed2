"""Processes that are measured, and the scripted model in a process of its own."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

ROOT = Path(__file__).parents[2]
LONGEST = 120.0


@dataclass(frozen=True)
class Spent:
    """What a process took."""

    wall: float
    cpu: float
    rss_mb: float
    out: str


def spent(words: Sequence[str], environ: Mapping[str, str], folder: Path = ROOT) -> Spent:
    """Run Python with these words to its end; a failure ends the benchmark with what it said."""
    begun = monotonic()
    child = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watch = threading.Timer(LONGEST, child.kill)
    watch.start()
    assert child.stdout is not None
    assert child.stderr is not None
    out, errors = child.stdout.read(), child.stderr.read()
    _, state, used = os.wait4(child.pid, 0)
    wall = monotonic() - begun
    watch.cancel()
    child.returncode = os.waitstatus_to_exitcode(state)
    assert child.returncode == 0, f"{words}: exit {child.returncode}\n{out}{errors}"
    per_mb = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / per_mb, out)


@dataclass(frozen=True)
class Asked:
    """One request as the model's server saw it; times of the system's steady clock."""

    came: float
    left: float
    body: bytes

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation in it."""
        found: list[dict[str, Any]] = json.loads(self.body)["messages"]
        return found


@dataclass(frozen=True)
class ModelServer:
    """A model without thinking time."""

    url: str
    log: Path

    @property
    def environ(self) -> dict[str, str]:
        """What makes the assistant ask it."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "none"}

    def asked(self) -> list[Asked]:
        """Every request so far, in order."""
        times = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [
            Asked(came, left, (self.log.parent / f"body-{number}").read_bytes())
            for number, (came, left) in enumerate(times)
        ]


@contextmanager
def model_server(folder: Path, *rules: dict[str, Any]) -> Iterator[ModelServer]:
    """A scripted server that answers by these rules until the body ends."""
    folder.mkdir(parents=True)
    (folder / "script.json").write_text(json.dumps({"rules": list(rules)}))
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.timed_server", str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        yield ModelServer(f"http://127.0.0.1:{int(child.stdout.readline())}/v1", folder / "times")
    finally:
        child.kill()
        child.wait()
