"""Completion of slash commands and skill names, and the small menu under the input."""

from collections.abc import Callable, Iterator, Mapping

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from assistant.client.paint import Paint
from assistant.client.slash import Command, names_help
from assistant.client.text import one_line

MOST_SHOWN = 6


class SlashCompleter(Completer):
    """Completes the word after a `/` that begins the message."""

    def __init__(self, commands: Mapping[str, Command], skill_names: Callable[[], list[str]]) -> None:
        self._commands = commands
        self._skill_names = skill_names

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Commands first, then skills, each by its beginning."""
        typed = document.text_before_cursor
        if not typed.startswith("/") or any(character.isspace() for character in typed):
            return
        known = names_help(self._commands)
        known |= {name: "skill" for name in self._skill_names() if name not in known}
        for name, what in known.items():
            if name.startswith(typed[1:]):
                yield Completion(f"/{name}", -len(typed), display_meta=one_line(what))


def menu_lines(buffer: Buffer, paint: Paint) -> list[str]:
    """The completions as lines, the chosen one strong, around the chosen one when they are many."""
    state = buffer.complete_state
    if state is None or not state.completions:
        return []
    chosen = state.complete_index
    first = max(0, min((chosen or 0) - MOST_SHOWN // 2, len(state.completions) - MOST_SHOWN))
    shown = state.completions[first : first + MOST_SHOWN]
    widest = max(len(completion.text) for completion in shown)
    lines = [
        paint.line(
            (f"  {completion.text:<{widest}}  ", "strong" if number == chosen else ""),
            (completion.display_meta_text, "quiet"),
        )
        for number, completion in enumerate(shown, first)
    ]
    more = len(state.completions) - len(shown)
    return lines + ([paint.line((f"  and {more} more", "quiet"))] if more else [])
