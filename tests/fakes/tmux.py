"""A real terminal: tmux on a private socket, read by polling."""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence

from tests.fakes.waiting import until

SPINNER = re.compile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")
TIMES = re.compile(r"\b\d+(?:\.\d)? s\b")


class Tmux:
    """One program in one window."""

    def __init__(self, command: Sequence[str], columns: int = 80, rows: int = 24) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="tmux-")
        self._base = ["tmux", "-S", f"{self._place.name}/socket", "-f", "/dev/null"]
        size = ["-x", str(columns), "-y", str(rows)]
        self.env = os.environ | {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self.tmux("-u", "new-session", "-d", *size, *command)

    def tmux(self, *words: str) -> str:
        done = subprocess.run([*self._base, *words], capture_output=True, text=True, check=True, env=self.env)
        return done.stdout

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def paste(self, text: str) -> None:
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p", "-r")

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, history: bool = False) -> str:
        """What a person sees, with what moves masked."""
        shown = self.tmux("capture-pane", "-p", *(["-S", "-"] if history else []))
        lines = [TIMES.sub("N s", SPINNER.sub("*", line)).rstrip() for line in shown.split("\n")]
        return "\n".join(lines).strip("\n") + "\n"

    def see(self, *words: str) -> str:
        """The screen, once all the words are on it."""
        until(lambda: all(word in self.screen() for word in words), lambda: f"no {words} in\n{self.screen()}")
        return self.screen()

    def lose(self, *words: str) -> str:
        """The screen, once none of the words are on it."""
        until(lambda: not any(word in self.screen() for word in words), lambda: f"still {words} in\n{self.screen()}")
        return self.screen()

    def ended(self) -> bool:
        return subprocess.run([*self._base, "has-session"], capture_output=True, check=False).returncode != 0

    def close(self) -> None:
        subprocess.run([*self._base, "kill-server"], capture_output=True, check=False)
        self._place.cleanup()
