"""A whole assistant behind real HTTP, in this process: the world of `tests.fakes.world` with a server in a thread.

served.script(says("hello"))
run = served.post("/v1/runs", input="hi").json()
frames = served.frames(run["run_id"])
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2

from assistant.home.running import read_running
from assistant.server.process import Listening, serving
from assistant.wiring.build import Working
from tests.fakes.world import World

TOKEN = "a-token-for-tests"


@dataclass(frozen=True)
class Frame:
    """One server-sent event."""

    id: int
    event: str
    data: dict[str, Any]


class Served(World):
    """A world that is reached over HTTP."""

    def open(self) -> None:
        super().open()
        self.listen()

    def listen(self) -> None:
        """Begin to answer."""
        self.said: list[str] = []
        self._serving = serving(self.assembly.home, self.working, self.listening(), self.said.append)
        self.server = self._serving.__enter__()
        self._thread = Thread(target=self.server.run, args=([self.server.sock],), daemon=True)
        self._thread.start()
        running = read_running(self.assembly.home)
        assert running is not None
        self.url, self.token = running.url, running.token
        self.http = httpx2.Client(base_url=self.url, headers={"Authorization": f"Bearer {self.token}"}, timeout=30)

    def listening(self) -> Listening:
        return Listening("127.0.0.1", 0)

    def build(self) -> Working:
        return Working(self.assembly, only_own=False)

    def close(self) -> None:
        self.hang_up()
        super().close()

    def hang_up(self) -> None:
        """Stop answering; what runs goes on."""
        self.http.close()
        self.server.leave()
        self._thread.join(10)
        assert not self._thread.is_alive(), "the server did not end"
        self._serving.__exit__(None, None, None)

    def get(self, path: str, **query: Any) -> httpx2.Response:
        return self.http.get(path, params=query)

    def post(self, path: str, headers: dict[str, str] | None = None, /, **body: Any) -> httpx2.Response:
        return self.http.post(path, json=body, headers=headers)

    def run(self, text: str, **more: Any) -> str:
        """Start a run; its id."""
        answer = self.post("/v1/runs", input=text, **more)
        assert answer.status_code == 202, answer.text
        self.session = answer.json()["session_id"]
        return str(answer.json()["run_id"])

    def frames(self, run_id: str, after: int | None = None, headers: dict[str, str] | None = None) -> list[Frame]:
        """All frames of a run, to its end."""
        return list(self.following(run_id, after, headers))

    def following(
        self, run_id: str, after: int | None = None, headers: dict[str, str] | None = None
    ) -> Iterator[Frame]:
        """The frames of a run as they come; close it to disconnect."""
        query = {} if after is None else {"after": after}
        with self.http.stream("GET", f"/v1/runs/{run_id}/events", params=query, headers=headers) as response:
            assert response.status_code == 200, response.read()
            yield from parsed(response.iter_bytes())

    def until(self, run_id: str, kind: str) -> Frame:
        """The first frame of a kind; the stream is left then."""
        stream = self.following(run_id)
        try:
            return next(frame for frame in stream if frame.event == kind)
        finally:
            stream.close()


def parsed(pieces: Iterator[bytes]) -> Iterator[Frame]:
    """Server-sent events from bytes, as a strict client reads them."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n\n")
        for block in whole:
            fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if not line.startswith(b":"))
            if fields:
                yield Frame(int(fields.get(b"id", b"0")), fields[b"event"].decode(), json.loads(fields[b"data"]))


def served(folder: Path) -> Iterator[Served]:
    """For a fixture."""
    world = Served(folder)
    yield world
    world.close()
