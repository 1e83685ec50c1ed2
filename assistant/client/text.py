"""Text of unknown making, made fit for a terminal: nothing in it can move the cursor, colour the screen or hide."""

import json
import re
import unicodedata

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and cursor moves
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|\Z)"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_UNSEEN = frozenset({"Cf", "Cc", "Zl", "Zp", "Zs", "Co", "Cs", "Cn"})
_LOOK_EMPTY = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5") | {chr(n) for n in range(0xFE00, 0xFE10)}
_PADDING = re.compile(r" {40,}")
LONGEST_PREVIEW = 400


def clean(text: str) -> str:
    """The text without escape sequences, control characters and marks that turn the writing direction."""
    text = text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n").expandtabs(4)
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


def exact(text: str) -> str:
    """The text with everything that would be invisible spelled out: what a person decides about must be all there."""
    written = "".join(sign if _seen(sign) else ascii(sign)[1:-1] for sign in text.replace("\r\n", "\n"))
    return _PADDING.sub(lambda blanks: f" [… {len(blanks.group()) - 2} more blanks …] ", written)


def _seen(sign: str) -> bool:
    """Whether a person sees this sign for what it is."""
    return sign in " \n\t" or (sign not in _LOOK_EMPTY and unicodedata.category(sign) not in _UNSEEN)


def one_line(text: str) -> str:
    """Cleaned and joined to one line, bounded."""
    line = " ".join(clean(text[: 4 * LONGEST_PREVIEW]).split())
    return line if len(line) <= LONGEST_PREVIEW else line[: LONGEST_PREVIEW - 1] + "…"


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def spelled(arguments: str) -> str:
    """The arguments of a call, line by line and whole; a lone command as it would be typed."""
    try:
        values = json.loads(arguments)
    except ValueError:
        return exact(arguments)
    if not isinstance(values, dict):
        return exact(arguments)
    if list(values) == ["command"] and isinstance(values["command"], str):
        return exact(values["command"])
    return "\n".join(f"{exact(name)}: {_value(value)}" for name, value in values.items())


def _value(value: object) -> str:
    text = exact(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return text if "\n" not in text else "\n" + "\n".join("  " + line for line in text.split("\n"))
