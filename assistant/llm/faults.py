"""What goes wrong at a provider, sorted by who must act and whether asking again may help.  Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from assistant.errors import AssistantError, PersonMustAct, TryLater

LONGEST_WAIT = 600.0
"""Seconds that a run waits for a provider; what takes longer is told to the person at once."""
SETUP = "run `assistant setup`, or correct `model` in config.yaml"


class Passing(TryLater):
    """Raised inside this package when another attempt may succeed; `Retrying` decides."""

    def __init__(self, message: str, wait: float = 0.0, tries: int = 5, act: bool = False) -> None:
        super().__init__(message, wait)
        self.tries = tries
        """Attempts in all, this one counted."""
        self.act = act
        """Once they are spent a person must act."""


class QuotaSpent(TryLater):
    """Raised when the provider serves nothing until a day or an amount is reset."""


class Unreachable(PersonMustAct):
    """Raised when nothing that speaks our language answers at the address."""


class TooLong(PersonMustAct):
    """Raised when the conversation does not fit the model's context window."""


@dataclass(frozen=True, slots=True)
class Where:
    """Whom we asked."""

    model: str
    url: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A response that is no reply: its status, the provider's words, and how long it wants us to wait."""

    status: int
    words: str
    code: str = ""
    wait: float | None = None


def explain(refusal: Refusal, where: Where) -> AssistantError:
    """The fault behind a refusal, as a sentence for whoever must act."""
    said = (
        f"{where.url} said {refusal.status}: {refusal.words}" if refusal.words else f"{where.url} said {refusal.status}"
    )
    if too_long(refusal):
        return TooLong(f"The conversation is too long for {where.model}. {said}")
    if refusal.status == 429:
        return throttled(refusal, said)
    if refusal.status >= 500 or refusal.status in (408, 409, 425):
        return Passing(f"The provider has a fault. {said}", refusal.wait or 0.0)
    advice = ADVICE.get(refusal.status, f"The provider refused the request for {where.model}; {SETUP}.")
    return PersonMustAct(f"{advice.format(model=where.model, url=where.url)} {said}")


ADVICE = {
    401: f"The API key was not accepted: put a valid one into the home's .env; or {SETUP}.",
    402: "The provider wants to be paid: add credit there, or choose another model with `assistant setup`.",
    403: f"This API key may not use {{model}}: check its rights at the provider; or {SETUP}.",
    404: f"Model {{model!r}} or the address {{url}} is unknown there: check both; {SETUP}.",
    405: f"{{url}} does not take chat requests, so the address is wrong; {SETUP}.",
}
SPENT = re.compile(
    r"quota|usage limit|billing|credit|\b(?:daily|weekly|monthly|\d+.hour)\b.{0,40}limit|limit.{0,60}resets? (?:on|at)",
    re.I,
)
OVERFLOW = re.compile(
    r"context.{0,3}(?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens",
    re.I,
)
OUTPUT_CAP = re.compile(r"max_tokens|max_completion_tokens|output", re.I)
AGAIN_IN = re.compile(
    r"(?:again|retry|wait|resets?) (?:in|after) (?:(\d+)h)? ?(?:(\d+)m(?!s))? ?(?:([\d.]+) ?(ms|s))?", re.I
)


def too_long(refusal: Refusal) -> bool:
    """Whether it complains about the input's length; a complaint about the output's is another matter."""
    if refusal.status == 413 or refusal.code in ("context_length_exceeded", "exceed_context_size_error"):
        return True
    return (
        refusal.status in (400, 422)
        and bool(OVERFLOW.search(refusal.words))
        and not (OUTPUT_CAP.search(refusal.words) and "prompt" not in refusal.words)
    )


def throttled(refusal: Refusal, said: str) -> AssistantError:
    """Short throttle or used-up quota: a stated wait decides, then the words."""
    wait = refusal.wait if refusal.wait is not None else stated_wait(refusal.words)
    spent = refusal.code == "insufficient_quota" or (wait is None and SPENT.search(refusal.words))
    if spent or (wait or 0.0) > LONGEST_WAIT:
        until = f" It asks to wait {round(wait / 60)} minutes." if wait else ""
        return QuotaSpent(
            f"The provider's quota is used up; wait until it is reset, or use another model.{until} {said}", wait or 0.0
        )
    return Passing(f"The provider is busy. {said}", wait or 0.0)


def stated_wait(words: str) -> float | None:
    """Seconds from words like "try again in 1m20.5s"; None without them."""
    found = AGAIN_IN.search(words)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, rest, unit = found.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(rest or 0) / (1000 if unit == "ms" else 1)


def retry_after(headers: Mapping[str, str], now: Callable[[], datetime]) -> float | None:
    """The wait that the response's headers ask for, given in milliseconds, in seconds or as a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d+(?:\.\d+)?", value):
            return float(value) / unit
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (when - now()).total_seconds()) if when.tzinfo else None


def words_of(body: Any, secret: str = "") -> tuple[str, str]:
    """What an error body says and its code; a page of HTML only counts as one, and a key is never repeated."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    code, words = "", error
    if isinstance(error, Mapping):
        code = str(error.get("code") or error.get("type") or "")
        words = error.get("message") or error.get("detail") or ""
        deeper = error.get("metadata")
        if isinstance(deeper, Mapping) and deeper.get("raw"):
            words = f"{words}: {deeper['raw']}"
    text = " ".join(str(words or "").split())
    if text.lower().startswith(("<!doctype", "<html")):
        text = "(a web page)"
    if secret:
        text = text.replace(secret, "…")
    return (text if len(text) <= 400 else text[:400] + "…"), code


def web_page(where: Where) -> Unreachable:
    """The address answers, but with a page for people."""
    return Unreachable(
        f"{where.url} answers with a web page, so no model is there: check model.base_url (often it ends in /v1)."
    )
