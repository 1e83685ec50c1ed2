"""What is wrong with a skill: a sentence, where it stands, and how bad it is."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One sentence about one place; an error keeps a skill from being written, a warning does not."""

    severity: Severity
    line: int
    message: str
    file: str = "SKILL.md"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.message}"


def error(line: int, message: str, file: str = "SKILL.md") -> Problem:
    """A problem that must be mended before the file may be written."""
    return Problem("error", line, message, file)


def warning(line: int, message: str, file: str = "SKILL.md") -> Problem:
    """A problem worth telling that stops nothing."""
    return Problem("warning", line, message, file)


def introduced(before: tuple[Problem, ...], after: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The errors that a change brings in: those of `after` that `before` did not have already, wherever they stood."""
    known = {(old.file, old.message) for old in before}
    return tuple(new for new in after if new.severity == "error" and (new.file, new.message) not in known)
