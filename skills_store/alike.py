"""Skills that say nearly the same: before one more is made, and when a library is tidied."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from skills_store.fuzzy import best, ratio, word_ratio
from skills_store.text import folded, telling

NEAR = 0.8
NAME_FROM, DESCRIPTION_FROM, BODY_FROM = 0.85, 0.8, 0.6
SHORT_LIST = 8
MAX_BODY = 4_000
MAX_SHARING = 40


@dataclass(frozen=True)
class Known:
    """A skill to compare with; its body is only fetched when name or description come close."""

    name: str
    category: str
    description: str
    body: Callable[[], str] = lambda: ""


@dataclass(frozen=True, slots=True)
class Alike:
    """A skill that comes close, how close from 0 to 1, and in what."""

    name: str
    score: float
    why: str
    category: str = ""


def nearest(name: str, description: str, body: str, others: Sequence[Known]) -> tuple[Alike, ...]:
    """The skills close enough to extend instead of making another, the closest first."""
    names, texts = [_name(other.name) for other in others], [telling(other.description) for other in others]
    by_name = dict(best(_name(name), names, SHORT_LIST, 0.6))
    by_text = dict(best(telling(description), texts, SHORT_LIST, 0.5))
    compared = (_compare((name, description, body), others[at]) for at in sorted({*by_name, *by_text}))
    return tuple(sorted((one for one in compared if one), key=lambda one: (-one.score, one.name)))


def overlaps(all: Sequence[Known]) -> tuple[tuple[str, str, float], ...]:
    """The pairs of skills that come close, as (one, other, score); only those that share rare words are compared."""
    found = list[tuple[str, str, float]]()
    for one, other in sorted(_sharing(all)):
        a, b = all[one], all[other]
        if alike := _compare((a.name, a.description, a.body()), b):
            found.append((a.name, b.name, alike.score))
    return tuple(sorted(found, key=lambda pair: (-pair[2], pair[:2])))


def _compare(new: tuple[str, str, str], other: Known) -> Alike | None:
    """Is one skill close to another, and in what?"""
    name, description, body = new
    names = max(ratio(_name(name), _name(other.name)), word_ratio(_name(name), _name(other.name)))
    texts = word_ratio(telling(description), telling(other.description))
    if texts >= DESCRIPTION_FROM or (names >= NAME_FROM and texts >= 0.5):
        return Alike(other.name, round(max(texts, (names + texts) / 2), 3), _why(names, texts), other.category)
    if not body or max(names, texts) < 0.5:
        return None
    bodies = word_ratio(folded(body)[:MAX_BODY], folded(other.body())[:MAX_BODY])
    if bodies >= BODY_FROM and (names + texts) / 2 + bodies >= 1.2:
        return Alike(other.name, round(bodies, 3), f"the text of the two is {bodies:.0%} alike", other.category)
    return None


def _why(names: float, texts: float) -> str:
    if texts >= DESCRIPTION_FROM:
        return f"the descriptions are {texts:.0%} alike"
    return f"the names are {names:.0%} alike and the descriptions {texts:.0%}"


def _name(name: str) -> str:
    return folded(name).replace("-", " ").replace("_", " ").replace(".", " ")


def _sharing(all: Sequence[Known]) -> Iterator[tuple[int, int]]:
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
