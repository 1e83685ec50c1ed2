"""A run as a page that grows: lines that are finished, said once, and a small living end below them.

Feed it events; print what `take` gives and draw what `live` gives under it.  It touches no terminal itself.
"""

from collections.abc import Callable, Mapping
from typing import Any

from assistant.client.asking import question_lines, request_words
from assistant.client.blocks import Draft, recent
from assistant.client.notes import Note, note_of, plan_note, tool_note
from assistant.client.paint import Paint, bare_cells
from assistant.client.text import clean, duration, one_line
from assistant.core.events import (
    LAST,
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
    ReasoningArrived,
    ReplyEnded,
    ReplyRestarted,
    RunStarted,
    Steered,
    TextArrived,
    TodoChanged,
    ToolEnded,
    ToolOutput,
    ToolStarted,
)

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 10
BOXES = {"completed": ("✓", "quiet"), "in_progress": ("▸", "accent"), "cancelled": ("–", "quiet")}
LONGEST_PLAN = 7
WAITING = "waiting for you"
STOPS = "Ctrl-C stops"
DOING: Mapping[type[Any], str] = {
    TextArrived: "writing",
    ReasoningArrived: "thinking",
    ReplyRestarted: "thinking",
    QuestionAnswered: "thinking",
    ToolStarted: "working",
    ApprovalResolved: "working",
    ApprovalRequested: WAITING,
    QuestionAsked: WAITING,
}
"""What the spinner says after an event."""


class Running:
    """A tool at work."""

    def __init__(self, asked: str, since: float) -> None:
        self.asked = asked
        self.since = since
        self.said = ""


