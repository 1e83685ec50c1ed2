"""The lines about skills that a system prompt carries: one line a skill, escaped, bounded, within a budget."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from skills_store.entry import Entry
from skills_store.search import Words, rank
from skills_store.text import prompt_line

BYTES_PER_TOKEN = 4
MAX_LINE = 160
MAX_HEADING = 100
BEST = 20
REST_SHARE = 4
ARCHIVED = "archived"
_order = attrgetter("category", "name")
_category = attrgetter("category")


def render_index(
    entries: Sequence[Entry] | Words,
    budget_tokens: int,
    about: str = "",
    recent: Sequence[str] = (),
    pinned: Collection[str] = (),
    categories: Mapping[str, str] | None = None,
) -> str:
    """All skills while they fit the budget; else the pinned, the recently used and the best for `about`, and counts.

    Broken and archived skills are left out; without skills the text is empty.  The same skills give the same text.
    Given as Words, many skills are not taken apart again for `about`.
    """
    words = entries if isinstance(entries, Words) else Words(tuple(entries))
    shown = sorted([e for e in words.entries if e.broken is None and e.state != ARCHIVED], key=_order)
    lines = _Lines(shown, categories or {})
    budget = budget_tokens * BYTES_PER_TOKEN
    if len(lines.taken(shown, budget)) == len(shown):
        return lines.render(shown)
    first = [*_named(shown, pinned), *(e for e in shown if e.pin), *_named(shown, recent)]
    wanted = [*first, *(entry for entry, _ in rank(about, words, BEST) if _usable(entry))] if about else first
    return lines.fitting(list({entry.path: entry for entry in wanted}.values()), budget)


def _usable(entry: Entry) -> bool:
    return entry.broken is None and entry.state != ARCHIVED


def _named(entries: Iterable[Entry], names: Collection[str]) -> list[Entry]:
    """The entries of some names, in the order of the names."""
    if not names:
        return []
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    bare = {name.rpartition("/")[2] for name in order}
    found = [entry for entry in entries if entry.name in bare and (entry.name in order or entry.identity in order)]
    last = len(order)
    return sorted(found, key=lambda entry: min(order.get(entry.name, last), order.get(entry.identity, last)))


class _Lines:
    """How skills and categories look in the prompt."""

    def __init__(self, entries: Sequence[Entry], categories: Mapping[str, str]) -> None:
        self.entries, self.categories = entries, categories
        self.times = Counter(map(attrgetter("name"), entries))

    def entry(self, entry: Entry) -> str:
        """A skill in one line; a name that two categories have is given with its category."""
        name = entry.identity if self.times[entry.name] > 1 else entry.name
        return f"- {name}: {prompt_line(entry.description, MAX_LINE)}"

    def heading(self, category: str) -> str:
        """A category in one line."""
        said = prompt_line(self.categories.get(category, ""), MAX_HEADING)
        return f"{prompt_line(category, MAX_HEADING)}: {said}".rstrip() if said else f"{category}:"

    def render(self, entries: Iterable[Entry]) -> str:
        """Skills below their categories."""
        lines = list[str]()
        for category, group in groupby(entries, key=_category):
            lines += [self.heading(category), *(self.entry(entry) for entry in group)]
        return "\n".join(lines)

    def taken(self, entries: Iterable[Entry], room: int) -> list[Entry]:
        """The entries, in their order, up to the first that no longer fits with the heading it needs."""
        kept, headed = list[Entry](), set[str]()
        for entry in entries:
            heading = 0 if entry.category in headed else _size(self.heading(entry.category))
            room -= _size(self.entry(entry)) + heading
            if room < -1:
                break
            headed.add(entry.category)
            kept.append(entry)
        return kept

    def fitting(self, wanted: Sequence[Entry], budget: int) -> str:
        """As many of the wanted skills as fit, in the order they are wanted, and how many more there are where."""
        kept = self.taken(wanted, budget - budget // REST_SHARE)
        shown = self.render(sorted(kept, key=_order))
        rest = self.rest(kept, budget - len(shown.encode()) - 1)
        return f"{shown}\n{rest}" if shown else rest

    def rest(self, shown: Iterable[Entry], room: int) -> str:
        """One line about what is not shown: the largest categories with their counts, and how to find the rest."""
        counts = Counter(map(_category, self.entries)) - Counter(map(_category, shown))
        head, tail = f"{counts.total():,} more skills, found with skills_list(query):", ""
        for at, (category, count) in enumerate(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))):
            more = f" {category} {count:,},"
            left = f" and {len(counts) - at} more categories"
            if len(head.encode()) + _size(more) + len(left) > room:
                tail = left
                break
            head += more
        return head.rstrip(",") + tail


def _size(line: str) -> int:
    return len(line.encode()) + 1
