"""After a turn: is a review due, what is the reviewer given, is its evidence true, what came of it.

Pure policy: values go in, values come out.  Who runs the review, and on which rows, is `assistant.runtime`'s matter.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import prompts
from skills_store.values import Evidence, Origin

RIGHTS = frozenset({"skills_list", "skill_view", "skill_manage", "memory", "session_search"})
"""All that a reviewer may call."""
SHORTEST_QUOTE = 4
"""A quote is at least so long, or it is a whole message."""
DIGEST_LINE = 300
"""Characters that a digest keeps of an older message."""


# --- when -------------------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What a review looks for; also the name of its prompt."""

    MEMORY = "memory"
    SKILLS = "skills"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Counters:
    """What a session has done since it was last looked back at."""

    steps_since_skill: int = 0
    turns_since_memory: int = 0


@dataclass(frozen=True, slots=True)
class Intervals:
    """After how many steps, and how many turns, a review is due; 0 or less: never."""

    skills: int = 10
    memory: int = 10


def due(counters: Counters, intervals: Intervals, *, answered: bool, interrupted: bool, job: bool) -> Kind | None:
    """The review that the end of this turn makes due, if any."""
    if interrupted or job or not answered:
        return None
    return both_or_one(
        memory=reached(counters.turns_since_memory, intervals.memory),
        skills=reached(counters.steps_since_skill, intervals.skills),
    )


def reached(count: int, interval: int) -> bool:
    """Whether a counter has come to its interval."""
    return 0 < interval <= count


def both_or_one(*, memory: bool, skills: bool) -> Kind | None:
    """The kind that covers what is wanted."""
    if memory and skills:
        return Kind.BOTH
    if memory:
        return Kind.MEMORY
    return Kind.SKILLS if skills else None


def after(counters: Counters, kind: Kind | None) -> Counters:
    """The counters once a review is queued: only what it covers starts anew."""
    return replace(
        counters,
        steps_since_skill=counters.steps_since_skill if kind in (None, Kind.MEMORY) else 0,
        turns_since_memory=counters.turns_since_memory if kind in (None, Kind.SKILLS) else 0,
    )


def joined(waiting: Kind, new: Kind) -> Kind:
    """One review instead of two: what a waiting one becomes when another falls due."""
    return waiting if waiting is new else Kind.BOTH


# --- what the reviewer is given ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the session as the policy sees it: the text as shown, not as sent."""

    role: str
    """user, assistant or tool"""
    text: str
    tools: tuple[str, ...] = ()
    """Names of the tools that a reply calls."""
    number: int = 0
    origin: Origin = Origin.OWN


def request(kind: Kind, focus: str = "") -> str:
    """The message that asks for a review; `focus` is what the person wants it to look at."""
    return prompts.render(f"review/{kind}", focus=focus)


@dataclass(frozen=True, slots=True)
class Digest:
    """A conversation for a reviewer on another model: `text` stands for all before message number `whole_from`."""

    text: str
    """Words of a user message; empty when every message is kept whole."""
    whole_from: int
    """Position of the first message that is kept whole; never a tool's."""


def digest(messages: Sequence[Said], keep: int = 24) -> Digest:
    """The newest messages whole, older ones as one-line beginnings, word for word."""
    start = max(0, len(messages) - keep)
    while 0 < start < len(messages) and messages[start].role == "tool":
        start -= 1
    lines = [one_line(message) for message in messages[:start] if message.role != "tool"]
    return Digest(prompts.render("digest", lines=lines) if start else "", start)


def one_line(message: Said) -> str:
    """Who spoke, which tools they called, and how the text begins."""
    called = f" [{', '.join(message.tools)}]" if message.tools else ""
    begun = " ".join(message.text.split())
    return f"{message.role}{called}: {begun[:DIGEST_LINE]}{'…' if len(begun) > DIGEST_LINE else ''}".rstrip()


# --- evidence ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """Every quote stands in the session: where each stood first."""

    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """No true quote, no change: the quotes that are not evidence, and why in words for the model."""

    quotes: tuple[str, ...]
    why: str


