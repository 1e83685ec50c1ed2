"""Slash commands: what is typed after a `/`, and the table that `/help` shows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Command:
    """A word of the chat: what it does, and the Markdown it answers with.  `run` may raise AssistantError."""

    name: str
    help: str
    run: Callable[[str], str]


OWN: Mapping[str, str] = {
    "help": "this list",
    "new": "begin a new conversation",
    "steer": "words into the running turn (typing while it works does the same)",
    "queue": "words for the turn after this one",
    "stop": "end the running turn; what was said is kept",
    "approve": "say yes to what waits: once, session or always",
    "deny": "say no to what waits, with a reason if you like",
    "quit": "leave (also Ctrl-D, or Ctrl-C twice)",
}
"""What the chat does itself."""
KEYS = (
    ("Enter", "send; while a turn runs: steer it"),
    ("Alt-Enter, Ctrl-J, \\ Enter", "a new line"),
    ("Ctrl-C", "stop the turn; twice: leave"),
    ("Up, Down", "earlier messages"),
    ("Tab", "complete a command or a skill"),
)


def parse(text: str) -> tuple[str, str] | None:
    """Name and argument of a slash command; None for a message, which may begin with a path."""
    if not text.startswith("/"):
        return None
    name, *rest = text[1:].split(None, 1)
    return None if "/" in name or not name else (name, rest[0].strip() if rest else "")


def names_help(commands: Mapping[str, Command]) -> dict[str, str]:
    """Every command with its help; the caller's words win where both know a name."""
    return dict(OWN) | {name: command.help for name, command in commands.items()}


def help_text(commands: Mapping[str, Command]) -> str:
    """What `/help` shows."""
    known = names_help(commands) | {"<skill>": "your words, after loading that skill"}
    widest = max(len(name) for name in known) + 1
    table = "\n".join(f"{'/' + name:<{widest}}  {known[name]}" for name in known)
    keys = "\n".join(f"{key:<28}{what}" for key, what in KEYS)
    return f"```\n{table}\n\n{keys}\n```"


def unknown(name: str, known: Iterable[str]) -> str:
    """What to say about a command that does not exist."""
    near = get_close_matches(name, list(known), 1)
    return f"there is no /{name}" + (f"; did you mean /{near[0]}?" if near else "; /help lists what there is")


def with_skill(name: str, text: str) -> str:
    """The message that makes the model load a skill first."""
    return f"First load the skill `{name}` with skill_view, then follow it.\n\n{text}".rstrip()
