"""The chat where nothing can move: dumb terminals and pipes.  One line in, one turn out."""

from collections.abc import Callable, Mapping
from typing import TextIO

from assistant.client.ask import Absent, AtTerminal, Person, ask_attached, ask_once
from assistant.client.face import Means
from assistant.client.render import Screen
from assistant.client.slash import OWN, help_text, parse, unknown, with_skill
from assistant.client.text import clean
from assistant.core.ports import Start, Started
from assistant.errors import AssistantError

PROMPT = "> "
LEAVE = ("quit",)


class SimpleChat:
    """A conversation line by line."""

    def __init__(self, means: Means, screen: Screen, typed: TextIO, shown: TextIO) -> None:
        self._means = means
        self._screen = screen
        self._typed = typed
        self._shown = shown
        self._attended = typed.isatty()
        self._person: Person = AtTerminal(screen, typed, shown) if self._attended else Absent()
        self._own: Mapping[str, Callable[[], str]] = {
            "help": lambda: help_text(means.commands).strip("`\n"),
            "new": self._new,
        }

    def run(self) -> int:
        """Chat until nothing more is typed; the exit code."""
        place = self._means.place
        if place.run_id:
            self._follow(place.run_id)
        while (text := self._line()) is not None:
            try:
                if not self._take(text.strip()):
                    return 130
            except AssistantError as fault:
                self._screen.say(f"✗ {fault}")
                if not self._attended:
                    return fault.exit_code
        return 0

    def _line(self) -> str | None:
        if self._attended:
            self._shown.write(PROMPT)
            self._shown.flush()
        try:
            text = self._typed.readline()
        except KeyboardInterrupt:
            text = ""
        command = parse(text.strip())
        return None if not text or (command and command[0] in LEAVE) else text

    def _take(self, text: str) -> bool:
        command = parse(text)
        if not text:
            return True
        if command is None:
            return self._turn(text)
        name, argument = command
        if name in self._own:
            self._screen.say(self._own[name]())
        elif name in self._means.commands:
            self._screen.say(clean(self._means.commands[name].run(argument)))
        elif name in self._means.skill_names():
            return self._turn(with_skill(name, argument))
        elif name in OWN:
            self._screen.say(f"/{name} needs a turn that runs; here nothing is read while one does")
        else:
            self._screen.say(unknown(name, [*OWN, *self._means.commands, *self._means.skill_names()]))
        return True

    def _turn(self, text: str) -> bool:
        place = self._means.place
        wish = Start(text, session_id=place.session_id, model=place.model)
        outcome = ask_once(self._means.runs, wish, self._screen, self._person)
        place.session_id = outcome.session_id
        return not outcome.left

    def _follow(self, run_id: str) -> None:
        started = Started(run_id, self._means.place.session_id)
        ask_attached(self._means.runs, started, self._screen, self._person)
        self._means.place.run_id = ""

    def _new(self) -> str:
        self._means.place.session_id = ""
        return "a new conversation begins with your next message"
