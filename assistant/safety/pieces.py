"""The parts of a shell command as values."""

from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quotes are removed."""

    text: str
    plain: bool = True
    """Whether the text is the whole truth: nothing in it is known only when the command runs."""
    glob: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """Output or input of a command tied to a file."""

    writes: bool
    target: Word


@dataclass(frozen=True, slots=True)
class Piece:
    """One simple command."""

    words: tuple[Word, ...] = ()
    settings: tuple[tuple[str, Word], ...] = ()
    """Variables set for it or before it."""
    redirects: tuple[Redirect, ...] = ()
    folders: tuple[Path, ...] = ()
    """Where it may run; more than one when a `cd` before it may have failed."""
    piped: bool = False
    """Whether it reads what another command prints."""
    fed: Word | None = None
    """The text that it reads, if the command holds it."""
    mentions: tuple[Word, ...] = ()
    """Words of loops and variables, which other commands will meet."""

    @property
    def program(self) -> Word:
        """Its first word."""
        return self.words[0]

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words after the first."""
        return self.words[1:]

    def without_words(self) -> "Piece":
        """Only what is set and tied to files around the command."""
        return replace(self, words=(), fed=None)

    def text(self) -> str:
        """The command on one line, as rules compare it."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Script:
    """All simple commands of a text, in order."""

    pieces: tuple[Piece, ...]
    functions: frozenset[str] = frozenset()
    understood: bool = True
    multiplies: bool = False
    """Whether a function in it starts itself without end."""


@dataclass(frozen=True, slots=True)
class Person:
    """Whose `~` and working folder the words mean."""

    home: Path
    workdir: Path
