"""A memory file as entries, with a line `§` between them.  Pure: text in, text out, all else untouched."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SEPARATOR = "§"
BETWEEN = re.compile(r"^[ \t]*§[ \t]*$", re.MULTILINE)
Action = Literal["add", "replace", "remove"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants of a file."""

    action: str
    content: str = ""
    old_text: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why it cannot be had; `code` is one of the contract's."""

    code: str
    error: str
    hint: str = ""


def entries_of(text: str) -> tuple[str, ...]:
    """The entries of a file, in order, without the blank space around them."""
    return tuple(entry for part in BETWEEN.split(text) if (entry := part.strip()))


def size_of(entries: Sequence[str]) -> int:
    """Characters of the entries with what stands between them: what the limits count."""
    return len(f"\n{SEPARATOR}\n".join(entries))


def same(one: str, other: str) -> bool:
    """Whether two entries are equal for a reader."""
    return folded(one) == folded(other)


def folded(text: str) -> str:
    """A text as entries are compared: composed letters, line ends alike, no blank space around."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def planned(text: str, wish: Wish) -> str | Problem:
    """The file as the wish wants it."""
    if wish.action == "add":
        return checked(wish.content) or added(text, wish.content.strip())
    if not wish.old_text.strip():
        return Problem("invalid", f"{wish.action} needs old_text", "Copy the entry from the list here.")
    if wish.action == "remove":
        found = find(text, wish.old_text)
        return found if isinstance(found, Problem) else removed(text, found, wish.old_text)
    return checked(wish.content) or replaced(text, wish)


def checked(content: str) -> Problem | None:
    """What is wrong with the text of an entry."""
    if not content.strip():
        return Problem("invalid", "content is empty", "Say what to remember, or use remove.")
    if BETWEEN.search(content):
        return Problem(
            "invalid", f"a line with {SEPARATOR} alone separates entries", "Write two entries, or reword it."
        )
    bad = sorted({f"U+{ord(sign):04X}" for sign in content if invisible(sign)})
    if bad:
        return Problem("invalid", f"content has invisible characters: {', '.join(bad)}", "Leave them out.")
    return None


def invisible(sign: str) -> bool:
    """Control characters, and marks that turn the direction of text; joiners that scripts need are fine."""
    if sign in "\n\t\r\u200c\u200d":
        return False
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs") or sign in "\u2028\u2029"


def added(text: str, content: str) -> str:
    """One entry more at the end; the file as it is when it is there already."""
    if any(same(entry, content) for entry in entries_of(text)):
        return text
    before = text.rstrip()
    ends_open = not before or BETWEEN.fullmatch(before.rpartition("\n")[2] or "")
    between = "" if ends_open else f"\n{SEPARATOR}"
    return f"{before}{between}\n{content}\n".lstrip("\n")


def find(text: str, old: str) -> str | Problem:
    """The entry meant: the one that is wholly so, else the only one that contains it."""
    entries = entries_of(text)
    whole = [entry for entry in entries if same(entry, old)]
    if whole:
        return whole[0]
    holding = list(dict.fromkeys(entry for entry in entries if folded(old) in folded(entry)))
    if len(holding) == 1:
        return holding[0]
    if not holding:
        return Problem("no_match", f"no entry contains {old.strip()[:200]!r}", "The entries are listed here.")
    some = "; ".join(repr(entry[:80]) for entry in holding[:5])
    return Problem(
        "ambiguous", f"{len(holding)} entries contain {old.strip()[:200]!r}: {some}", "Give one entry whole."
    )


def removed(text: str, entry: str, old: str) -> str | Problem:
    """The file without an entry; a part of one with several lines could mean only that part."""
    if "\n" in entry and not same(entry, old):
        error = "old_text is one part of an entry with several lines"
        return Problem("ambiguous", error, "Give it whole, or use replace to shorten it.")
    place = next(at for at, part in enumerate(BETWEEN.split(text)) if part.strip() == entry)
    parts = BETWEEN.split(text)
    marks = BETWEEN.findall(text)
    del parts[place]
    if marks:
        del marks[min(place, len(marks) - 1)]
    joined = parts[0] if parts else ""
    for mark, part in zip(marks, parts[1:], strict=True):
        joined = joined.rstrip("\n") + f"\n{mark}\n" + part.lstrip("\n")
    return joined.lstrip("\n")


def replaced(text: str, wish: Wish) -> str | Problem:
    """The file with exactly `old_text` exchanged, the rest of its entry kept."""
    found = find(text, wish.old_text)
    if isinstance(found, Problem):
        return found
    content, old = wish.content.strip(), wish.old_text.strip()
    if same(found, old):
        fresh = content
    elif found.count(old) == 1:
        fresh = found.replace(old, content)
    else:
        return Problem("ambiguous", "old_text is not once in its entry, sign for sign", "Give the entry whole.")
    return exchanged(text, found, fresh)


def exchanged(text: str, entry: str, fresh: str) -> str:
    """The first such entry replaced where it stands."""
    at = 0
    for part in BETWEEN.split(text):
        begin = text.index(part, at)
        if part.strip() == entry:
            return text[:begin] + part.replace(entry, fresh, 1) + text[begin + len(part) :]
        at = begin + len(part)
    return text


def again(today: str, before: str, after: str) -> str | Problem:
    """What turned `before` into `after`, done to today's file: used for approving and, turned round, for undoing."""
    old, new = entries_of(before), entries_of(after)
    gone = [entry for entry in old if entry not in new]
    come = [entry for entry in new if entry not in old]
    for entry in gone:
        if entry not in entries_of(today):
            return Problem(
                "conflict", f"the entry has changed meanwhile: {entry[:200]!r}", "Look at the memory as it is."
            )
    for entry in gone:
        fresh = come.pop(0) if come else ""
        result = exchanged(today, entry, fresh) if fresh else removed(today, entry, entry)
        if isinstance(result, Problem):
            return result
        today = result
    for entry in come:
        today = added(today, entry)
    return today
