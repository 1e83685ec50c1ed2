"""The server as a process: found, started once, ended in order, and replaced when it is not well."""

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import httpx2
import pytest

from assistant import __version__
from assistant.client.attach import Attach, older
from assistant.client.http_runs import HttpRuns
from assistant.core.ports import Start
from assistant.errors import Conflict, PersonMustAct, TryLater
from assistant.home.place import Home
from assistant.home.running import Running, read_running, write_running
from assistant.server.process import Listening, bind, only_server
from tests.fakes.openai_server import OpenAIServer, call, text
from tests.fakes.waiting import until

ROOT = Path(__file__).parents[2]


class House:
    """A home whose servers are real processes."""

    def __init__(self, folder: Path, url: str, name: str = "home") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.home = Home(folder / name)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "OPENAI_BASE_URL": url,
            "HERMES_HOME": str(self.home.root),
        }
        self.said: list[str] = []

    def attach(self, version: str = __version__, **more: str) -> Attach:
        command = (sys.executable, "-m", "assistant", "--home", str(self.home.root), "serve")
        return Attach(self.home, version, command, self.said.append, {**self.environ, **more})

    def type(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command of the shell."""
        command = [sys.executable, "-m", "assistant", *words]
        return subprocess.run(command, env=self.environ, capture_output=True, text=True, timeout=60, check=False)

    def port(self, number: int) -> None:
        """What config.yaml says."""
        self.home.root.mkdir(exist_ok=True)
        self.home.config.write_text(f"server: {{port: {number}}}\n")

    def close(self) -> None:
        found = read_running(self.home)
        if found is not None:
            self.attach().end(self.attach().look())


@pytest.fixture
def model():
    with OpenAIServer(script={"forever": text("Hello from the model.")}) as server:
        yield server


@pytest.fixture
def house(tmp_path, model):
    found = House(tmp_path, model.base_url)
    found.port(0)
    yield found
    found.close()


def test_ten_at_once_start_one_server_and_nobody_fails(house):
    environ = house.environ
    command = [sys.executable, "-m", "assistant", "ask", "hello"]
    started = [
        subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(10)
    ]

    ended = [process.communicate(timeout=90) for process in started]

    assert [process.returncode for process in started] == [0] * 10, ended
    assert {out.strip() for out, _ in ended} == {"Hello from the model."}
    assert sum("started the server" in notes for _, notes in ended) == 1
    executors = list(house.home.run.glob("exe_*.lock"))
    assert len(executors) == 1


def test_up_status_down(house):
    up, again = house.type("up"), house.type("up")
    status = json.loads(house.type("status", "--json").stdout)
    down, after = house.type("down"), house.type("status")

    assert (up.returncode, again.returncode, down.returncode, after.returncode) == (0, 0, 0, 0)
    assert "started the server" in up.stderr
    assert "runs already" in again.stderr
    assert status["running"] is True
    assert status["version"] == __version__
    assert "has ended" in down.stderr
    assert "no server runs" in after.stdout
    assert not house.home.server_file.exists()


def test_a_killed_server_goes_on_with_its_run_after_the_next_start(house, tmp_path):
    slow = call("terminal", "run-", command="echo x > begun; sleep 1; echo late")
    with OpenAIServer(script={"rules": [{"when": "go", "steps": [slow, text("All done.")]}]}) as model:
        house.environ["OPENAI_BASE_URL"] = model.base_url
        attach = house.attach()
        runs = HttpRuns(attach.find_or_start(), attach.find_or_start, str(tmp_path))
        run_id = runs.start(Start("go")).run_id
        until(lambda: (tmp_path / "begun").exists())
        first = read_running(house.home)
        os.kill(first.pid, signal.SIGKILL)

        told = list(runs.events(run_id))
        runs.close()

        assert read_running(house.home).pid != first.pid
        assert [item.seq for item in told] == list(range(1, len(told) + 1))
        assert told[-1].event.output == "All done."
        assert any("may or may not have happened" in message["content"] for message in tools(model))


def tools(model: OpenAIServer) -> list[dict]:
    return [m for request in model.requests for m in request["messages"] if m["role"] == "tool"]


def test_what_runs_when_the_server_ends_goes_on_with_the_next(house, tmp_path):
    asks = call("clarify", "ask-", question="Which?")
    with OpenAIServer(script={"rules": [{"when": "go", "steps": [asks, text("All done.")]}]}) as model:
        house.environ["OPENAI_BASE_URL"] = model.base_url
        attach = house.attach()
        runs = HttpRuns(attach.find_or_start(), attach.find_or_start, str(tmp_path))
        run_id = runs.start(Start("go")).run_id
        until(lambda: runs.get(f"/v1/runs/{run_id}")["status"] == "waiting_for_answer")
        assert house.type("down").returncode == 0
        assert house.type("up").returncode == 0
        until(lambda: runs.get(f"/v1/runs/{run_id}")["status"] == "waiting_for_answer")

        runs.answer(run_id, "this one")

        assert list(runs.events(run_id))[-1].event.output == "All done."
        runs.close()


def test_two_homes_share_nothing(tmp_path, model):
    houses = [House(tmp_path / name, model.base_url) for name in ("one", "two")]
    answers = [house.type("ask", f"from {number}") for number, house in enumerate(houses)]

    assert [answer.returncode for answer in answers] == [0, 0], answers
    one, two = (read_running(house.home) for house in houses)
    assert (one.pid, one.port, one.token) != (two.pid, two.port, two.token)
    assert one.port != two.port
    headers = {"Authorization": f"Bearer {one.token}"}
    assert httpx2.get(f"{two.url}/v1/runs", headers=headers).status_code == 401
    (run,) = httpx2.get(f"{one.url}/v1/runs", headers=headers).json()["data"]
    assert run["input"] == "from 0"
    for house in houses:
        house.close()


def test_a_taken_port_gives_way_to_a_free_one_unless_it_was_named(house):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        house.port(port)
        assert house.type("up").returncode == 0
        assert read_running(house.home).port != port
        house.close()

        named = house.type("serve", "--port", str(port))

        assert named.returncode == 2
        assert f"port {port}" in named.stderr
        with pytest.raises(PersonMustAct):
            bind(Listening("127.0.0.1", port, explicit=True))


def test_a_second_server_of_one_home_is_refused(house):
    house.type("up")

    second = house.type("serve")

    assert second.returncode == 1
    assert "runs already" in second.stderr
    with pytest.raises(Conflict):
        only_server(house.home)


def test_a_wide_bind_without_a_key_is_refused(house):
    refused = house.type("serve", "--host", "0.0.0.0")

    assert refused.returncode == 2
    assert "16 characters" in refused.stderr


def test_a_note_that_a_dead_server_left_is_put_right_and_said(house):
    house.home.root.mkdir(exist_ok=True)
    write_running(house.home, Running(2**22 - 1, 9, "x", __version__))

    address = house.attach().find_or_start()

    assert httpx2.get(f"{address.url}/health").json()["status"] == "ok"
    assert "without taking its note back" in house.said[0]


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": "x"}'])
def test_a_note_that_cannot_be_read_is_no_server(tmp_path, note):
    home = Home(tmp_path)
    home.server_file.write_text(note)
    assert read_running(home) is None


def test_a_server_that_hangs_is_ended_and_replaced(house):
    attach = house.attach()
    attach.find_or_start()
    hung = read_running(house.home)
    os.kill(hung.pid, signal.SIGSTOP)

    address = attach.find_or_start()

    assert "does not answer any more" in house.said[1]
    assert read_running(house.home).pid != hung.pid
    assert httpx2.get(f"{address.url}/health").json()["status"] == "ok"
    until(lambda: not Path(f"/proc/{hung.pid}").exists() or "Z" in Path(f"/proc/{hung.pid}/stat").read_text())


def test_an_older_server_is_replaced_and_a_newer_one_is_used_and_said(house):
    house.attach().find_or_start()
    first = read_running(house.home)
    newer = replace(house.attach(), version="0.0.9").find_or_start()
    assert newer.token == first.token
    assert "`assistant down` ends it" in house.said[-1]

    replaced = replace(house.attach(), version="9.0").find_or_start()

    assert "older than this program" in house.said[-2]
    assert replaced.token != first.token


@pytest.mark.parametrize(
    ("theirs", "ours", "before"), [("0.1.0", "0.2.0", True), ("0.10.0", "0.9.0", False), ("1.0", "1.0", False)]
)
def test_versions_are_compared_by_numbers(theirs, ours, before):
    assert older(theirs, ours) == before


def test_somebody_else_on_the_port_is_not_our_server(house):
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        house.home.root.mkdir(exist_ok=True)
        write_running(house.home, Running(os.getpid(), other.server_address[1], "x", __version__))

        assert house.attach().look().health == "gone"
        with pytest.raises(TryLater):
            house.attach().find()
        other.shutdown()


def test_a_server_that_cannot_start_says_why(house):
    house.home.root.mkdir(exist_ok=True)
    house.home.config.write_text("server: {prot: 1}\n")

    with pytest.raises(PersonMustAct, match="did you mean"):
        house.attach().find_or_start()


def test_a_terminal_elsewhere_reaches_it_by_url_and_token(house, tmp_path):
    house.attach().find_or_start()
    running = read_running(house.home)
    other = House(tmp_path / "elsewhere", "http://127.0.0.1:9/v1")
    other.environ["ASSISTANT_TOKEN"] = running.token

    answer = other.type("--server", running.url, "ask", "hello")
    again = other.type("--server", running.url, "ask", "hello", "--continue", "--json")

    assert (answer.returncode, answer.stdout.strip()) == (0, "Hello from the model."), answer.stderr
    assert json.loads(again.stdout)["status"] == "completed"
    assert read_running(other.home) is None
