"""The chat's commands: the same as those of the shell, and a few that need the conversation."""

import io
import shlex
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from assistant.cli.attach import Attached
from assistant.cli.given import Given
from assistant.cli.reviews import undone
from assistant.cli.run import run, sentence
from assistant.cli.show import Streams
from assistant.cli.skill_changes import MARKS
from assistant.errors import NotFound, PersonMustAct
from assistant.runtime.compaction import by_hand
from assistant.runtime.inbox import landed
from skills_store.errors import StoreError
from skills_store.story import Commit
from skills_store.values import Actor, Cause

if TYPE_CHECKING:
    from assistant.client.face import Place
    from assistant.client.slash import Command

CHAPTERS: Mapping[str, tuple[str, ...]] = {
    "sessions": ("list", "show", "search", "rename", "fork", "export"),
    "skills": ("list", "show", "search", "log", "diff", "why", "undo", "validate", *MARKS, "pin"),
    "memory": ("show", "log", "undo"),
    "inbox": ("list", "show", "approve", "reject"),
    "reviews": ("list", "show", "undo"),
}
"""What may follow these words in the chat; without a word the first is meant."""
HELP = {
    "sessions": "earlier conversations; with an id: go on with that one",
    "skills": "what it has learned to do; with a name: show it",
    "memory": "what it remembers",
    "inbox": "what waits for you; /inbox approve ID",
    "reviews": "what looking back has kept",
    "todo": "the plan of this conversation",
    "review": "look back now, at something if you say what",
    "undo": "the newest thing it learned, shown; then taken back",
    "compact": "shorten the older part of this conversation, with a focus if you like",
    "model": "who answers; with a name: somebody else at the same address",
}
LEARNERS = (Actor.REVIEW, Actor.CURATOR, Actor.ASSISTANT)
MARGIN = 4


def commands_for(given: Given, at: Attached, place: "Place") -> "Mapping[str, Command]":
    """Every command of the chat by its name."""
    from assistant.client.slash import Command

    own: dict[str, Callable[[str], str]] = {
        **{chapter: partial(told, given, chapter) for chapter in CHAPTERS},
        "sessions": partial(sessions, given, at, place),
        "todo": lambda _: todo(at, place),
        "review": partial(review, at, place),
        "undo": partial(undo, at),
        "compact": partial(compact, at, place),
        "model": partial(model, at, place),
    }
    known = ("model",) if at.distant else HELP
    return {name: Command(name, HELP[name], partial(safely, own[name])) for name in known}


def safely(run: Callable[[str], str], argument: str) -> str:
    """A refusal of the store in the chat's words."""
    try:
        return run(argument)
    except StoreError as fault:
        raise PersonMustAct(sentence(fault)) from None


def told(given: Given, chapter: str, argument: str) -> str:
    """What the shell's command of the same words would print."""
    words = split(argument) or [CHAPTERS[chapter][0]]
    if words[0] not in CHAPTERS[chapter] and "show" in CHAPTERS[chapter] and chapter != "memory":
        words = ["show", *words]
    out, notes = io.StringIO(), io.StringIO()
    width = min(get_terminal_size().columns, 100) - MARGIN
    run([chapter, *words], replace(given, streams=Streams(out, notes), width=width))
    shown = out.getvalue().rstrip()
    if shown and words[0] != "show":
        shown = fenced(shown) if words[0] == "diff" else textwrap.indent(shown, "    ")
    return "\n\n".join(part for part in (shown, notes.getvalue().strip()) if part)


def fenced(diff: str) -> str:
    """A difference as Markdown."""
    return f"~~~~~~diff\n{diff.rstrip()}\n~~~~~~"


def split(argument: str) -> list[str]:
    """Words, with quotes as in the shell."""
    try:
        return shlex.split(argument)
    except ValueError as fault:
        raise PersonMustAct(f"{argument!r}: {fault}") from None


def sessions(given: Given, at: Attached, place: "Place", argument: str) -> str:
    """Go to another conversation, or what the shell would say."""
    words = split(argument)
    if len(words) != 1 or words[0] in CHAPTERS["sessions"]:
        return told(given, "sessions", argument)
    if place.run_id:
        raise PersonMustAct("a turn is running; /stop ends it, then try again")
    found = at.assembly.sessions.show(words[0])
    place.session_id = found.id
    return f"going on with {found.title or found.id!r}, {found.messages} messages"


def todo(at: Attached, place: "Place") -> str:
    """The plan as a list."""
    marks = {"completed": "[x]", "cancelled": "[-]", "in_progress": "[>]"}
    items = at.assembly.parts.ledger.read(place.session_id)
    lines = [f"{marks.get(item.get('status', ''), '[ ]')} {item.get('content', '')}" for item in items]
    return "```\n" + "\n".join(lines) + "\n```" if lines else "there is no plan in this conversation"


def review(at: Attached, place: "Place", focus: str) -> str:
    """Look back now; what came of it."""
    row = at.review(begun(place), focus)
    return str(row["line"]) or f"review: {row['outcome']}; `/reviews {row['run_id']}` shows it"


def undo(at: Attached, argument: str) -> str:
    """Show the newest thing learned; with its commit, take it back."""
    if argument:
        return landed(undone(at.assembly, argument, Cause(Actor.YOU)))
    skills, memories = at.assembly.library.log(limit=200), at.assembly.memory.log(limit=200)
    newest = last_learned(sorted([*skills, *memories], key=lambda commit: commit.when, reverse=True))
    diff = (at.assembly.library if newest in skills else at.assembly.memory).diff(newest.commit)
    return f"{newest.subject}\n\n{fenced(diff)}\n\n`/undo {newest.commit[:10]}` takes it back"


def last_learned(commits: list[Commit]) -> Commit:
    """The newest change that was learned and not taken back yet, newest first."""
    gone: list[str] = []
    for commit in commits:
        if commit.action == "undo":
            gone.append(commit.trailers.get("Undoes") or commit.subject.partition(": ")[2].partition(" ")[0])
        elif commit.actor in LEARNERS and not any(commit.commit.startswith(known) for known in gone if known):
            return commit
    raise NotFound("nothing was learned yet")


def compact(at: Attached, place: "Place", focus: str) -> str:
    """Shorten the conversation now."""
    done = by_hand(at.assembly.parts, begun(place), focus, place.model, at.executor)
    if done is None:
        return "there is nothing to shorten: the newest message of yours always stays whole"
    return f"earlier messages summarised: {done.before:,} → {done.after:,} tokens; all of them stay in `/sessions show`"


def model(at: Attached, place: "Place", name: str) -> str:
    """Who answers, or somebody else from now on."""
    wanted = name or place.model
    answers = wanted or "the server's model" if at.distant else at.assembly.parts.models(wanted).name
    place.model = wanted
    return f"{answers} answers{' from your next message on' if name else ''}"


def begun(place: "Place") -> str:
    """The session, which must have begun."""
    if not place.session_id:
        raise PersonMustAct("this conversation has not begun yet")
    return place.session_id