class Page:
    """What one run, or a whole chat, shows."""

    def __init__(self, paint: Paint, now: Callable[[], float], *, lead: str = "assistant ", tools: bool = True) -> None:
        self.paint = paint
        self.hint = STOPS
        """Quiet words after the spinner: what the person may do now."""
        self._now = now
        self._lead = lead
        self._tools = tools
        self._group = ""
        self._plan: tuple[Mapping[str, str], ...] = ()
        self._begin(None)

    def _begin(self, since: float | None) -> None:
        self._since = since
        self._draft = Draft()
        self._told = False
        self._running: dict[str, Running] = {}
        self._doing = "thinking"

    def begin(self) -> None:
        """A run was asked for: the clock of its spinner starts."""
        self._begin(self._now())

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return self._since is not None

    def take(self, event: Event) -> list[str]:
        """Learn of one event; the lines that are finished with it."""
        last = isinstance(event, LAST)
        self._doing = DOING.get(type(event), self._doing)
        left = [*self._flush(), *self._last_plan()] if last else []
        teach = _TEACHERS.get(type(event))
        lines = [*left, *(teach(self, event) if teach else self._note(event))]
        if last:
            self.end()
        return lines

    def say(self, lines: list[str], group: str = "note") -> list[str]:
        """Lines of our own among those of the run, set apart from other kinds."""
        apart = [""] if self._group and (group != self._group or group in ("text", "said")) else []
        self._group = group if lines else self._group
        return apart + lines if lines else []

    def note(self, note: Note) -> list[str]:
        """One quiet line."""
        mark = {"yours": "accent", "plain": "quiet"}.get(note.tone, note.tone)
        words = {"quiet": "quiet", "bad": "", "yours": "strong"}.get(note.tone, "")
        more = f"  {note.more}" if note.more else ""
        return [self.paint.line((note.mark + " ", mark), (note.words, words), (more, "quiet"))]

    def said(self, text: str) -> list[str]:
        """Words of the person, whole."""
        first, *more = self.paint.wrapped(text, indent="  ")
        return self.say([self.paint.style("❯", "accent") + first[1:], *more], "said")

    def end(self) -> None:
        """Nothing moves any more."""
        self._begin(None)

    def gap(self) -> list[str]:
        """The empty line between what was said and what will be."""
        return [""] if self._group else []

    def rows(self, lines: list[str], columns: int) -> int:
        """How many rows the lines take in a window of that width."""
        return sum(max(1, -(-bare_cells(line) // max(1, columns))) for line in lines)

    def live(self, rows: int) -> list[str]:
        """The end that still moves, in at most `rows` lines."""
        if self._since is None:
            return []
        foot = [*self._running_lines(), *self._apart(self._plan_lines()), *self._apart(self._spinner())]
        room = rows - len(foot) - 1
        body = self._draft_lines(room) if room > 0 else []
        lines = [*body, *foot]
        joined = self._running and self._group == "tool" and not body
        lines = lines[1:] if lines[:1] == [""] else lines
        return ([] if joined or not lines or not self._group else [""]) + lines[-max(1, rows - 1) :]

    @staticmethod
    def _apart(lines: list[str]) -> list[str]:
        return ["", *lines] if lines else []

    def _draft_lines(self, room: int) -> list[str]:
        rest = self._draft.rest
        return self.paint.markdown(recent(rest, room))[-room:] if rest.strip() else []

    def _running_lines(self) -> list[str]:
        lines = []
        for running in self._running.values():
            seconds = duration(self._now() - running.since)
            lines.append(
                self.paint.line((self._frame() + " ", "accent"), (running.asked, ""), (f"  {seconds}", "quiet"))
            )
            if running.said:
                lines.append(self.paint.line(("  " + running.said, "quiet")))
        return lines

    def _spinner(self) -> list[str]:
        if self._doing == WAITING:
            return []
        seconds = duration(float(int(self._now() - (self._since or 0.0)))).replace(".0 s", " s")
        hint = f" · {self.hint}" if self.hint else ""
        frame = " " if self._running else self._frame()
        return [self.paint.line((frame + " ", "accent"), (f"{self._doing} {seconds}{hint}", "quiet"))]

    def _frame(self) -> str:
        return FRAMES[int(self._now() * FRAMES_A_SECOND) % len(FRAMES)]

    def _plan_lines(self) -> list[str]:
        items = [(one_line(i.get("content", "")), *BOXES.get(i.get("status", ""), ("○", ""))) for i in self._plan]
        current = next((n for n, item in enumerate(items) if item[1] in "▸○"), 0)
        first = max(0, min(current - 1, len(items) - LONGEST_PLAN))
        shown = items[first : first + LONGEST_PLAN]
        lines = [self.paint.line((f"{mark} ", style), (words, style)) for words, mark, style in shown]
        more = len(items) - len(shown)
        return lines + ([self.paint.line((f"  and {more} more", "quiet"))] if more else [])

    def _last_plan(self) -> list[str]:
        plan, lines, self._plan = self._plan, self._plan_lines(), ()
        if all(item.get("status") in ("completed", "cancelled") for item in plan):
            lines = self.note(plan_note(plan)) if plan else []
        return self.say(lines, "plan")

    def _flush(self) -> list[str]:
        return [line for block in self._draft.end() for line in self.say(self.paint.markdown(block), "text")]

    def _note(self, event: Event, group: str = "note") -> list[str]:
        note = note_of(event, self._lead)
        return self.say(self.note(note), group) if note else []

    def _started(self, event: RunStarted) -> list[str]:
        if self._since is None:
            self.begin()
        return []

    def _text(self, event: TextArrived) -> list[str]:
        self._told = True
        return [line for block in self._draft.add(event.text) for line in self.say(self.paint.markdown(block), "text")]

    def _reply(self, event: ReplyEnded) -> list[str]:
        lines = [] if self._told or not event.message.text else self._text(TextArrived(event.message.text))
        self._told = False
        self._doing = "working" if event.message.calls else "thinking"
        return lines + self._flush()

    def _restarted(self, event: ReplyRestarted) -> list[str]:
        self._draft.drop()
        self._told = False
        return self._note(event)

    def _tool_started(self, event: ToolStarted) -> list[str]:
        preview = one_line(event.preview)
        asked = preview if preview.startswith(event.tool) else f"{one_line(event.tool)} {preview}".strip()
        self._running[event.call_id] = Running(asked, self._now())
        return []

    def _tool_output(self, event: ToolOutput) -> list[str]:
        running = self._running.get(event.call_id)
        lines = [line for line in clean(event.text).split("\n") if line.strip()]
        if running and lines:
            running.said = one_line(lines[-1])
        return []

    def _tool_ended(self, event: ToolEnded) -> list[str]:
        running = self._running.pop(event.message.answers, None)
        if not self._running:
            self._doing = "thinking"
        tool = one_line(event.message.name)
        asked = running.asked.removeprefix(tool).strip() if running else ""
        if not self._tools and not event.message.failed:
            return []
        return self.say(self.note(tool_note(event, asked)), "tool")

    def _todo(self, event: TodoChanged) -> list[str]:
        self._plan = event.todos
        return []

    def _approval(self, event: ApprovalRequested) -> list[str]:
        head, command, why = request_words(event)
        exactly = self.paint.wrapped(command, indent="    ")
        return self.say([self.paint.style(head, "strong"), "", *exactly, "", *self.paint.wrapped(why)], "asked")

    def _question(self, event: QuestionAsked) -> list[str]:
        return self.say([piece for line in question_lines(event) for piece in self.paint.wrapped(line)], "asked")


_TEACHERS: Mapping[type[Any], Callable[[Page, Any], list[str]]] = {
    RunStarted: Page._started,
    TextArrived: Page._text,
    ReplyEnded: Page._reply,
    ReplyRestarted: Page._restarted,
    ToolStarted: Page._tool_started,
    ToolOutput: Page._tool_output,
    ToolEnded: Page._tool_ended,
    TodoChanged: Page._todo,
    ApprovalRequested: Page._approval,
    ApprovalResolved: lambda page, event: page._note(event, "tool"),
    QuestionAsked: Page._question,
    QuestionAnswered: lambda page, event: page.said(event.answer),
    Steered: lambda page, event: page.said(event.text),
}
