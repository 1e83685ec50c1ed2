"""What is asked of a person while a run waits, and how an answer is understood.  No input or output here."""

from collections.abc import Mapping
from dataclasses import dataclass

from assistant.client.text import clean, one_line, spelled
from assistant.core.events import ApprovalRequested, ApprovalResolved, Decision, Event, QuestionAnswered, QuestionAsked

Asked = ApprovalRequested | QuestionAsked
SAID: Mapping[Decision, str] = {
    "once": "o once y yes",
    "session": "s session",
    "always": "a always",
    "deny": "d deny n no",
}
WORDS = {word: decision for decision, words in SAID.items() for word in words.split()}
LABELS: Mapping[str, str] = {"once": "once", "session": "this session", "always": "always", "deny": "deny (why …)"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the person decided, and why if they said so."""

    decision: Decision
    feedback: str = ""


def number_of(event: Event) -> str:
    """The id of what an event asks or settles; empty for other events."""
    match event:
        case ApprovalRequested(number) | ApprovalResolved(number) | QuestionAsked(number) | QuestionAnswered(number):
            return number
        case _:
            return ""


def choices_of(request: ApprovalRequested) -> tuple[Decision, ...]:
    """What may be chosen, in the order of its numbers."""
    known: tuple[Decision, ...] = ("once", "session", "always", "deny")
    return tuple(choice for choice in known if choice in request.choices) or ("once", "deny")


def request_words(request: ApprovalRequested) -> tuple[str, str, str]:
    """The request, whole: who asks, the exact command, the reason for asking and what a grant would cover."""
    covers = f"\nA lasting yes covers: {one_line(request.rule)}" if request.rule else ""
    why = f"Asked because: {one_line(request.why)}{covers}"
    return f"{one_line(request.tool)} wants to run", spelled(request.arguments), why


def request_prompt(request: ApprovalRequested) -> str:
    """The choices in one line; numbers work on every keyboard."""
    return "  ".join(f"{number} {LABELS[choice]}" for number, choice in enumerate(choices_of(request), 1))


def understand(request: ApprovalRequested, said: str) -> Verdict | None:
    """The verdict in what was typed, if there is one: a number, a word or its first letter, a reason after a no."""
    word, _, reason = said.strip().partition(" ")
    choices = choices_of(request)
    decision = choices[int(word) - 1] if _is_number(word, len(choices)) else WORDS.get(word.lower())
    if decision not in choices or (reason.strip() and decision != "deny"):
        return None
    return Verdict(decision, reason.strip())


def misunderstood(request: ApprovalRequested) -> str:
    """What to say when an answer was none."""
    *others, last = choices_of(request)
    return f"please answer {', '.join(others)} or {last} (or its number)"


def question_lines(question: QuestionAsked) -> list[str]:
    """The question and its numbered choices."""
    choices = [f"  {number} {one_line(choice)}" for number, choice in enumerate(question.choices, 1)]
    return [*clean(question.text).strip().split("\n"), *choices]


def question_prompt(question: QuestionAsked) -> str:
    """How a question may be answered."""
    return "a number, or your own words" if question.choices else "your answer"


def chosen(question: QuestionAsked, said: str) -> str:
    """The answer in what was typed: a choice by its number, anything else as it is."""
    word = said.strip()
    return question.choices[int(word) - 1] if _is_number(word, len(question.choices)) else word


def _is_number(word: str, most: int) -> bool:
    return word.isascii() and word.isdecimal() and 1 <= int(word) <= most
