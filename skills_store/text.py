"""Small facts about text: how wide it shows, what in it cannot be seen, how it compares."""

import re
import unicodedata

_COMMON = """
a an and are at be by for from how i in is it of on or that the this to use what when with you
"""
COMMON_WORDS = frozenset(_COMMON.split())
_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    f"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e0fff{_BLANK_LETTERS}]"
)
_JOINED = re.compile("(?<=[^\x00-\x7f\u200b-\u200f])[\u200c\u200d]|(?<=\\S)[\ufe0e\ufe0f]|[\n\r\f]")
_SPACES = re.compile(r"\s+")
_ESCAPES = str.maketrans({"<": "&lt;", ">": "&gt;", "`": "'"})


def invisible(text: str) -> str:
    """The code point of the first character that cannot be seen, such as `U+200B`; empty when all can."""
    found = _INVISIBLE.search(text)
    return f"U+{ord(found[0]):04X}" if found else ""


def hidden_in_prose(text: str) -> str:
    """Like `invisible`, but joiners and variation marks of emoji and of scripts that need them pass."""
    return invisible(_JOINED.sub("", text))


def cells(text: str) -> int:
    """How many terminal cells a line takes: two for a wide letter, none for a mark that sits on another."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def folded(text: str) -> str:
    """A text as it is compared: composed letters, no upper case, single blanks."""
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    return " ".join(composed.casefold().split())


def prompt_line(text: str, limit: int) -> str:
    """A text for one line of a prompt: nothing invisible, no mark-up that could close a block, a visible cut."""
    line = _SPACES.sub(" ", _INVISIBLE.sub(" ", text)).strip().translate(_ESCAPES)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
