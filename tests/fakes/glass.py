"""A terminal's glass: understands the few sequences that a screen of ours writes."""

import io
import re

PIECES = re.compile(r"\x1b\[(\??\d*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n])")


class Glass(io.StringIO):
    """Rows of text and a cursor; no scrolling, one cell a character but for wide ones."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__()
        self.columns = columns
        self.rows: list[str] = [""]
        self.row = 0
        self.column = 0
        self.cursor_shown = True
        self.written: list[str] = []

    def write(self, text: str) -> int:
        self.written.append(text)
        for number, final, back, down, character in PIECES.findall(text):
            if final:
                self._obey(number, final)
            elif back:
                self.column = 0
            elif down:
                self._down()
            else:
                self._put(character)
        return len(text)

    def _obey(self, number: str, final: str) -> None:
        if final == "A":
            self.row -= int(number or 1)
        elif final == "J":
            self.rows = [*self.rows[: self.row], self.rows[self.row][: self.column]]
        elif number == "?25":
            self.cursor_shown = final == "h"
        else:
            raise AssertionError(f"unexpected sequence {number}{final}")

    def _down(self) -> None:
        self.row, self.column = self.row + 1, 0
        if self.row == len(self.rows):
            self.rows.append("")

    def _put(self, character: str) -> None:
        line = self.rows[self.row]
        self.rows[self.row] = line[: self.column] + character + line[self.column + 1 :]
        self.column += 1

    def lines(self) -> list[str]:
        return "\n".join(self.rows).rstrip("\n").split("\n")
