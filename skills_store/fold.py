"""Comparing texts with some differences folded away, without losing where each character came from."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_TYPOGRAPHY = {
    **dict.fromkeys("‘’‚‛′＇", "'"),
    **dict.fromkeys("“”„‟″＂«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_WIDE_BLANKS = "\u00a0\u2000-\u200a\u202f\u205f\u3000"
_MARKS = "\u0300-\u036f\u1160-\u11ff\u3099\u309a"
_LETTER = f"[^{_MARKS}][{_MARKS}]*|."
_ESCAPED = re.compile(r"""\\([ntr"'`])""")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Fold:
    """What to look past: line ends always; blanks inside and behind lines; typography and how letters are composed."""

    blanks: bool = False
    typography: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """Takes a text apart into line ends, runs of blanks and letters."""
        return _PATTERNS[self]


def _pattern(blanks: str, letter: str) -> re.Pattern[str]:
    run = f"(?P<blank>[{blanks}]+)" if blanks else "(?P<blank>(?!))"
    end = f"(?P<end>[{blanks}]*\\r?\\n)" if blanks else "(?P<end>\\r?\\n)"
    return re.compile(f"{end}|{run}|(?P<letter>{letter})", re.DOTALL)


LINE_ENDS = Fold()
BLANKS = Fold(blanks=True)
LOOSE = Fold(blanks=True, typography=True)
_PATTERNS = {
    LINE_ENDS: _pattern("", "."),
    BLANKS: _pattern(" \t", "."),
    LOOSE: _pattern(f" \t{_WIDE_BLANKS}", _LETTER),
}


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `new` in the place of the characters from `start` to `end`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Folded:
    """A text as it is compared, and for each of its characters which part of the original it stands for."""

    pieces: tuple[tuple[str, int, int], ...]

    @cached_property
    def text(self) -> str:
        """What is left to compare."""
        return "".join(piece for piece, _, _ in self.pieces)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Start and end in the original of each compared character."""
        return tuple((start, end) for piece, start, end in self.pieces for _ in piece)

    def cuts(self, at: int) -> bool:
        """Would a cut before this compared character go through one original character?"""
        return 0 < at < len(self.spans) and self.spans[at] == self.spans[at - 1]

    def slice(self, start: int, end: int) -> tuple[int, int]:
        """The part of the original that some compared characters stand for."""
        return (self.spans[start][0], self.spans[end - 1][1]) if start < end else (0, 0)


def edits(text: str, old: str, new: str, how: Fold) -> list[Edit]:
    """Where `old` stands in `text` under a fold, with the new text each place gets.

    What old and new have in common at their ends keeps the characters of the file.
    """
    whole, part, wanted = folded(text, how), folded(old, how), folded(new, how)
    size = len(part.text)
    if not part.text.strip():
        return []
    return [
        Edit(*whole.slice(at, at + size), _spliced(text, whole, at, (part, wanted, new)))
        for at in places(whole.text, part.text)
        if not whole.cuts(at) and not whole.cuts(at + size)
    ]


def places(text: str, part: str) -> list[int]:
    """Every position where a part begins, overlapping ones too."""
    found, at = list[int](), text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def folded(text: str, how: Fold) -> Folded:
    """A text with some differences folded away; the indentation of lines stays."""
    return Folded(tuple(_pieces(text, how)))


def folded_line(line: str) -> str:
    """One line as it is compared when its indentation does not count."""
    return folded(line, LOOSE).text.strip()


def unescaped(text: str) -> str:
    """A text with written-out escapes turned into what they stand for."""
    return _ESCAPED.sub(lambda found: _PLAIN.get(found[1], found[1]), text)


def _pieces(text: str, how: Fold) -> Iterator[tuple[str, int, int]]:
    fresh = True
    for found in how.pattern.finditer(text):
        start, end = found.span()
        if found.lastgroup == "end":
            yield "\n", start, end
        elif found.lastgroup == "letter":
            yield _letter(found[0]) if how.typography else found[0], start, end
        elif fresh:
            yield from ((text[at], at, at + 1) for at in range(start, end))
        else:
            yield " ", start, end
        fresh = found.lastgroup == "end"


def _letter(cluster: str) -> str:
    if cluster.isascii():
        return cluster
    return _TYPOGRAPHY.get(cluster) or unicodedata.normalize("NFC", cluster)


def _spliced(text: str, whole: Folded, at: int, change: tuple[Folded, Folded, str]) -> str:
    """The new text for the place at `at`, between the head and the tail that it shares with the old one."""
    part, wanted, new = change
    limit, size = min(len(part.text), len(wanted.text)), len(part.text)
    head = next((i for i in range(limit) if part.text[i] != wanted.text[i]), limit)
    while head and (whole.cuts(at + head) or wanted.cuts(head)):
        head -= 1
    rest = limit - head
    tail = next((i for i in range(rest) if part.text[-1 - i] != wanted.text[-1 - i]), rest)
    while tail and (whole.cuts(at + size - tail) or wanted.cuts(len(wanted.text) - tail)):
        tail -= 1
    kept_head = slice(*whole.slice(at, at + head))
    kept_tail = slice(*whole.slice(at + size - tail, at + size))
    middle = slice(*wanted.slice(head, len(wanted.text) - tail))
    return text[kept_head] + new[middle] + text[kept_tail]