def find_quotes(quotes: Sequence[str], messages: Sequence[Said]) -> Found | Missing:
    """Look each quote up in the session; where it stood first tells how far to believe it.

    Compared NFC and with white space collapsed.  The first place counts: what a web page said and somebody repeated
    later came from the web page, and what the person said stays theirs when the assistant repeats it.
    """
    if not quotes:
        return Missing((), "evidence is required: copy one to three short passages exactly from this conversation")
    texts = [plain(message.text) for message in messages]
    found = [evidence_for(quote, messages, texts) for quote in quotes]
    missing = tuple(quote for quote, item in zip(quotes, found, strict=True) if item is None)
    if missing:
        return Missing(missing, complaint(missing))
    return Found(tuple(item for item in found if item))


def evidence_for(quote: str, messages: Sequence[Said], texts: Sequence[str]) -> Evidence | None:
    """The first message that contains the quote; a very short quote has to be the whole of it."""
    wanted = plain(quote)
    if not wanted:
        return None
    short = len(wanted) < SHORTEST_QUOTE
    for message, text in zip(messages, texts, strict=True):
        if (wanted == text) if short else (wanted in text):
            return Evidence(message.number, quote, message.origin)
    return None


def plain(text: str) -> str:
    """A text as quotes are compared: NFC, runs of white space as one blank."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def complaint(missing: Sequence[str]) -> str:
    """Which quotes are no evidence, in words that the model can act on."""
    named = "; ".join(repr(quote if len(quote) <= 80 else quote[:80] + "…") for quote in missing)
    return (
        f"not found word for word in this conversation: {named}. Copy a passage of {SHORTEST_QUOTE} characters or more "
        "(or a whole message) exactly, without joining, shortening or translating it"
    )


# --- what came of it --------------------------------------------------------------------------------------------------


class Result(StrEnum):
    """How a review ended, in one word."""

    SAVED = "saved"
    STAGED = "staged"
    REFUSED = "refused"
    NOTHING = "nothing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Deed:
    """One change that a review made, staged or was refused."""

    name: str
    """The skill, or `MEMORY.md`, `USER.md`."""
    action: str = ""
    commit: str = ""
    why: str = ""
    """Why it was staged or refused."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that came of a review."""

    result: Result
    saved: tuple[Deed, ...] = ()
    staged: tuple[Deed, ...] = ()
    refused: tuple[Deed, ...] = ()
    failed: str = ""
    """Why the review broke off, if it did; what it had saved before is kept."""

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits it made, in order."""
        return tuple(deed.commit for deed in self.saved if deed.commit)


def outcome(
    applied: Sequence[Deed] = (), staged: Sequence[Deed] = (), refused: Sequence[Deed] = (), failed: str = ""
) -> Outcome:
    """Sum a review up; a refusal that was put right by a later change of the same name does not count."""
    landed = {deed.name for deed in (*applied, *staged)}
    open_refusals = tuple(deed for deed in refused if deed.name not in landed)
    weight = (
        (Result.SAVED, applied),
        (Result.STAGED, staged),
        (Result.FAILED, failed),
        (Result.REFUSED, open_refusals),
    )
    result = next((result for result, what in weight if what), Result.NOTHING)
    return Outcome(result, tuple(applied), tuple(staged), open_refusals, failed)


def line(result: Outcome) -> str | None:
    """What the person is told, in one line; None when there is nothing to tell."""
    said = []
    if result.saved:
        said.append(f"saved {names(result.saved)}")
    if result.staged:
        said.append(f"waiting for your approval: {names(result.staged)} (assistant inbox list)")
    if full := [deed for deed in result.refused if "the limit is" in deed.why]:
        said.append(f"no room left in {names(full)}")
    if result.failed:
        said.append(f"broke off: {' '.join(result.failed.split())}")
    return f"review: {'; '.join(said)}" if said else None


def names(deeds: Sequence[Deed]) -> str:
    """Each name once, in the order of first mention."""
    return ", ".join(dict.fromkeys(deed.name for deed in deeds))
