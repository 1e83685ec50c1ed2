"""The place of a text that looks most like another one: to show it, and, for the person only, to change it."""

import re
from collections import Counter

from skills_store.fold import folded_line
from skills_store.fuzzy import best, ratio

SHOWN_FROM = 0.4
CHANGED_FROM = 0.85
WORD_FROM = 0.75
CONTEXT = 2
MAX_SHOWN = 12
MAX_WIDTH = 160

_WORD = re.compile(r"\w+(?:[-./_:@']\w+)*")
_NAME = re.compile(r"[A-Z0-9_./:@]|.-.|[^\x00-\x7f]")
_TURN_WORDS = """
not no never none neither nor without cannot except unless only always must may should before after enable disable
enabled disabled true false on off yes allow deny add remove start stop open close up down min max least most more less
first last all any 안 못 금지 항상 절대 전 후 이전 이후
"""
_TURNS = frozenset(_TURN_WORDS.split())
_TURNING_PARTS = ("n't", "않", "없", "못", "말", "아니", "마세요", "지마")


def nearest(text: str, old: str) -> str:
    """The lines that come closest to the old text, with their numbers and two lines around; empty when none does."""
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    at = _closest(lines, wanted)
    if at is None:
        return ""
    first, last = max(0, at - CONTEXT), min(len(lines), at + min(len(wanted), MAX_SHOWN) + CONTEXT)
    return "\n".join(f"{number + 1:>5}| {lines[number][:MAX_WIDTH]}" for number in range(first, last))


def alike(text: str, old: str) -> list[tuple[int, int]]:
    """Start and end of the lines that say the same as the old text but for small slips of the pen."""
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    goal, marks = "\n".join(map(folded_line, wanted)), _fixed(old)
    keys = [folded_line(line) for line in lines]
    found, at = list[tuple[int, int]](), 0
    for number in range(len(lines) - len(wanted) + 1):
        size = sum(map(len, lines[number : number + len(wanted)])) + len(wanted) - 1
        window = text[at : at + size]
        close = ratio("\n".join(keys[number : number + len(wanted)]), goal) >= CHANGED_FROM
        if close and _fixed(window) == marks and _slips_only(window, old):
            found.append((at, at + size))
        at += len(lines[number]) + 1
    return found


def _closest(lines: list[str], wanted: list[str]) -> int | None:
    """The number of the line where the likest window begins."""
    keys = [line.strip() for line in lines]
    anchor, lead = next((line.strip(), at) for at, line in enumerate(wanted) if line.strip())
    goal = "\n".join(line.strip() for line in wanted)
    starts = [max(0, at - lead) for at, _ in best(anchor, keys, 20, SHOWN_FROM)]
    scored = [(ratio("\n".join(keys[at : at + len(wanted)]), goal), -at) for at in starts]
    score, at = max(scored, default=(0.0, 0))
    return -at if score >= SHOWN_FROM else None


def _slips_only(window: str, old: str) -> bool:
    """Is each word of one the same word in the other, give or take a letter?"""
    there, here = _WORD.findall(window.casefold()), _WORD.findall(old.casefold())
    same_count = len(there) == len(here)
    return same_count and all(a == b or ratio(a, b) >= WORD_FROM for a, b in zip(there, here, strict=True))


def _fixed(text: str) -> Counter[str]:
    """The words that may not differ: numbers, names, negations and whatever turns a rule around."""
    words = Counter(word for word in _WORD.findall(text) if _NAME.search(word) or word.casefold() in _TURNS)
    return words + Counter(part for part in _TURNING_PARTS for _ in range(text.count(part)))
