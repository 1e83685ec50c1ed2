"""The whole path of somebody who has no account: setup, a question, the next one, as commands of a fresh home."""

import json
import os
import subprocess
import sys

import pytest

from tests.fakes.tmux import Tmux
from tests.model.conftest import ROOT

pytestmark = pytest.mark.model
PATIENCE = 300


class Shell:
    """Commands in processes of their own, over one home."""

    def __init__(self, folder, caches):
        self.home = folder / "home"
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        places = {"HOME": str(folder), "HERMES_HOME": str(self.home), "XDG_CACHE_HOME": str(caches)}
        self.environ = kept | places | {"PYTHONPATH": str(ROOT)}

    def __call__(self, *words):
        command = [sys.executable, "-m", "assistant", *words]
        done = subprocess.run(
            command,
            env=self.environ,
            cwd=self.home.parent,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    def json(self, *words):
        return json.loads(self(*words, "--json").stdout)


@pytest.fixture(scope="module")
def shell(tmp_path_factory, caches):
    shell = Shell(tmp_path_factory.mktemp("builtin"), caches)
    shell.setup = shell("setup", "--local")
    yield shell
    shell("down")


@pytest.fixture(scope="module")
def first(shell):
    return shell.json("ask", "My name is Minji. Say hello to me.")


@pytest.fixture(scope="module")
def second(shell, first):
    return shell.json("ask", "--continue", "What is my name?")


def test_setup_makes_the_built_in_model_answer_and_says_what_it_is(shell):
    assert "knows little and uses no tools" in shell.setup.stderr
    assert shell.json("config", "get", "model.name")["value"] == "builtin"


def test_an_answer_streams(shell, first):
    assert first["status"] == "completed"
    lines = shell("runs", "events", first["run_id"], "--json").stdout.splitlines()
    told = [json.loads(line)["type"] for line in lines]
    assert told.count("message.delta") > 2
    assert told[0] == "run.started"
    assert told[-1] == "run.completed"


def test_the_next_question_goes_on_from_what_was_stored(shell, first, second):
    assert second["session_id"] == first["session_id"]
    stored = shell.json("sessions", "show", first["session_id"])["messages"]
    assert [m["role"] for m in stored] == ["user", "assistant"] * 2
    assert [m["text"] for m in stored[1::2]] == [first["answer"], second["answer"]]
    assert second["usage"]["input_tokens"] > first["usage"]["input_tokens"] + first["usage"]["output_tokens"] / 2


def test_it_is_given_no_tools_and_is_never_asked_to_look_back(shell, second):
    assert second["tools"] == []
    assert second["review"] is None
    shell("config", "set", "skills.creation_nudge_interval", "1")
    shell("down")
    assert shell.json("ask", "--continue", "Thank you.")["review"] is None
    assert shell.json("reviews", "list") == []


def test_the_doctor_asks_it_a_real_question(shell, second):
    found = {check["name"]: check for check in shell.json("doctor")["checks"]}
    assert "it cannot call tools" in found["model"]["message"]
    assert found["built-in model"]["message"] == "ready"


def test_the_first_lines_of_the_chat_say_what_it_is_and_how_to_set_another(shell, second, tmp_path):
    words = " ".join(f"{name}={value}" for name, value in shell.environ.items() if name not in ("PATH", "LANG"))
    terminal = Tmux(["sh", "-c", f"env {words} {sys.executable} -m assistant chat"])
    try:
        screen = terminal.see("uses no tools", "assistant setup", "ask anything")
        assert "builtin" in screen
        terminal.type("Hello!")
        terminal.press("Enter")
        terminal.see("❯ Hello!")
        terminal.lose("Ctrl-C stops")
    finally:
        terminal.close()
