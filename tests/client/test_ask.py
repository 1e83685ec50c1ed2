import io
import os
import signal

import pytest

from assistant.client.ask import Absent, AtTerminal, Verdict, ask_once
from assistant.client.render import PlainScreen
from assistant.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    QuestionAsked,
    ReplyEnded,
    ReplyRestarted,
    ReviewQueued,
    RunCompleted,
    RunFailed,
    RunStarted,
    TextArrived,
    TodoChanged,
    ToolEnded,
    ToolStarted,
)
from assistant.core.messages import Call, Message
from assistant.core.ports import Start
from tests.fakes.runs import ScriptedRuns, Until, UntilStopped
from tests.fakes.waiting import until

CALL = Call("call_1", "terminal", '{"command": "ls"}')
RISKY = ApprovalRequested("app_1", "call_1", "terminal", '{"command": "rm x"}', "it deletes", ("once", "deny"))
NOBODY = Absent()
USAGE = {"input_tokens": 10, "output_tokens": 2, "cached_tokens": 4}
WITH_A_TOOL = [
    RunStarted("turn", "m"),
    TextArrived("Let me look."),
    ReplyEnded(Message("assistant", "Let me look.", (CALL,))),
    ToolStarted("call_1", "terminal", CALL.arguments, "ls"),
    ToolEnded(Message("tool", "a.txt", answers="call_1", name="terminal"), 0.24, "1 line"),
    TextArrived("One "),
    TextArrived("file."),
    ReplyEnded(Message("assistant", "One file.")),
    ReviewQueued("run_9", "skills"),
    RunCompleted("One file.", USAGE),
]


class Asked:
    """One `ask`, with what was written."""

    def __init__(self, *script, streaming=False, person=NOBODY):
        self.runs = ScriptedRuns(script)
        self.answers, self.notes = io.StringIO(), io.StringIO()
        screen = PlainScreen(self.answers, self.notes, streaming=streaming)
        self.outcome = ask_once(self.runs, Start("hi"), screen, person)


def test_a_pipe_gets_the_answer_alone_and_everything_else_goes_to_the_notes():
    asked = Asked(*WITH_A_TOOL)
    assert asked.answers.getvalue() == "One file.\n"
    assert asked.notes.getvalue() == "Let me look.\n✓ terminal ls · 1 line · 0.2 s\n"


def test_a_person_at_a_simple_terminal_sees_the_text_while_it_comes():
    asked = Asked(*WITH_A_TOOL, streaming=True)
    assert asked.answers.getvalue() == "Let me look.\nOne file.\n"


def test_the_outcome_is_the_object_of_the_contract():
    assert Asked(*WITH_A_TOOL).outcome.as_json() == {
        "session_id": "session_1",
        "run_id": "run_1",
        "status": "completed",
        "answer": "One file.",
        "usage": USAGE,
        "steps": 2,
        "tools": [{"name": "terminal", "ok": True}],
        "review": {"run_id": "run_9", "kind": "skills", "outcome": "waiting"},
    }


@pytest.mark.parametrize(("code", "exit_code"), [("person_must_act", 2), ("try_later", 1), ("fault", 1), ("", 1)])
def test_a_failed_run_says_why_and_ends_with_its_code(code, exit_code):
    asked = Asked(RunFailed("no model is set; run `assistant setup`", code))
    assert asked.notes.getvalue() == "✗ no model is set; run `assistant setup`\n"
    assert (asked.outcome.status, asked.outcome.exit_code) == ("failed", exit_code)
    assert asked.outcome.as_json()["error"].startswith("no model is set")


def test_nobody_there_means_no():
    asked = Asked(RISKY, RunCompleted("ok", USAGE))
    assert asked.runs.decisions == [("app_1", "deny", "nobody is there to allow it")]
    assert "rm x" in asked.notes.getvalue()


def test_a_yes_given_beforehand_counts_for_each_request():
    asked = Asked(RISKY, RunCompleted("ok", USAGE), person=Absent(Verdict("once")))
    assert asked.runs.decisions == [("app_1", "once", "")]


def test_a_question_to_nobody_is_answered_at_once_so_that_the_run_goes_on():
    asked = Asked(QuestionAsked("q_1", "Which one?", ("a", "b")), RunCompleted("ok", USAGE))
    assert asked.runs.answers[0][1].startswith("Nobody is here")


