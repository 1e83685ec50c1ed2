"""Text as the search index holds it: words as they are, and for Korean, Chinese and Japanese every pair of letters.

The built-in tokenizer sees a run of such letters as one word, so a word inside a longer one would not be found.
"""

import re
import unicodedata
from collections.abc import Iterator

TABLE = """CREATE VIRTUAL TABLE words USING fts5 (body, content='', tokenize="unicode61 remove_diacritics 2")"""
CJK = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
WORD = re.compile(r"\w+")


def indexed(text: str) -> str:
    """The text to put into the index."""
    plain = unicodedata.normalize("NFC", text)
    if not CJK.search(plain):
        return plain
    return CJK.sub(lambda run: " " + " ".join(pairs(run[0], alone=True)) + " ", plain)


def query(text: str) -> str:
    """A query in the index's language: every chunk between blanks as a phrase; empty when there is no word in it."""
    chunks = unicodedata.normalize("NFC", text).split()
    return " AND ".join(dict.fromkeys(phrase for chunk in chunks for phrase in phrases(chunk)))


def phrases(chunk: str) -> Iterator[str]:
    """The phrases that stand for one chunk: neighbouring words together, neighbouring pairs of letters together."""
    for piece in re.split(f"({CJK.pattern})", chunk):
        if CJK.fullmatch(piece):
            yield '"' + " ".join(pairs(piece)) + '"' if len(piece) > 1 else f'"{piece}"*'
        elif words := WORD.findall(piece):
            yield '"' + " ".join(words) + '"'


def literal(text: str) -> list[str]:
    """The chunks with signs in them, which the index does not hold: a hit must contain them as written."""
    chunks = unicodedata.normalize("NFC", text).casefold().split()
    return [chunk for chunk in chunks if not WORD.fullmatch(chunk)]


def pairs(run: str, alone: bool = False) -> Iterator[str]:
    """Neighbouring letters two by two; with `alone` the last one by itself too, so that it is found as a beginning."""
    yield from (run[i : i + 2] for i in range(len(run) - 1))
    if alone or len(run) == 1:
        yield run[-1]
