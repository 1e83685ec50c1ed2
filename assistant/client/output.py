"""A terminal that is written to in whole pictures: what is erased and what replaces it leave in one write."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth


class SteadyOutput(Vt100_Output):
    """Keeps what is written until the next whole picture, when asked to.

    Never asks where the cursor is: an answer that comes late would count lines that have scrolled since.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"enable_cpr": False})
        self._held = False

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What the body writes leaves at once, at its end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self.flush()

    def flush(self) -> None:
        """Write what there is, unless a picture is being made."""
        if not self._held:
            super().flush()


class SteadyApplication(Application[None]):
    """An application at the end of the scrollback whose redraws leave no remains."""

    def print_above(self, lines: list[str]) -> None:
        """Put finished lines above the application; they are never touched again."""
        with self._whole():
            self.renderer.erase()
            self.output.write_raw("".join(line + "\r\n" for line in lines))
            self._redraw()

    def _whole(self) -> AbstractContextManager[None]:
        return self.output.whole() if isinstance(self.output, SteadyOutput) else nullcontext()

    def _on_resize(self) -> None:
        """A narrower terminal has folded our lines by itself: start erasing where they begin now."""
        with self._whole():
            self.output.cursor_up(self._folded(self.output.get_size().columns))
            super()._on_resize()

    def _folded(self, columns: int) -> int:
        screen = self.renderer.last_rendered_screen
        if screen is None:
            return 0
        cursor = screen.get_cursor_position(self.layout.current_window)
        ends = [(row, _end(screen.data_buffer[row])) for row in range(cursor.y)]
        return sum(_folds(screen.data_buffer[row], end, columns) for row, end in [*ends, (cursor.y, cursor.x)])


def _end(row: Any) -> int:
    return max((column + 1 for column, cell in row.items() if cell.char.strip()), default=0)


def _folds(row: Any, end: int, columns: int) -> int:
    """How often a terminal of that width folds the row before `end`; a wide character moves down whole."""
    folds = used = 0
    for column in range(end):
        width = get_cwidth(row[column].char)
        if used + width > columns:
            folds, used = folds + 1, 0
        used += width
    return folds
