"""What a command printed, held within bounds: its beginning, its end, and a copy of the whole for a file."""

import codecs
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from threading import Lock

HEAD = 20_000
TAIL = 30_000
KEPT = 5_000_000
"""Characters kept for the file; what a command prints beyond that is lost in the middle, and the notice says so."""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")


class Capture:
    """Takes bytes as they come and remembers a bounded part of them as text."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept: list[str] = []
        self._kept_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._lock = Lock()
        self.total = 0

    def add(self, data: bytes, last: bool = False) -> str:
        """Remember some bytes; returns them as text."""
        text = self._decoder.decode(data, last)
        with self._lock:
            self._remember(text)
        return text

    def _remember(self, text: str) -> None:
        self.total += len(text)
        room = KEPT - self._kept_size
        if room > 0 and text:
            self._kept.append(text[:room])
            self._kept_size += len(text[:room])
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= TAIL:
            self._tail_size -= len(self._tail.popleft())

    def text(self, spill: Callable[[str], Path]) -> str:
        """All of it if it is short; else beginning and end, and the name of the file that holds the rest."""
        whole = "".join(self._kept)
        if self.total <= HEAD + TAIL:
            return plain(whole)
        where = spill(whole)
        lost = self.total - len(whole)
        held = f"all of it is in {where}" if not lost else f"its first {len(whole):,} characters are in {where}"
        cut = self.total - HEAD - TAIL
        notice = f"\n[… {cut:,} of {self.total:,} characters left out here; {held}; read_file shows it …]\n"
        return plain(whole[:HEAD]) + notice + plain("".join(self._tail)[-TAIL:])

    def since(self, position: int) -> tuple[str, int]:
        """What came after a position, as far as it is remembered, and the position of its end."""
        with self._lock:
            if self.total == self._kept_size:
                return plain("".join(self._kept)[position:]), self.total
            missed = max(0, position - (self.total - self._tail_size))
            return plain("".join(self._tail)[missed:]), self.total


def plain(text: str) -> str:
    """Text without terminal control sequences; of a line that was overwritten, its last state."""
    text = ESCAPES.sub("", text).replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")) if "\r" in text else text
