"""`assistant doctor` over real surroundings: every check looks at the thing itself."""

import pytest

from tests.cli.scene import Shell
from tests.fakes.openai_server import OpenAIServer, call, text


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    shell.fine("config", "path")
    return shell


def examined(shell):
    said = shell.really("doctor", "--json")
    found = {check["name"]: check for check in said.json["checks"]}
    assert said.json["ok"] == all(check["ok"] for check in found.values())
    assert said.code == (0 if said.json["ok"] else 1)
    assert all(check["todo"] for check in found.values() if not check["ok"])
    return found


def told(shell, name):
    check = examined(shell)[name]
    return check["ok"], check["message"], check["todo"]


def answered_by(shell, *steps):
    with OpenAIServer(*steps) as server:
        shell.fine("config", "set", "model.base_url", server.base_url)
        found = examined(shell)["model"]
        server.finished()
        assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["ping"]
    return found["ok"], found["message"]


def test_a_model_is_asked_one_real_request_with_a_tool(shell):
    ok, message = answered_by(shell, call("ping"))
    assert ok
    assert message.endswith("and called the tool")


def test_a_model_that_only_talks_will_not_do(shell):
    ok, message = answered_by(shell, text("Pong!"))
    assert not ok
    assert "did not call the tool" in message


def test_without_a_model_it_says_how_to_get_one(shell):
    ok, message, _ = told(shell, "model")
    assert not ok
    assert "assistant setup" in message


def test_the_built_in_model_matters_once_it_is_chosen(shell):
    assert told(shell, "built-in model")[0]
    shell.fine("config", "set", "model.name", "builtin")
    assert told(shell, "built-in model")[::2] == (False, "assistant setup --local")


def test_a_damaged_database_and_open_secrets_are_found(shell):
    shell.fine("sessions", "list")
    assert told(shell, "database")[0]
    database = shell.home / "assistant.db"
    database.write_bytes(database.read_bytes()[:5000])
    (shell.home / ".env").chmod(0o644)
    found = examined(shell)
    assert not found["database"]["ok"]
    assert found["permissions"]["todo"].startswith("chmod 600")


def test_broken_settings_are_told_with_their_line_and_the_rest_is_still_looked_at(shell):
    (shell.home / "config.yaml").write_text("model:\n  nmae: x\n")
    found = examined(shell)
    assert "name" in found["settings"]["message"]
    assert found["git"]["ok"]
