"""How a command is shown to the person who decides about it: complete, with nothing hidden in it."""

import re
import unicodedata

INVISIBLE = frozenset({"Cf", "Cc", "Zl", "Zp", "Co", "Cs", "Cn"})
"""Categories of characters that cannot be seen or that move the text around them."""
LOOK_EMPTY = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5") | {chr(n) for n in range(0xFE00, 0xFE10)}
PADDING = re.compile(r" {9,}")


def escaped(text: str) -> str:
    """The text with every invisible character written out; line ends and tabs keep their place."""
    written = "".join(character if visible(character) else code(character) for character in text)
    return PADDING.sub(lambda blanks: f" ⟨{len(blanks.group()) - 2} more blanks⟩ ", written)


def one_line(text: str) -> str:
    """The same for a place that has one line: line ends and tabs are written out too."""
    return escaped(text).replace("\n", code("\n")).replace("\t", code("\t"))


def visible(character: str) -> bool:
    """Whether a person sees this character for what it is."""
    if character in "\n\t":
        return True
    if character in LOOK_EMPTY:
        return False
    category = unicodedata.category(character)
    return category not in INVISIBLE and (category != "Zs" or character == " ")


def code(character: str) -> str:
    """An invisible character by its number."""
    return f"⟨U+{ord(character):04X}⟩"
