import io

import pytest

from assistant.client.face import Means, Place
from assistant.client.render import PlainScreen
from assistant.client.simple import SimpleChat
from assistant.client.slash import Command
from assistant.core.events import ReplyEnded, RunCompleted, RunFailed
from assistant.core.messages import Message
from assistant.core.ports import Start
from tests.client.scenes import RISKY, broken
from tests.fakes.runs import PlayedRun, ScriptedRuns


class Typed(io.StringIO):
    """Lines that a person, or a pipe, gives."""


def says(text):
    return [ReplyEnded(Message("assistant", text)), RunCompleted(text, {})]


class Piped:
    """A chat whose input is a pipe."""

    def __init__(self, typed, *scripts, place=None, runs=None):
        self.runs = runs or ScriptedRuns(*scripts)
        self.place = place or Place()
        self.answers, self.notes = io.StringIO(), io.StringIO()
        commands = {
            "skills": Command("skills", "what it has learned", lambda argument: "one skill"),
            "broken": Command("broken", "fails", broken),
        }
        means = Means(self.runs, self.place, commands, lambda: ["run-tests"])
        screen = PlainScreen(self.answers, self.notes, streaming=False)
        self.code = SimpleChat(means, screen, Typed(typed), self.notes).run()


def test_each_line_of_a_pipe_is_a_turn_of_one_session():
    chat = Piped("one\n\ntwo", says("First."), says("Second."))
    assert chat.answers.getvalue() == "First.\nSecond.\n"
    assert chat.runs.wishes == [Start("one"), Start("two", session_id="session_1")]
    assert chat.code == 0


def test_commands_work_and_their_words_stay_out_of_the_answers():
    chat = Piped("/skills\n/help\n/steer x\n/nope\n/new\n")
    assert chat.answers.getvalue() == ""
    for words in ("one skill", "/skills", "needs a turn that runs", "there is no /nope", "a new conversation"):
        assert words in chat.notes.getvalue()


def test_nothing_is_read_after_quit():
    assert Piped("/quit\none\n").runs.wishes == []


def test_a_skill_is_loaded_first():
    assert Piped("/run-tests now\n", says("ok")).runs.wishes[0].input.endswith("skill_view, then follow it.\n\nnow")


def test_nothing_risky_runs_from_a_pipe():
    assert Piped("one\n", [RISKY, *says("no then")]).runs.decisions[0][1] == "deny"


def test_a_fault_ends_a_pipe_with_its_code():
    chat = Piped("/broken x\none\n")
    assert (chat.code, chat.runs.wishes) == (4, [])
    assert "✗ no skill is called 'x'" in chat.notes.getvalue()


def test_a_running_turn_is_attached_to_first():
    runs = ScriptedRuns()
    runs.play(PlayedRun("run_9", "session_9", says("From elsewhere.")))
    assert Piped("", runs=runs, place=Place("session_9", run_id="run_9")).answers.getvalue() == "From elsewhere.\n"


@pytest.mark.parametrize("typed", ["one\ntwo\n"])
def test_a_failed_turn_is_said_and_the_next_line_still_counts(typed):
    chat = Piped(typed, [RunFailed("try later")], says("ok"))
    assert "✗ try later" in chat.notes.getvalue()
    assert chat.answers.getvalue() == "ok\n"
