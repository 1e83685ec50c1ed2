"""The chat in a real terminal: what is finished scrolls up, what moves and what is typed stay below."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TextIO, TypeVar

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from assistant.client.chat import Conversation
from assistant.client.completing import SlashCompleter, menu_lines
from assistant.client.face import Look, Means
from assistant.client.input import Lanes, Lost, follow
from assistant.client.keys import Keys
from assistant.client.output import SteadyApplication, SteadyOutput
from assistant.client.page import Page
from assistant.client.paint import Paint
from assistant.core.ports import Told
from assistant.errors import AssistantError

T = TypeVar("T")
FRAME_SECONDS = 0.1
MOST_INPUT_LINES = 10
PLACEHOLDER = "ask anything, / for commands"
STYLE = Style.from_dict({"prompt": "ansicyan", "quiet": "ansibrightblack", "chosen": "bold"})


class Terminal:
    """The face of a chat."""

    def __init__(
        self, means: Means, history: Path, now: Callable[[], float], look: Look, ends: tuple[Input, Output]
    ) -> None:
        colour = look.colour
        self._runs = means.runs
        self._lanes = Lanes()
        self._output = ends[1]
        self._drafted: str | None = None
        paint = Paint(lambda: self._output.get_size().columns, colour=colour, markdown=look.markdown)
        self.page = Page(paint, now, lead="/", tools=look.tools)
        self.conversation = Conversation(means, self.page, self)
        self.buffer = Buffer(
            completer=SlashCompleter(means.commands, means.skill_names),
            complete_while_typing=True,
            history=_history(history),
            enable_history_search=True,
            multiline=True,
            on_text_changed=lambda buffer: self.conversation.calm(),
        )
        keys = Keys(self.buffer, self.conversation, self.refresh)
        self.app = SteadyApplication(
            layout=Layout(self._layout(), focused_element=self.buffer),
            key_bindings=keys.bindings(),
            style=STYLE,
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT,
            input=ends[0],
            output=ends[1],
            erase_when_done=True,
            min_redraw_interval=0.03,
        )

    def run(self, greeting: str = "") -> None:
        """Chat until the person leaves, or the terminal goes away."""
        with suppress(EOFError):  # the terminal was closed
            self.app.run(pre_run=lambda: self._begin(greeting))
        self._lanes.close()

    def _begin(self, greeting: str) -> None:
        if greeting:
            self._here(lambda: self.conversation.tell(greeting))
        self._here(self.conversation.begin)
        self._tick()

    def _tick(self) -> None:
        if self.page.busy:
            self.refresh()
        if self.app.loop is not None:
            self.app.loop.call_later(FRAME_SECONDS, self._tick)

    # what the conversation asks of its face

    def print(self, lines: list[str]) -> None:
        """Put finished lines above what moves."""
        self._make_room()
        if lines:
            self.app.print_above(lines)
        else:
            self.refresh()

    def refresh(self) -> None:
        """Draw what moves again, soon."""
        self._make_room()
        self.app.invalidate()

    def later(self, work: Callable[[], T], then: Callable[[T | AssistantError], None], lane: str) -> None:
        """Do slow work in a thread; a lane keeps its order."""
        self._lanes.do(lane, work, lambda done: self._here(lambda: self._done(done, then)))

    def _done(self, done: Future[T], then: Callable[[T | AssistantError], None]) -> None:
        fault = done.exception()
        if fault is None:
            then(done.result())
        elif isinstance(fault, AssistantError):
            then(fault)
        else:
            self.app.exit(exception=fault)

    def follow(self, run_id: str, tell: Callable[[Told | Lost], None]) -> None:
        """Have the events of a run told in this thread."""
        follow(self._runs, run_id, lambda arrival: self._here(lambda: tell(arrival)))

    def _here(self, act: Callable[[], None]) -> None:
        if self.app.loop is not None:
            with suppress(RuntimeError):  # the loop is closed: the person has left
                self.app.loop.call_soon_threadsafe(act)

    def give_back(self, text: str) -> None:
        """Put words back, unless something else is being typed."""
        if not self.buffer.text:
            self.buffer.insert_text(text)

    def leave(self) -> None:
        """End the chat."""
        self.page.end()
        if not self.app.is_done:
            self.app.exit()

    def _make_room(self) -> None:
        """A question takes the input line; what was being typed comes back after it."""
        if self.conversation.asked and self._drafted is None:
            self._drafted = self.buffer.text
            self.buffer.reset()
        elif not self.conversation.asked and self._drafted is not None:
            drafted, self._drafted = self._drafted, None
            self.give_back(drafted)

    # what it looks like

    def _layout(self) -> HSplit:
        hint = ConditionalProcessor(AfterInput(self._placeholder, style="class:quiet"), Condition(self._untouched))
        return HSplit(
            [
                _lines(self._moving),
                Window(
                    BufferControl(self.buffer, input_processors=[hint]),
                    wrap_lines=True,
                    height=Dimension(min=1, max=MOST_INPUT_LINES),
                    dont_extend_height=True,
                    get_line_prefix=_prefix,
                ),
                _lines(lambda: menu_lines(self.buffer, self.page.paint)),
            ]
        )

    def _moving(self) -> list[str]:
        size = self._output.get_size()
        typed = min(MOST_INPUT_LINES, self.buffer.document.line_count)
        rows = max(1, size.rows - typed - len(self.conversation.waiting) - 4)
        paint = self.page.paint
        waiting = [
            paint.line(("❯ ", "quiet"), (sent.text.replace("\n", " "), "quiet"), (f"  {sent.when}", "quiet"))
            for sent in self.conversation.waiting
        ]
        prompt = self.conversation.prompt()
        prompts = [paint.line((prompt, "accent" if self.conversation.asked else "quiet"))] if prompt else []
        above = [*self.page.live(rows), *waiting]
        return [*above, *(self.page.gap() if prompts or not above else [""]), *prompts]

    def _untouched(self) -> bool:
        return not self.buffer.text

    def _placeholder(self) -> AnyFormattedText:
        if self.conversation.asked:
            return ""
        return "" if self.page.busy else PLACEHOLDER


def _lines(lines: Callable[[], list[str]]) -> ConditionalContainer:
    """A window as high as its lines; away when there are none."""
    control = FormattedTextControl(lambda: ANSI("\n".join(lines())), show_cursor=False)
    return ConditionalContainer(
        Window(control, dont_extend_height=True, wrap_lines=False), Condition(lambda: bool(lines()))
    )


def _prefix(line: int, folded: int) -> AnyFormattedText:
    return [("class:prompt", "❯ ")] if line == 0 and folded == 0 else "  "


def _history(path: Path) -> FileHistory:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    return FileHistory(path)


def terminal_ends(typed: TextIO, shown: TextIO, term: str) -> tuple[Input, Output]:
    """The two ends of a real terminal."""
    return create_input(typed), SteadyOutput.from_pty(shown, term=term)
