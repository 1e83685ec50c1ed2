"""Where the demo is shown: the chat's own page, with words of ours between the person's and the model's."""

from collections.abc import Callable
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import TextIO

from assistant.client.page import Page
from assistant.client.paint import Paint
from assistant.client.render import Screen, TerminalScreen
from assistant.client.text import clean
from assistant.core.events import Event

COLUMNS = 100
"""Cells of a line where there is no terminal."""


@dataclass(frozen=True, slots=True)
class Theatre:
    """The place that a demo is shown in."""

    out: TextIO
    now: Callable[[], float]
    wait: Callable[[float], object]
    """How a pause is made where somebody watches."""
    colour: bool = False
    alive: bool = False
    """Whether somebody watches, in a terminal that can redraw."""

    program: str = "assistant"
    """How the person calls us."""

    @property
    def pace(self) -> float:
        """Seconds that a piece of the model's text takes."""
        return 0.012 if self.alive else 0.0


class Lines:
    """A run as lines that are finished, for pipes and files."""

    def __init__(self, page: Page, write: Callable[[list[str]], None]) -> None:
        self._page = page
        self._write = write

    def show(self, event: Event) -> None:
        """The lines that the event finished."""
        self._write(self._page.take(event))

    def tick(self) -> None:
        """Nothing moves here."""

    def say(self, text: str) -> None:
        """Words of our own."""
        self._write(self._page.say(text.split("\n")))

    def rest(self) -> None:
        """Nothing moves here."""


class Stage:
    """Shows in order what we tell, what the person says and what a run does."""

    def __init__(self, theatre: Theatre) -> None:
        self._theatre = theatre
        self.program = theatre.program
        columns = (lambda: get_terminal_size().columns) if theatre.alive else (lambda: COLUMNS)
        self._page = Page(Paint(columns, colour=theatre.colour), theatre.now, lead="/")

    def tell(self, markdown: str) -> None:
        """Words of our own."""
        self._pause(0.4)
        self._write(self._page.say(self._page.paint.markdown(markdown), "told"))

    def exactly(self, text: str) -> None:
        """What a file or a program says, as it is: lines that can be copied whole."""
        self._write(self._page.say([f"  {line}".rstrip() for line in clean(text).rstrip().split("\n")], "exactly"))

    def said(self, text: str) -> None:
        """Words of the person."""
        self._pause(1.0)
        self._write(self._page.said(text))

    def screen(self) -> Screen:
        """Where the next run is shown."""
        if self._theatre.alive:
            return TerminalScreen(self._theatre.out, self._page, get_terminal_size, self._theatre.now)
        return Lines(self._page, self._write)

    def _write(self, lines: list[str]) -> None:
        self._theatre.out.writelines(f"{line}\n" for line in lines)
        self._theatre.out.flush()

    def _pause(self, seconds: float) -> None:
        if self._theatre.alive:
            self._theatre.wait(seconds)
