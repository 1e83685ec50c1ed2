"""The one place that loads rapidfuzz, and only when likeness is asked for."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType


class _Rapid(NamedTuple):
    fuzz: "ModuleType"
    process: "ModuleType"


@cache
def _rapid() -> _Rapid:
    from rapidfuzz import fuzz, process

    return _Rapid(fuzz, process)


def ratio(one: str, other: str) -> float:
    """How alike two texts are in order, from 0 to 1."""
    return float(_rapid().fuzz.ratio(one, other)) / 100


def word_ratio(one: str, other: str) -> float:
    """How alike two texts are when the order of their words does not count, from 0 to 1."""
    return float(_rapid().fuzz.token_sort_ratio(one, other)) / 100


def best(wanted: str, choices: Sequence[str], limit: int, least: float) -> list[tuple[int, float]]:
    """The choices most like a text, the best first, as (position, likeness from 0 to 1)."""
    found: Iterable[tuple[str, float, int]] = _rapid().process.extract(
        wanted, choices, scorer=_rapid().fuzz.ratio, limit=limit, score_cutoff=least * 100
    )
    return [(at, score / 100) for _, score, at in found]
