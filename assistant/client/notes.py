"""Events that deserve one quiet line: what happened, and the command that shows more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assistant.client.input import Lost
from assistant.client.text import duration, one_line
from assistant.core.events import (
    LAST,
    ApprovalResolved,
    Compacted,
    Event,
    LearningStaged,
    MemoryChanged,
    QuestionAnswered,
    ReplyRestarted,
    RunCancelled,
    RunFailed,
    RunResumed,
    SkillChanged,
    Steered,
    ToolEnded,
)
from assistant.core.ports import Told

Tone = Literal["plain", "quiet", "good", "bad", "yours"]


@dataclass(frozen=True, slots=True)
class Note:
    """One line: a mark that carries the tone, words, and quiet words after them."""

    tone: Tone
    mark: str
    words: str
    more: str = ""

    def as_text(self) -> str:
        """The note without colours."""
        return " ".join(part for part in (self.mark, self.words, self.more and f"· {self.more}") if part)


MARKS: Mapping[Tone, str] = {"plain": "·", "quiet": "·", "good": "✓", "bad": "✗", "yours": "❯"}
ALLOWED = {
    "once": "allowed once",
    "session": "allowed in this session",
    "always": "allowed always",
    "deny": "denied",
}

WHO = {"timeout": "nobody answered in time", "you": "", "person": "", "": ""}


def tool_note(event: ToolEnded, asked: str) -> Note:
    """One line a tool: what it did, how long it took, whether it worked."""
    name, result = one_line(event.message.name), one_line(event.preview)
    if event.message.failed and result in ("", asked):
        result = one_line(event.message.text.lstrip().partition("\n")[0])
    outcome = result.removeprefix(f"{name}: ") if result != asked else ""
    tone: Tone = "bad" if event.message.failed else "good"
    return Note(
        tone, MARKS[tone], f"{name} {asked}".rstrip(), " · ".join(filter(None, (outcome, duration(event.seconds))))
    )


def plan_note(todos: tuple[Mapping[str, str], ...]) -> Note:
    """The plan in one line: how far it is, and what is being done."""
    done = sum(item.get("status") in ("completed", "cancelled") for item in todos)
    current = next((one_line(item.get("content", "")) for item in todos if item.get("status") == "in_progress"), "")
    return Note("quiet", MARKS["quiet"], f"plan {done}/{len(todos)}", current)


def note_of(event: Event, lead: str = "assistant ") -> Note | None:
    """The event's line, if it has one; `lead` is how a command begins here (`/` in the chat)."""
    write = _WRITERS.get(type(event))
    return write(event, lead) if write else None


def _approval(event: ApprovalResolved, lead: str) -> Note:
    tone: Tone = "bad" if event.decision == "deny" else "good"
    by = WHO.get(event.by, f"by {one_line(event.by)}")
    return Note(tone, MARKS[tone], ALLOWED.get(event.decision, event.decision), one_line(event.feedback) or by)


def _skill(event: SkillChanged, lead: str) -> Note:
    name = one_line(event.name)
    more = f"{lead}skills restore {name}" if event.action == "archive" else f"{lead}skills diff {name}"
    return Note("quiet", "✎", f"skill {name}: {one_line(event.action)}", more)


def _memory(event: MemoryChanged, lead: str) -> Note:
    return Note("quiet", "✎", f"memory {one_line(event.name)}: {one_line(event.action)}", f"{lead}memory log")


def _staged(event: LearningStaged, lead: str) -> Note:
    words = f"{one_line(event.name)}: {one_line(event.action)} waits for you"
    return Note("quiet", "◇", words, f"{lead}inbox show {one_line(event.id)}")


def _compacted(event: Compacted, lead: str) -> Note:
    return Note("quiet", MARKS["quiet"], f"earlier messages summarised: {event.before:,} → {event.after:,} tokens")


_WRITERS: Mapping[type[Any], Callable[[Any, str], Note]] = {
    ApprovalResolved: _approval,
    SkillChanged: _skill,
    MemoryChanged: _memory,
    LearningStaged: _staged,
    Compacted: _compacted,
    QuestionAnswered: lambda event, lead: Note("yours", MARKS["yours"], one_line(event.answer)),
    Steered: lambda event, lead: Note("yours", MARKS["yours"], one_line(event.text)),
    ReplyRestarted: lambda event, lead: Note("quiet", "↻", f"asked again: {one_line(event.reason)}"),
    RunResumed: lambda event, lead: Note("quiet", "↻", f"taken up again after an interruption ({event.attempt})"),
    RunFailed: lambda event, lead: Note("bad", MARKS["bad"], one_line(event.error)),
    RunCancelled: lambda event, lead: Note("quiet", MARKS["quiet"], "stopped; what was said is kept"),
}


class Learned:
    """Listens to a review and says in one line what it saved or left to the person; nothing when it did neither."""

    def __init__(self, tell: Callable[[Note], None]) -> None:
        self._tell = tell
        self._saved: list[str] = []
        self._staged: list[str] = []

    def hear(self, arrival: Told | Lost) -> None:
        """One event of the review."""
        match arrival:
            case Told(event=SkillChanged(name)) | Told(event=MemoryChanged(name)):
                self._saved.append(one_line(name))
            case Told(event=LearningStaged(_, name)):
                self._staged.append(one_line(name))
            case Told(event=event) if isinstance(event, LAST):
                self._say()
            case _:
                pass

    def _say(self) -> None:
        saved = "saved " + _listed(self._saved) if self._saved else ""
        staged = _listed(self._staged) + " waits for you" if self._staged else ""
        if saved or staged:
            more = "/inbox" if staged else "/reviews shows it, /undo takes it back"
            self._tell(Note("quiet", "✎", "review: " + "; ".join(part for part in (saved, staged) if part), more))


def _listed(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))
