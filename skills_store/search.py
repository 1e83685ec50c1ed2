"""Finding skills by words, with slips of the pen, in any script."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from skills_store.entry import Entry
from skills_store.fuzzy import best
from skills_store.text import COMMON_WORDS, folded

IN_NAME, IN_DESCRIPTION, IN_CATEGORY = 3.0, 2.0, 1.0
_WORTH = (IN_NAME, IN_DESCRIPTION, IN_CATEGORY)
ALMOST = 0.6
LEAST_LIKENESS = 0.75
MAX_VARIANTS = 12
MAX_QUERY = 400

_WORD = re.compile(r"[^\W_]+")
_PAIRS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2,}")


@dataclass(frozen=True)
class Words:
    """The words of many skills, taken apart once for many searches."""

    entries: tuple[Entry, ...]

    @cached_property
    def fields(self) -> tuple[tuple[str, str, str], ...]:
        """Name, description and category of each skill as they are compared."""
        return tuple((folded(e.name), folded(e.description), folded(e.category)) for e in self.entries)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Every word that some skill uses."""
        return tuple(dict.fromkeys(word for fields in self.fields for text in fields for word in _WORD.findall(text)))


def rank(query: str, entries: Sequence[Entry] | Words, limit: int = 20) -> tuple[tuple[Entry, float], ...]:
    """The skills that fit a query best, with scores from 0 to 1; none that has nothing to do with it."""
    words = entries if isinstance(entries, Words) else Words(tuple(entries))
    wanted = _wanted(query[:MAX_QUERY])
    if not wanted or not words.entries:
        return ()
    forms = [_forms(word, words) for word in wanted]
    whole = folded(query)
    scored = [(_score(fields, forms, whole), at) for at, fields in enumerate(words.fields)]
    top = sorted((-score, at) for score, at in scored if score > 0)[:limit]
    return tuple((words.entries[at], round(min(1.0, -score), 3)) for score, at in top)


def _wanted(query: str) -> list[str]:
    """The words that carry a query; all of them when it has only common ones."""
    found = list(dict.fromkeys(_WORD.findall(folded(query))))
    return [word for word in found if word not in COMMON_WORDS] or found


def _forms(word: str, words: Words) -> list[tuple[str, float]]:
    """What counts as this word, and how much: itself, pairs of its letters where words are not spaced, near misses."""
    forms = {word: 1.0}
    for run in _PAIRS.findall(word):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        forms.update({pair: ALMOST / len(pairs) for pair in pairs if pair not in forms})
    if len(word) > 3:
        for at, likeness in best(word, words.vocabulary, MAX_VARIANTS, LEAST_LIKENESS):
            forms.setdefault(words.vocabulary[at], ALMOST * likeness)
    return list(forms.items())


def _score(fields: tuple[str, str, str], forms: Iterable[list[tuple[str, float]]], whole: str) -> float:
    """How well one skill answers all the words, from 0 to 1 and a little more for the name itself."""
    marks = [max(weight * _place(form, fields) for form, weight in variants) for variants in forms]
    return sum(marks) / (len(marks) * IN_NAME) + (0.5 if whole == fields[0] else 0.0)


def _place(form: str, fields: tuple[str, str, str]) -> float:
    return next((worth for text, worth in zip(fields, _WORTH, strict=True) if form in text), 0.0)
