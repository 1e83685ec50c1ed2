import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from assistant.client.page import Page
from assistant.client.paint import Paint
from assistant.core.events import (
    ReplyEnded,
    ReplyRestarted,
    RunCancelled,
    RunCompleted,
    RunFailed,
    TextArrived,
    TodoChanged,
    ToolEnded,
    ToolOutput,
    ToolStarted,
)
from assistant.core.messages import Message
from tests.client.scenes import RISKY, Watch, page

STYLING = re.compile(r"\x1b\[[0-9;]*m")
DONE = RunCompleted("", {})


def ended(call_id, text="ok", failed=False, preview="ok", seconds=1.0):
    return ToolEnded(Message("tool", text, answers=call_id, name="terminal", failed=failed), seconds, preview)


def told(shown, *events):
    return [line for event in events for line in shown.take(event)]


def test_finished_blocks_are_printed_once_and_only_the_last_one_moves():
    shown = page()
    shown.begin()
    assert told(shown, TextArrived("# One\n\ntw")) == ["One"]
    assert shown.live(20) == ["", "tw", "", "⠋ writing 0 s · Ctrl-C stops"]
    assert told(shown, TextArrived("o"), ReplyEnded(Message("assistant", "# One\n\ntwo")), DONE) == ["", "two"]
    assert shown.live(20) == []


def test_a_reply_whose_deltas_never_came_is_shown_whole():
    shown = page()
    assert told(shown, ReplyEnded(Message("assistant", "a\n\nb"))) == ["a", "", "b"]


def test_text_before_a_restart_is_dropped():
    shown = page()
    shown.begin()
    lines = told(shown, TextArrived("Hal"), ReplyRestarted("connection lost"), TextArrived("Whole"), DONE)
    assert lines == ["↻ asked again: connection lost", "", "Whole"]


def test_a_tool_is_one_line_and_a_failed_one_says_why():
    shown = page()
    shown.begin()
    told(shown, ToolStarted("a", "terminal", "{}", "terminal ls"), ToolStarted("b", "terminal", "{}", "false"))
    lines = told(shown, ended("b", "exit code 1\nmore", True, "", 0.1), ended("a", preview="3 lines", seconds=75))
    assert lines == ["✗ terminal false  exit code 1 · 0.1 s", "✓ terminal ls  3 lines · 1 min 15 s"]


def test_a_running_tool_shows_its_last_words():
    shown = page()
    shown.begin()
    told(shown, ToolStarted("a", "terminal", "{}", "make"), ToolOutput("a", "one\n\x1b[31mtwo\x1b[0m\n\n"))
    shown._now.time = 3
    assert shown.live(20) == ["⠋ terminal make  3.0 s", "  two", "", "  working 3 s · Ctrl-C stops"]


def test_tool_lines_can_be_switched_off_but_failures_stay():
    shown = page(tools=False)
    assert told(shown, ended("a")) == []
    assert told(shown, ended("b", "broken", True)) == ["✗ terminal  ok · 1.0 s"]


def test_the_plan_lives_below_and_is_left_behind_once():
    shown = page()
    shown.begin()
    todos = [{"content": "보기", "status": "completed"}, {"content": "쓰기", "status": "in_progress"}]
    told(shown, TodoChanged(tuple(todos)))
    assert shown.live(20)[:2] == ["✓ 보기", "▸ 쓰기"]
    assert told(shown, RunCancelled())[:2] == ["✓ 보기", "▸ 쓰기"]
    assert told(shown, DONE) == []


def test_a_plan_that_is_done_is_one_line():
    shown = page()
    assert told(shown, TodoChanged(({"content": "a", "status": "completed"},)), DONE) == ["· plan 1/1"]


def test_a_long_plan_shows_the_part_that_is_being_done():
    shown = page()
    shown.begin()
    todos = tuple({"content": f"step {n}", "status": "completed" if n < 9 else "pending"} for n in range(20))
    told(shown, TodoChanged(todos))
    assert shown.live(20)[:2] == ["✓ step 8", "○ step 9"]
    assert "  and 13 more" in shown.live(20)


def test_a_request_shows_the_exact_command_with_nothing_hidden():
    shown = page()
    hidden = type(RISKY)("a", "c", "terminal", '{"command": "ls \\u202e; rm x\\u001b[2K"}', "why", ("once", "deny"))
    lines = told(shown, hidden)
    assert lines == ["terminal wants to run", "", "    ls \\u202e; rm x\\x1b[2K", "", "Asked because: why"]


def test_a_failure_says_why_and_what_to_do():
    assert told(page(), RunFailed("no model is set; run `assistant setup`")) == [
        "✗ no model is set; run `assistant setup`"
    ]


@given(st.integers(8, 60), st.integers(3, 12), st.text(st.sampled_from("가👍ab \n|-#`"), max_size=300))
def test_what_moves_never_leaves_the_window(width, rows, text):
    shown = Page(Paint(lambda: width), Watch())
    shown.begin()
    told(shown, TextArrived(text), ToolStarted("a", "terminal", "{}", "긴 명령 " * 20), ToolOutput("a", text))
    lines = shown.live(rows)
    assert len(lines) <= rows
    assert all(cell_len(STYLING.sub("", line)) <= width for line in lines)
