"""A server under load: 64 chats and 64 runs at once, 200 readers of one run, 100,000 stored events.

The model answers at once, but its scripted server, the clients and the assistant share this machine's processors.
"""

import http.client
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.benchmarks.child import ROOT, ModelServer, model_server
from tests.benchmarks.table import Row, mid, p95
from tests.fakes.openai_server import text

AT_ONCE, CHATS, READERS, STORED = 64, 128, 200, 100_000
QUICK = {"when": "quick", "steps": [text("Done, as you asked.")]}
LONG = {"when": "long", "steps": [text("A long answer in very many pieces. " * 60)]}
CONFIG = "server: {port: 0}\nskills: {creation_nudge_interval: 0}\nmemory: {nudge_interval: 0}\n"


@dataclass(frozen=True)
class Server:
    """A server that is measured."""

    process: subprocess.Popen[bytes]
    home: Path
    ready: float

    @property
    def told(self) -> dict[str, Any]:
        """What server.json says."""
        found: dict[str, Any] = json.loads((self.home / "server.json").read_text())
        return found

    def status(self, name: str) -> int:
        """A number of /proc: VmRSS in kB, or Threads."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))

    @property
    def rss(self) -> float:
        """Resident memory in MB."""
        return self.status("VmRSS") / 1024

    def send(self, method: str, path: str, body: Any = None) -> tuple[http.client.HTTPConnection, Any]:
        """A request on a connection of its own, and its answer when the headers are there."""
        line = http.client.HTTPConnection("127.0.0.1", self.told["port"], timeout=120)
        headers = {"Authorization": f"Bearer {self.told['token']}", "Content-Type": "application/json"}
        line.request(method, path, None if body is None else json.dumps(body), headers)
        return line, line.getresponse()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """A request to its end: the status and the JSON."""
        line, answer = self.send(method, path, body)
        try:
            return answer.status, json.loads(answer.read())
        finally:
            line.close()


@contextmanager
def running(folder: Path, model: ModelServer) -> Iterator[Server]:
    """A server of a home, measured until it answers."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(CONFIG)
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder), **model.environ}
    words = [sys.executable, "-m", "assistant", "--home", str(home), "serve"]
    begun = monotonic()
    process = subprocess.Popen(words, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not healthy(home):
        assert process.poll() is None
        sleep(0.002)
    try:
        yield Server(process, home, monotonic() - begun)
    finally:
        process.terminate()
        process.wait(20)


def healthy(home: Path) -> bool:
    """Whether the server answers."""
    try:
        port = json.loads((home / "server.json").read_text())["port"]
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        line.request("GET", "/health")
        return line.getresponse().read() != b""
    except (OSError, ValueError, http.client.HTTPException):
        return False


def rows(folder: Path) -> Iterator[Row]:
    """The rows of this chapter."""
    with model_server(folder / "model", QUICK, LONG) as model:
        with running(folder, model):
            pass
        with running(folder, model) as server:
            sleep(1.5)
            yield Row("server ready", server.ready, "s", 0.6)
            yield Row("server at rest", server.rss, "MB", 80)
            chat(server)
            yield from chats(server)
            yield from runs(server)
            yield Row("server after 128 runs of 64 at once", server.rss, "MB", 140)
            yield Row("threads after it", settled(server), "threads", None)
            yield from readers(server)
            yield from stored(server)


def at_once(work: Callable[[], Any], times: int, threads: int) -> tuple[float, list[Any]]:
    """Do something many times, so many at once; seconds, and what each gave."""
    with ThreadPoolExecutor(threads) as pool:
        begun = monotonic()
        given = [task.result() for task in [pool.submit(work) for _ in range(times)]]
        return monotonic() - begun, given


def chat(server: Server) -> int:
    """One chat; its status."""
    messages = [{"role": "user", "content": "quick"}]
    return server.ask("POST", "/v1/chat/completions", {"model": "hermes-agent", "messages": messages})[0]


def chats(server: Server) -> Iterator[Row]:
    """64 chats at once."""
    wall, states = at_once(lambda: chat(server), CHATS, AT_ONCE)
    yield Row("64 chats at once, each", wall / CHATS * 1000, "ms", 20, f"{CHATS / wall:.0f} a second")
    yield Row("64 chats at once, refused", sum(state != 200 for state in states), "of 128", 0)


def runs(server: Server) -> Iterator[Row]:
    """64 runs at once: how long until the first event is there."""
    wall, firsts = at_once(lambda: first_event(server), AT_ONCE, AT_ONCE)
    note = f"p95 {p95(firsts):.2f}; all 64 ended after {wall:.2f} s"
    yield Row("64 runs at once, first event", mid(firsts), "s", 0.5, note)


def first_event(server: Server) -> float:
    """Start a run and follow it; seconds to its first event."""
    begun = monotonic()
    run = server.ask("POST", "/v1/runs", {"input": "quick"})[1]
    line, answer = server.send("GET", f"/v1/runs/{run['run_id']}/events")
    answer.readline()
    first = monotonic() - begun
    answer.read()
    line.close()
    return first


def readers(server: Server) -> Iterator[Row]:
    """200 readers of one run, early and late ones."""
    run = server.ask("POST", "/v1/runs", {"input": "long"})[1]["run_id"]
    peak: list[float] = []

    def read() -> bytes:
        line, answer = server.send("GET", f"/v1/runs/{run}/events")
        heard: bytes = answer.read()
        peak.append(server.status("Threads"))
        line.close()
        return heard

    wall, heard = at_once(read, READERS, READERS)
    assert heard[0].count(b"event: run.completed") == 1
    yield Row("200 readers of one run, to its end", wall, "s", None, f"{len(heard[0]):,} bytes each")
    yield Row("readers that heard something else", sum(one != heard[0] for one in heard), "of 200", 0)
    yield Row("threads with 200 readers", max(peak), "threads", 40)
    yield Row("memory with 200 readers", server.rss, "MB", 160)


def settled(server: Server) -> int:
    """Threads once all work is done."""
    return server.status("Threads")


def stored(server: Server) -> Iterator[Row]:
    """A run of 100,000 events, read from the first to the last and from a place near its end."""
    run = server.ask("POST", "/v1/runs", {"input": "quick"})[1]["run_id"]
    server.send("GET", f"/v1/runs/{run}/events")[1].read()
    with sqlite3.connect(server.home / "assistant.db") as database:
        last = database.execute("SELECT last_event FROM runs WHERE id = ?", (run,)).fetchone()[0]
        told = (
            (run, last + n, "message.delta", '{"text": "word "}', "2026-01-01T00:00:00+00:00") for n in range(STORED)
        )
        database.execute("UPDATE events SET seq = seq + ? WHERE run_id = ? AND seq = ?", (STORED, run, last))
        database.executemany("INSERT INTO events (run_id, seq, type, data, at) VALUES (?,?,?,?,?)", told)
        database.execute("UPDATE runs SET last_event = last_event + ? WHERE id = ?", (STORED, run))
    yield Row("100,000 stored events, read over HTTP", timed(lambda: follow(server, run, 0, last + STORED)), "s", None)
    near = [timed(lambda: follow(server, run, STORED - 10, last + 10)) for _ in range(9)]
    yield Row("a reader that comes back near their end", mid(near) * 1000, "ms", None)
    yield Row("memory after them", server.rss, "MB", 160)


def follow(server: Server, run: str, after: int, expected: int) -> None:
    """Read a stream to its end."""
    line, answer = server.send("GET", f"/v1/runs/{run}/events?after={after}")
    count = sum(one.startswith(b"id: ") for one in answer)
    line.close()
    assert count == expected, (count, expected)


def timed(work: Callable[[], None]) -> float:
    """Seconds."""
    begun = monotonic()
    work()
    return monotonic() - begun
