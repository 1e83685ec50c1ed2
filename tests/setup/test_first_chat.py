"""The first chat of a new home, in a real terminal: asked once, stored, and not asked again."""

import shlex
import shutil
import stat
import sys
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer, text
from tests.fakes.tmux import Tmux
from tests.fakes.waiting import until

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")


def chat(folder):
    places = {"HOME": folder, "HERMES_HOME": folder / "home", "XDG_CACHE_HOME": folder / "cache", "PYTHONPATH": ROOT}
    words = ["env", "-u", "OPENAI_API_KEY", "-u", "OPENAI_BASE_URL", *(f"{k}={v}" for k, v in places.items())]
    return Tmux([shlex.join([*words, sys.executable, "-m", "assistant", "chat", "--here"])])


def test_the_question_is_asked_once_and_leads_into_the_conversation(tmp_path):
    with OpenAIServer(text("Hello, I am **new** here."), text("Back again.")) as server:
        terminal = chat(tmp_path)
        try:
            terminal.see("No model is set yet", "Number (Enter: not now):")
            for asked, answer in (
                ("Number", "1"),
                ("Address", server.base_url),
                ("API key", "sk-secret"),
                ("Model name", "gpt-x"),
            ):
                terminal.see(asked)
                terminal.type(answer)
                terminal.press("Enter")
            screen = terminal.see("assistant · gpt-x", "ask anything")
            assert "sk-secret" not in screen
            terminal.type("hello")
            terminal.press("Enter")
            terminal.see("Hello, I am new here.")
        finally:
            terminal.close()
        assert stat.S_IMODE((tmp_path / "home/.env").stat().st_mode) == 0o600
        assert server.headers[0]["authorization"] == "Bearer sk-secret"

        terminal = chat(tmp_path)
        try:
            screen = terminal.see("assistant · gpt-x", "ask anything")
            assert "No model" not in screen
            terminal.type("again")
            terminal.press("Enter")
            terminal.see("Back again.")
        finally:
            terminal.close()
        server.finished()


def test_not_now_ends_it_and_leaves_everything_as_it_was(tmp_path):
    terminal = chat(tmp_path)
    try:
        terminal.see("Number (Enter: not now):")
        terminal.press("Enter")
        until(terminal.ended)
    finally:
        terminal.close()
    assert 'name: ""' in (tmp_path / "home/config.yaml").read_text()
