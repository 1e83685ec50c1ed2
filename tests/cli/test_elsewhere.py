"""`--server URL`: the conversation goes there, and nothing of the home here is mistaken for what is there."""

import json

import pytest

from tests.cli.test_ask import assistant
from tests.fakes.openai_server import OpenAIServer, call, text


@pytest.fixture
def there(tmp_path):
    """Types commands at a server that looks back after each step, from a machine without a model."""
    rules = [
        {"when": "look", "steps": [call("terminal", command="ls"), text("Nothing there.")]},
        {"when": "", "steps": [text("Hello.")]},
    ]
    with OpenAIServer(script={"rules": rules}) as server:
        home = tmp_path / "home"
        for name, value in (("server.port", "0"), ("skills.creation_nudge_interval", "1")):
            assert assistant(tmp_path, "config", "set", name, value).returncode == 0
        assert assistant(tmp_path, "up", server=server).returncode == 0
        running = json.loads((home / "server.json").read_text())
        away = {"HERMES_HOME": str(tmp_path / "away"), "ASSISTANT_TOKEN": running["token"]}
        url = f"http://127.0.0.1:{running['port']}"
        try:
            yield lambda *words, given=None: assistant(tmp_path, "--server", url, *words, given=given, **away)
        finally:
            assistant(tmp_path, "down")


def test_an_answer_with_a_review_due_is_told_as_waiting(there):
    done = there("ask", "--json", "look around")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["answer"], told["review"]["outcome"]) == ("Nothing there.", "waiting")


def test_a_chat_needs_no_model_here_and_offers_what_it_can(there):
    session = json.loads(there("ask", "--json", "hello").stdout)["session_id"]
    done = there("chat", "--session", session, given="and again\n/skills\n/model other\n")
    assert (done.returncode, done.stdout) == (0, "Hello.\n"), done.stderr
    assert "there is no /skills" in done.stderr
    assert "other answers from your next message on" in done.stderr


@pytest.mark.parametrize("words", [("skills", "list"), ("sessions", "list"), ("inbox", "show"), ("memory", "show")])
def test_what_is_kept_there_is_not_looked_for_here(there, words):
    done = there(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "this is kept where the server runs" in done.stderr
