"""Where a run is shown: plain lines for pipes and simple terminals, living Markdown for real ones."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

from assistant.client.asking import question_lines, request_words
from assistant.client.notes import note_of, plan_note, tool_note
from assistant.client.text import clean, one_line
from assistant.core.events import (
    LAST,
    ApprovalRequested,
    Event,
    QuestionAsked,
    ReplyEnded,
    ReplyRestarted,
    TextArrived,
    TodoChanged,
    ToolEnded,
    ToolStarted,
)

if TYPE_CHECKING:
    from assistant.client.page import Page

REDRAW_SECONDS = 0.06


class Screen(Protocol):
    """Shows a run to whoever looks."""

    def show(self, event: Event) -> None:
        """Show one event."""
        ...

    def tick(self) -> None:
        """A moment passed: what moves may move."""
        ...

    def say(self, text: str) -> None:
        """Show words of our own, never mixed into the answer."""
        ...

    def rest(self) -> None:
        """Take away what moves: somebody else writes next, or nobody does."""
        ...


class PlainScreen:
    """Plain lines: the answer to one stream, everything else to the other."""

    def __init__(self, answers: TextIO, notes: TextIO, *, streaming: bool, tools: bool = True) -> None:
        self._answers = answers
        self._notes = notes
        self._streaming = streaming
        self._tools = tools
        self._open = False
        self._told = False
        self._asked: dict[str, str] = {}

    def show(self, event: Event) -> None:
        """Deltas only where a person watches; else a reply counts once it is known to be the answer."""
        match event:
            case TextArrived(text):
                self._delta(text)
            case ReplyEnded():
                self._reply(event)
            case ToolStarted(call_id, tool, _, preview):
                self._asked[call_id] = one_line(preview).removeprefix(tool).strip()
            case ToolEnded(message):
                asked = self._asked.pop(message.answers, "")
                if self._tools or message.failed:
                    self.say(tool_note(event, asked).as_text())
            case TodoChanged(todos):
                self.say(plan_note(todos).as_text())
            case ApprovalRequested():
                self.say("\n".join(request_words(event)))
            case QuestionAsked():
                self.say("\n".join(question_lines(event)))
            case _:
                self._other(event)

    def tick(self) -> None:
        """Nothing moves here."""

    def say(self, text: str) -> None:
        """A line among the notes."""
        self.rest()
        self._notes.write(text + "\n")
        self._notes.flush()

    def rest(self) -> None:
        """End an answer's line that is still open."""
        if self._open:
            self._answer("\n")
            self._open = False

    def _delta(self, text: str) -> None:
        if self._streaming:
            self._told = True
            self._answer(clean(text))

    def _reply(self, event: ReplyEnded) -> None:
        text = clean(event.message.text)
        if self._told:
            self.rest()
        elif event.message.calls and text.strip() and not self._streaming:
            self.say(text)
        elif text.strip():
            self._answer(text)
            self.rest()
        self._told = False

    def _other(self, event: Event) -> None:
        if isinstance(event, ReplyRestarted):
            self._told = False
        note = note_of(event)
        if note:
            self.say(note.as_text())
        if isinstance(event, LAST):
            self.rest()

    def _answer(self, text: str) -> None:
        if text:
            self._open = not text.endswith("\n")
            self._answers.write(text)
            self._answers.flush()


class TerminalScreen:
    """Draws a page at the end of a terminal's scrollback: finished lines once, the living end over itself."""

    def __init__(
        self, out: TextIO, page: "Page", size: Callable[[], os.terminal_size], now: Callable[[], float]
    ) -> None:
        self._out = out
        self._page = page
        self._size = size
        self._now = now
        self._drawn: list[str] = []
        self._when = float("-inf")
        page.begin()

    def show(self, event: Event) -> None:
        """Print what the event finished; the living end follows."""
        lines = self._page.take(event)
        if lines or self._now() - self._when >= REDRAW_SECONDS:
            self._draw(lines, self._page.live(self._size().lines - 2))

    def tick(self) -> None:
        """Move the spinner, and show what arrived since."""
        self._draw([], self._page.live(self._size().lines - 2))

    def say(self, text: str) -> None:
        """A paragraph of our own."""
        self._draw(self._page.say(clean(text).split("\n")), [])

    def rest(self) -> None:
        """Wipe the living end."""
        self._draw([], [])

    def _draw(self, finished: list[str], live: list[str]) -> None:
        if not (finished or live or self._drawn):
            return
        self._when = self._now()
        hide, reveal = ("\x1b[?25l", "") if live else ("", "\x1b[?25h")
        body = "".join(line + "\n" for line in finished) + "\n".join(live)
        self._out.write(hide + self._wipe() + body + reveal)
        self._out.flush()
        self._drawn = live

    def _wipe(self) -> str:
        rows = self._page.rows(self._drawn, self._size().columns)
        return ("\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") if rows else "") + "\x1b[J"
