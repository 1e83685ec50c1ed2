import os

from assistant.client.page import Page
from assistant.client.paint import Paint
from assistant.client.render import TerminalScreen
from assistant.core.events import ReplyEnded, RunCompleted, TextArrived, ToolStarted
from assistant.core.messages import Message
from tests.client.scenes import Watch
from tests.fakes.glass import Glass

DONE = RunCompleted("", {})


class Seen:
    """A terminal screen on a glass of its own."""

    def __init__(self, columns=40, rows=12):
        self.glass = Glass(columns, rows)
        self.watch = Watch()
        page = Page(Paint(lambda: self.glass.columns, colour=False), self.watch)
        self.screen = TerminalScreen(self.glass, page, lambda: os.terminal_size((self.glass.columns, rows)), self.watch)

    def tell(self, *events):
        for event in events:
            self.watch.time += 1
            self.screen.show(event)


def test_the_living_end_is_drawn_over_itself_and_gone_at_the_end():
    seen = Seen()
    seen.tell(TextArrived("# One\n\nhalf a sen"))
    assert seen.glass.lines() == ["One", "", "half a sen", "", "⠋ writing 1 s · Ctrl-C stops"]
    seen.tell(TextArrived("tence 가나다"), ReplyEnded(Message("assistant", "…")), DONE)
    assert seen.glass.lines() == ["One", "", "half a sentence 가나다"]
    assert seen.glass.cursor_shown


def test_deltas_that_come_fast_are_drawn_together():
    seen = Seen()
    seen.tell(TextArrived("a"))
    before = len(seen.glass.written)
    for _ in range(50):
        seen.screen.show(TextArrived("b"))
    assert len(seen.glass.written) == before
    seen.screen.tick()
    assert seen.glass.lines()[0] == "a" + "b" * 39


def test_each_picture_is_one_write():
    seen = Seen()
    seen.tell(TextArrived("a\n\nb"), ToolStarted("c", "terminal", "{}", "ls"))
    assert all(piece.count("\x1b[J") == 1 for piece in seen.glass.written)


def test_words_of_our_own_go_above_what_moves():
    seen = Seen()
    seen.tell(ToolStarted("c", "terminal", "{}", "ls"))
    seen.screen.say("a note")
    seen.screen.tick()
    assert seen.glass.lines()[:3] == ["a note", "", "⠋ terminal ls  0.0 s"]
