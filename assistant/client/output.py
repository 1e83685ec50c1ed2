"""A terminal that is written to in whole pictures: what is erased and what replaces it leave in one write."""

from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth


class SteadyOutput(Vt100_Output):
    """Keeps what is written until the next whole picture, when asked to."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._held = False

    def hold(self) -> None:
        """From here on nothing leaves before `release`."""
        self._held = True

    def release(self) -> None:
        """The picture is whole."""
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
        output = self.output
        if isinstance(output, SteadyOutput):
            output.hold()
        self.renderer.erase()
        output.write_raw("".join(line + "\r\n" for line in lines))
        self._redraw()
        if isinstance(output, SteadyOutput):
            output.release()

    def _on_resize(self) -> None:
        """A narrower terminal has folded our lines by itself: start erasing where they begin now."""
        columns = self.output.get_size().columns
        self.output.cursor_up(self._folded(columns))
        super()._on_resize()

    def _folded(self, columns: int) -> int:
        screen = self.renderer.last_rendered_screen
        if screen is None:
            return 0
        cursor = screen.get_cursor_position(self.layout.current_window)
        widths = [_width(screen.data_buffer[row]) for row in range(cursor.y)]
        return sum((width - 1) // columns for width in widths if width) + cursor.x // columns


def _width(row: Any) -> int:
    last = max((column for column, cell in row.items() if cell.char.strip()), default=-1)
    return last + max(1, get_cwidth(row[last].char)) if last >= 0 else 0
