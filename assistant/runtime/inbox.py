"""All that waits for the person, in one list: staged changes of skills and memory, approvals, questions."""

import json
from collections.abc import Callable, Mapping

from assistant.errors import Conflict, NotFound, PersonMustAct
from assistant.runtime.parts import Parts
from assistant.runtime.views import Object, staged_object, waiting_objects
from assistant.store import memory
from assistant.store.database import Row
from skills_store import outcome
from skills_store.errors import StoreError
from skills_store.outcome import Pending
from skills_store.story import Commit
from skills_store.values import Actor, Cause

KINDS = ("skill", "memory", "approval", "question")


def items(parts: Parts) -> list[Object]:
    """Everything that waits, oldest first, each with what it would do as `diff`."""
    staged = [staged_object("skill", item) | more(item) for item in parts.library.pending()]
    staged += [staged_object("memory", item) | more(item) for item in memory_pending(parts)]
    approvals, questions = parts.waiting.all_open()
    asked = waiting_objects(approvals, questions)
    texts = {row["id"]: row["arguments"] for row in approvals} | {row["id"]: question_text(row) for row in questions}
    return sorted(
        [*staged, *(item | {"run": item["run_id"], "diff": texts[item["id"]]} for item in asked)],
        key=lambda item: str(item["when"]),
    )


def item(parts: Parts, number: str) -> Object:
    """One thing that waits; NotFound."""
    for found in items(parts):
        if found["id"] == number:
            return found
    raise NotFound(f"nothing waits under the id {number!r}: `assistant inbox list` shows what does")


def approve(parts: Parts, number: str) -> str:
    """Say yes; what came of it in a sentence.  StoreError when a guard refuses it on today's files."""
    return decide(parts, item(parts, number), "once", "")


def reject(parts: Parts, number: str, reason: str) -> str:
    """Say no; the reason is remembered, and told to the run that asked."""
    return decide(parts, item(parts, number), "deny", reason)


def decide(parts: Parts, found: Object, decision: str, reason: str) -> str:
    """Answer one item after its kind."""
    answers: Mapping[str, Callable[[], str]] = {
        "skill": lambda: decide_skill(parts, found["id"], decision, reason),
        "memory": lambda: decide_memory(parts, found["id"], decision, reason),
        "approval": lambda: decide_call(parts, found, decision, reason),
        "question": lambda: decide_question(found),
    }
    return answers[found["kind"]]()


def decide_skill(parts: Parts, number: str, decision: str, reason: str) -> str:
    """Land or turn down a change of a skill."""
    if decision == "deny":
        parts.library.reject(number, reason, Cause(Actor.YOU, reason))
        return f"{number} is rejected; the same proposal is not made again"
    return landed(parts.library.approve(number, Cause(Actor.YOU)))


def decide_memory(parts: Parts, number: str, decision: str, reason: str) -> str:
    """Land or turn down a change of memory."""
    if decision == "deny":
        parts.memory.reject(number, reason, Cause(Actor.YOU, reason))
        return f"{number} is rejected; the same proposal is not made again"
    return landed(parts.memory.approve(number))


def decide_call(parts: Parts, found: Object, decision: str, reason: str) -> str:
    """Answer a run that asks whether it may."""
    parts.waiting.decide(found["run"], "deny" if decision == "deny" else "once", found["id"], "you", reason)
    parts.bell.ring(f"desk:{found['run']}")
    return f"{found['name']} is {'denied' if decision == 'deny' else 'allowed once'}; run {found['run']} goes on"


def decide_question(found: Object) -> str:
    """A question wants words."""
    raise PersonMustAct(f"this is a question; answer it with: assistant runs answer {found['run']} TEXT")


def landed(result: outcome.Outcome | memory.Outcome) -> str:
    """What became of an approved change; a refusal is raised with its code."""
    match result:
        case outcome.Refused() | memory.Refused():
            raise StoreError(result.error, result.code, result.hint)
        case outcome.Staged() | memory.Staged():
            raise Conflict(f"it still waits, as {result.id}: {result.message}")
        case outcome.Applied():
            return f"{result.message} ({result.commit[:10]})"
        case memory.Applied():
            return f"{result.message} ({result.commit[:10]})" if result.commit else result.message


def memory_pending(parts: Parts) -> list[Pending]:
    """Staged changes of memory, in the form that those of skills have."""
    return [pending_of(parts, number, commit) for number, commit in parts.memory.pending()]


def pending_of(parts: Parts, number: str, commit: Commit) -> Pending:
    """One of them."""
    return Pending(
        id=number,
        name=commit.name,
        action=commit.action,
        actor=commit.actor,
        why=commit.why,
        when=commit.when,
        conflict=False,
        run=commit.run,
        session=commit.session,
        evidence=commit.evidence,
        diff=parts.memory.diff(commit.commit),
    )


def more(change: Pending) -> Object:
    """What `show` adds to the list's fields."""
    return {"run": change.run, "session": change.session, "evidence": list(change.evidence), "diff": change.diff}


def question_text(row: Row) -> str:
    """A question with its numbered choices."""
    choices = [f"{number}  {choice}" for number, choice in enumerate(json.loads(row["choices"]), 1)]
    return "\n".join([row["text"], *choices])
