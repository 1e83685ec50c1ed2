"""Skills that say nearly the same: before one more is made, and when a library is tidied."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from skills_store.entry import Entry
from skills_store.fuzzy import best, ratio, word_ratio
from skills_store.text import COMMON_WORDS, folded

NAME_FROM, DESCRIPTION_FROM, BODY_FROM = 0.85, 0.8, 0.6
SHORT_LIST = 8
MAX_BODY = 4_000
MAX_SHARING = 40
REMEMBERED = 20_000

Body = Callable[[Entry], str]
"""Fetches a skill's text; asked only when name or description come close."""


@dataclass(frozen=True, slots=True)
class Alike:
    """A skill that comes close, how close from 0 to 1, and in what."""

    entry: Entry
    score: float
    why: str


def nearest(new: Entry, text: str, others: Sequence[Entry], body: Body) -> tuple[Alike, ...]:
    """The skills close enough to extend instead of making another, the closest first."""
    by_name = dict(best(_name(new.name), [_name(other.name) for other in others], SHORT_LIST, 0.6))
    by_text = dict(best(_telling(new.description), [_telling(o.description) for o in others], SHORT_LIST, 0.5))
    compared = (_compare(new, text, others[at], body) for at in sorted({*by_name, *by_text}))
    return tuple(sorted((one for one in compared if one), key=lambda one: (-one.score, one.entry.name)))


def overlaps(all: Sequence[Entry], body: Body) -> tuple[tuple[str, str, float], ...]:
    """The pairs of skills that come close, as (one, other, score); only those that share rare words are compared."""
    found = list[tuple[str, str, float]]()
    for one, other in sorted(_sharing(all)):
        if alike := _compare(all[one], body(all[one]), all[other], body):
            found.append((all[one].name, alike.entry.name, alike.score))
    return tuple(sorted(found, key=lambda pair: (-pair[2], pair[:2])))


def _compare(new: Entry, text: str, other: Entry, body: Body) -> Alike | None:
    """Is one skill close to another, and in what?"""
    names = max(ratio(_name(new.name), _name(other.name)), word_ratio(_name(new.name), _name(other.name)))
    texts = word_ratio(_telling(new.description), _telling(other.description))
    if texts >= DESCRIPTION_FROM or (names >= NAME_FROM and texts >= 0.5):
        return Alike(other, round(max(texts, (names + texts) / 2), 3), _why(names, texts))
    if not text or max(names, texts) < 0.5:
        return None
    bodies = word_ratio(folded(text)[:MAX_BODY], folded(body(other))[:MAX_BODY])
    if bodies >= BODY_FROM and (names + texts) / 2 + bodies >= 1.2:
        return Alike(other, round(bodies, 3), f"the text of the two is {bodies:.0%} alike")
    return None


def _why(names: float, texts: float) -> str:
    if texts >= DESCRIPTION_FROM:
        return f"the descriptions are {texts:.0%} alike"
    return f"the names are {names:.0%} alike and the descriptions {texts:.0%}"


@lru_cache(REMEMBERED)
def _name(name: str) -> str:
    return folded(name).replace("-", " ").replace("_", " ").replace(".", " ")


@lru_cache(REMEMBERED)
def _telling(text: str) -> str:
    """The words that tell a text from others, as they are compared; all of them when it has only common ones."""
    words = folded(text).split()
    return " ".join(word for word in words if word not in COMMON_WORDS) or " ".join(words)


def _sharing(all: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Pairs that share two words which few skills use, each once."""
    by_word = defaultdict[str, list[int]](list)
    for at, known in enumerate(all):
        for word in {*_name(known.name).split(), *folded(known.description).split()}:
            by_word[word].append(at)
    shared = defaultdict[tuple[int, int], int](int)
    for holders in by_word.values():
        if 1 < len(holders) <= MAX_SHARING:
            for pair in combinations(holders, 2):
                shared[pair] += 1
    yield from (pair for pair, count in shared.items() if count > 1)
