"""Finding the text that a patch means and putting the new one in its place.

Exact first, then tolerant of what people and models get wrong without meaning anything else: line ends, blanks,
typography, escapes, indentation.  Likeness alone is a last resort that only the person has, and never across numbers,
negations or names.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from skills_store import fold, reindent, resemble

MAX_PLACES = 5
MAX_SNIPPET = 80
MIN_APPLIED = 8


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, which way of looking found the old one, and in how many places."""

    text: str
    how: str
    count: int


@dataclass(frozen=True, slots=True)
class NoMatch:
    """The old text is nowhere; `nearest` shows the place that comes closest, with its line numbers."""

    message: str
    nearest: str = ""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The old text is in several places; each is shown as `line N: …`."""

    message: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AlreadyApplied:
    """The new text already stands where it was meant to go."""

    message: str


Outcome = Replaced | NoMatch | Ambiguous | AlreadyApplied
Way = Callable[[str, str, str], "list[fold.Edit] | str"]


def replace(text: str, old: str | None, new: str | None, *, all: bool = False, strict: bool = True) -> Outcome:
    """Put `new` in the place of `old`; `strict` is for everybody who is not the person: never by likeness.

    `all` replaces every place; without it more than one place is told and nothing changes.
    """
    if not old or not old.strip():
        return NoMatch("old_string is empty; view the file and copy the exact text that is to be replaced")
    if new is None:
        return NoMatch("new_string is missing; give the text to put in place, or an empty text to delete")
    if old == new:
        return AlreadyApplied("old_string and new_string are the same; there is nothing to change")
    new = _with_ends_of(text, new)
    if _inside_new(text, old, new):
        return AlreadyApplied("the file already has the new text in every place where the old one stands")
    for how, way in _WAYS if strict else (*_WAYS, ("likeness", _by_likeness)):
        edits = way(text, old, new)
        if isinstance(edits, str):
            return NoMatch(edits, resemble.nearest(text, old))
        if edits:
            return _carry_out(text, edits, how, all)
    return _not_found(text, old, new)


def _carry_out(text: str, edits: "list[fold.Edit]", how: str, every: bool) -> Outcome:
    if len(edits) > 1 and (not every or how == "likeness"):
        places = tuple(_place(text, edit.start, edit.end) for edit in edits[:MAX_PLACES])
        advice = "give more of the lines around it" + ("" if how == "likeness" else ", or set replace_all")
        return Ambiguous(f"old_string fits in {len(edits)} places; {advice}", places)
    result, at = "", 0
    kept = _apart(edits)
    for edit in kept:
        result += text[at : edit.start] + edit.new
        at = edit.end
    result += text[at:]
    if result == text:
        return AlreadyApplied("the file already reads as the patch wants it")
    return Replaced(result, how, len(kept))


def _with_ends_of(text: str, new: str) -> str:
    """The new text with the line ends that the file uses throughout."""
    return new.replace("\r\n", "\n").replace("\n", "\r\n") if 0 < text.count("\n") == text.count("\r\n") else new


def _apart(edits: "Iterable[fold.Edit]") -> "list[fold.Edit]":
    """The edits that do not overlap an earlier one."""
    kept = list[fold.Edit]()
    for edit in edits:
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def _inside_new(text: str, old: str, new: str) -> bool:
    """Is every place of the old text already part of the new one, as after the same patch a moment ago?"""
    if old not in new or len(new.strip()) < MIN_APPLIED or new not in text:
        return False
    return text.count(old) == text.count(new) * new.count(old)


def _not_found(text: str, old: str, new: str) -> NoMatch | AlreadyApplied:
    if len(new.strip()) >= MIN_APPLIED and fold.edits(text, new, new, fold.LOOSE):
        return AlreadyApplied("old_string is not in the file any more and new_string is: the patch was applied before")
    nearest = resemble.nearest(text, old)
    advice = "nearest shows what comes closest" if nearest else "nothing in the file comes close"
    return NoMatch(f"old_string is not in the file; {advice}: view the file and copy the exact text", nearest)


def _place(text: str, start: int, end: int) -> str:
    number = text.count("\n", 0, start) + 1
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", max(start, line_start))
    line = text[line_start : len(text) if line_end < 0 else line_end].strip()
    return f"line {number}: {line if len(line) <= MAX_SNIPPET else line[: MAX_SNIPPET - 1] + '…'}"


def _exact(text: str, old: str, new: str) -> "list[fold.Edit]":
    return [fold.Edit(at, at + len(old), new) for at in fold.places(text, old)]


def _by_folding(how: fold.Fold) -> Way:
    return lambda text, old, new: fold.edits(text, old, new, how)


def _by_edges(text: str, old: str, new: str) -> "list[fold.Edit]":
    """Blank lines at the ends of the old text that the file does not have, the same ones left out of the new text."""
    bare = old.strip("\r\n").rstrip()
    return fold.edits(text, bare, new.strip("\r\n").rstrip(), fold.LOOSE) if bare != old else []


def _by_escapes(text: str, old: str, new: str) -> "list[fold.Edit]":
    """A text sent with its line breaks, tabs or quotes written as escapes, all of them in both texts."""
    plain = fold.unescaped(old)
    if plain == old or ("\n" in old and "\\n" in old):
        return []
    return fold.edits(text, plain, fold.unescaped(new), fold.LOOSE)


def _by_likeness(text: str, old: str, new: str) -> "list[fold.Edit]":
    return [
        fold.Edit(start, end, reindent.shifted(text[start:end], old, new)) for start, end in resemble.alike(text, old)
    ]


_WAYS: tuple[tuple[str, Way], ...] = (
    ("exact", _exact),
    ("line ends", _by_folding(fold.LINE_ENDS)),
    ("whitespace", _by_folding(fold.BLANKS)),
    ("typography", _by_folding(fold.LOOSE)),
    ("edges", _by_edges),
    ("escapes", _by_escapes),
    ("indentation", reindent.edits),
)
