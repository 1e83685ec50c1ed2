"""The keys, over a pipe instead of a keyboard."""

import io
from threading import Thread

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input

from assistant.client.face import Look, Means, Place
from assistant.client.output import SteadyOutput
from assistant.client.terminal import Terminal
from assistant.core.events import ApprovalResolved, ReplyEnded, RunCompleted
from assistant.core.messages import Message
from assistant.core.ports import Start
from tests.client.scenes import RISKY, Watch
from tests.fakes.runs import ScriptedRuns, UntilSteered, UntilStopped
from tests.fakes.waiting import until

SAID = [ReplyEnded(Message("assistant", "ok")), RunCompleted("ok", {})]


class Desk:
    """A chat in a thread of its own; the test holds the keyboard."""

    def __init__(self, keys, folder, *scripts, colour=False):
        self.keys = keys
        self.runs = ScriptedRuns(*scripts)
        self.paper = io.StringIO()
        output = SteadyOutput(self.paper, lambda: Size(rows=30, columns=60), term="xterm")
        means = Means(self.runs, Place(), {}, lambda: ["deploy"])
        self.terminal = Terminal(means, folder / "run" / "history", Watch(), Look(colour=colour), (keys, output))
        self.history = folder / "run" / "history"
        self.thread = Thread(target=self.sit, daemon=True)
        self.thread.start()
        until(lambda: self.terminal.app.is_running)

    def sit(self):
        self.terminal.app.run(handle_sigint=False, pre_run=lambda: self.terminal._begin(""))

    def type(self, keys):
        self.keys.send_text(keys)

    def leave(self):
        self.type("\x03\x03\x03\x04")
        until(lambda: not self.thread.is_alive())

    def wished(self, *wishes):
        until(lambda: [wish.input for wish in self.runs.wishes] == list(wishes), lambda: str(self.runs.wishes))


@pytest.fixture
def desk(tmp_path):
    with create_pipe_input() as keys:
        desks = []

        def sit(*scripts, **options):
            desks.append(Desk(keys, tmp_path, *scripts, **options))
            return desks[-1]

        yield sit
        desks[-1].leave()


@pytest.mark.parametrize(
    ("keys", "wish"),
    [
        ("안녕 👍\r", "안녕 👍"),
        ("one\x1b\rtwo\r", "one\ntwo"),
        ("one\ntwo\r", "one\ntwo"),
        ("one\\\rtwo\r", "one\ntwo"),
        ("\x1b[200~pasted\nlines\x1b[201~\r", "pasted\nlines"),
        ("wrong\x03right\r", "right"),
        ("\r\rhello\r", "hello"),
        ("/depl\t now\r", "First load the skill `deploy` with skill_view, then follow it.\n\nnow"),
    ],
)
def test_what_is_typed_is_sent(desk, keys, wish):
    seat = desk(SAID)
    seat.type(keys)
    seat.wished(wish)


def test_what_was_sent_is_kept_for_the_next_chat_and_for_nobody_else(desk):
    seat = desk(SAID)
    seat.type("remember me\r")
    seat.wished("remember me")
    assert "remember me" in seat.history.read_text()
    assert seat.history.stat().st_mode & 0o077 == 0


def test_enter_while_it_works_steers(desk):
    seat = desk([UntilSteered(), *SAID])
    seat.type("begin\r")
    seat.wished("begin")
    seat.type("this way\r")
    until(lambda: seat.runs.steers == [("this way", "steer")])


def test_ctrl_c_while_it_works_stops_the_turn_and_leaves_the_draft(desk):
    seat = desk([UntilStopped()])
    seat.type("begin\r")
    seat.wished("begin")
    seat.type("a draft\x03")
    until(lambda: seat.runs.stops == ["run_1"])
    assert seat.terminal.buffer.text == "a draft"


def test_a_request_takes_the_input_and_the_draft_comes_back_after_it(desk):
    seat = desk([UntilSteered(), RISKY, UntilStopped()])
    seat.type("begin\r")
    seat.wished("begin")
    seat.type("now\rhalf a thou")
    until(lambda: seat.terminal.conversation.asked is not None)
    until(lambda: seat.terminal.buffer.text == "")
    seat.runs.settle("run_1", "app_1", ApprovalResolved("app_1", "call_1", "once", "web"))
    until(lambda: seat.terminal.buffer.text == "half a thou")


def test_without_colour_nothing_is_coloured(desk):
    seat = desk(SAID)
    seat.type("hello\r")
    seat.wished("hello")
    until(lambda: "ok" in seat.paper.getvalue())
    assert "\x1b[0;3" not in seat.paper.getvalue()
    assert seat.runs.wishes == [Start("hello")]
