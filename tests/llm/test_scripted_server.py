"""The scripted server answers other processes, and the same question the same way."""

import json
import subprocess
import sys

import pytest

from assistant.core.messages import Call, Message, Request
from assistant.errors import PersonMustAct
from tests.fakes.openai_server import OpenAIServer, call, text
from tests.llm.scene import calls_of, model_at, played, text_of

RULES = {
    "rules": [
        {"when": "look back", "steps": [text("Nothing to save.")]},
        {"when": "", "steps": [call("read_file", path="a.txt"), text("It says hello.")]},
    ]
}
ASKED = Message("user", "what is in a.txt?")
LOOKED = (ASKED, Message("assistant", "", (Call("c", "read_file", "{}"),)), Message("tool", "hello", answers="c"))


def test_a_process_of_its_own_answers_by_what_was_said_last(tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps(RULES))
    command = [sys.executable, "-m", "tests.fakes.openai_server", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        model = model_at(f"http://127.0.0.1:{int(server.stdout.readline())}/v1")
        for _again in range(2):
            [wanted] = calls_of(played(model, Request("", (), (ASKED,))))
            assert wanted.name == "read_file"
            assert text_of(played(model, Request("", (), LOOKED))) == "It says hello."
        review = (*LOOKED, Message("assistant", "It says hello."), Message("user", "look back at this"))
        assert text_of(played(model, Request("", (), review))) == "Nothing to save."
        server.kill()


def test_a_request_too_many_is_refused_and_noticed():
    with OpenAIServer() as server, pytest.raises(PersonMustAct, match="no step for this request"):
        played(model_at(server.base_url))
    with pytest.raises(AssertionError, match="1 requests"):
        server.finished()


def test_one_reply_may_be_given_for_ever():
    with OpenAIServer(script={"forever": text("again")}) as server:
        model = model_at(server.base_url)
        assert [text_of(played(model)) for _ in range(3)] == ["again"] * 3