def test_an_answer_given_elsewhere_first_is_no_fault():
    runs = ScriptedRuns([RISKY, RunCompleted("ok", USAGE)])
    elsewhere = ApprovalResolved("app_1", "call_1", "once", "you")

    class TooSlow(Absent):
        def decide(self, request, settled):
            runs.settle("run_1", "app_1", elsewhere)
            return Verdict("deny")

    notes = io.StringIO()
    outcome = ask_once(runs, Start("hi"), PlainScreen(io.StringIO(), notes, streaming=False), TooSlow())
    assert outcome.status == "completed"
    assert "app_1 was answered already" in notes.getvalue()


def test_a_person_who_is_still_asked_is_let_go_when_somebody_else_decided():
    runs = ScriptedRuns([RISKY, RunCompleted("ok", USAGE)])

    class Slow(Absent):
        def decide(self, request, settled):
            assert not settled()
            runs.settle("run_1", "app_1", ApprovalResolved("app_1", "call_1", "once", "you"))
            until(settled)

    assert (
        ask_once(runs, Start("hi"), PlainScreen(io.StringIO(), io.StringIO(), streaming=False), Slow()).answer == "ok"
    )
    assert runs.decisions == []


def test_the_text_before_a_restart_does_not_count():
    asked = Asked(
        TextArrived("Hal"),
        ReplyRestarted("the connection broke"),
        TextArrived("Whole."),
        ReplyEnded(Message("assistant", "Whole.")),
        RunCompleted("Whole.", USAGE),
        streaming=True,
    )
    assert asked.answers.getvalue() == "Hal\nWhole.\n"
    assert asked.notes.getvalue() == "↻ asked again: the connection broke\n"


def test_the_plan_is_one_line_each_time_it_changes():
    todos = ({"content": "look", "status": "completed"}, {"content": "write", "status": "in_progress"})
    assert "· plan 1/2 · write\n" in Asked(TodoChanged(todos), RunCompleted("", {})).notes.getvalue()


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)
    return True


def test_ctrl_c_once_stops_the_run_and_keeps_what_was_said():
    asked = Asked(ReplyEnded(Message("assistant", "Half.")), Until(press_ctrl_c), UntilStopped())
    assert asked.runs.stops == ["run_1"]
    assert (asked.outcome.status, asked.outcome.exit_code, asked.outcome.answer) == ("cancelled", 130, "Half.")


def test_ctrl_c_twice_leaves_a_run_that_does_not_stop():
    runs = ScriptedRuns([Until(press_ctrl_c), UntilStopped()])
    pressed = []
    runs.stop = lambda run_id: pressed.append(run_id) or press_ctrl_c()
    outcome = ask_once(runs, Start("hi"), PlainScreen(io.StringIO(), io.StringIO(), streaming=False), Absent())
    assert (pressed, outcome.exit_code) == (["run_1"], 130)
    runs.runs["run_1"].stopped = True


class Keyboard:
    """Lines that were typed into a pipe that stays open."""

    def __init__(self, *lines):
        reading, self.writing = os.pipe()
        self.typed = os.fdopen(reading, "r", buffering=1)
        self.type(*lines)

    def type(self, *lines):
        os.write(self.writing, "".join(lines).encode())

    def close(self):
        os.close(self.writing)
        self.typed.close()


@pytest.fixture
def keyboard():
    keyboard = Keyboard()
    yield keyboard
    keyboard.close()


def person_at(keyboard):
    notes = io.StringIO()
    return AtTerminal(PlainScreen(io.StringIO(), notes, streaming=False), keyboard.typed, notes), notes


def test_a_person_is_asked_until_the_answer_is_clear(keyboard):
    person, notes = person_at(keyboard)
    asked = iter(["perhaps\n", "deny 위험해요\n"])
    verdict = person.decide(RISKY, lambda: keyboard.type(next(asked)))
    assert verdict == Verdict("deny", "위험해요")
    assert "please answer once or deny" in notes.getvalue()


def test_a_person_is_let_go_when_it_is_settled_elsewhere(keyboard):
    person, _ = person_at(keyboard)
    looks = iter([False, False, True])
    assert person.decide(RISKY, lambda: next(looks)) is None


def test_a_question_takes_the_number_of_a_choice(keyboard):
    person, _ = person_at(keyboard)
    keyboard.type("2\n")
    assert person.answer(QuestionAsked("q", "Which?", ("a", "나")), lambda: False) == "나"


def test_the_end_of_input_is_nobody(tmp_path):
    (tmp_path / "empty").touch()
    with (tmp_path / "empty").open() as typed:
        screen = PlainScreen(io.StringIO(), io.StringIO(), streaming=False)
        person = AtTerminal(screen, typed, io.StringIO())
        assert person.decide(RISKY, lambda: False).decision == "deny"
        assert person.answer(QuestionAsked("q", "Which?"), lambda: False).startswith("Nobody is here")
