"""The stream that `git fast-import` reads: commits as bytes, with the clock and the author handed in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from skills_store.change import Change
from skills_store.files import OnDisk
from skills_store.story import HAND, MAIL_DOMAIN, message, person_of, skill_of
from skills_store.values import Actor, Cause

APPLYING = "refs/assistant/applying"
COMMITTER = f"assistant <assistant@{MAIL_DOMAIN}>"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a commit: its bytes, or the hash of bytes that git has already; neither means the file goes."""

    path: str
    data: bytes | None = None
    mode: str = "100644"
    blob: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A commit to be written."""

    message: str
    author: str
    entries: tuple[Entry, ...]
    merged: str = ""
    """A second parent."""


def draft_of(change: Change) -> Draft:
    """A change as a commit to be written."""
    entries = tuple(
        Entry(edit.path, edit.after, "100755" if (edit.mode or 0) & 0o100 else "100644") for edit in change.edits
    )
    return Draft(message(change), person_of(change.cause.actor.value), entries)


def by_hand(outside: Mapping[str, OnDisk | None], actor: Actor) -> list[Draft]:
    """What was edited outside the store, one commit for each skill or top folder."""
    groups: dict[str, list[Entry]] = {}
    for path, found in sorted(outside.items()):
        entry = Entry(path) if found is None else Entry(path, found.data, found.git_mode)
        groups.setdefault(skill_of((path,)), []).append(entry)
    return [hand_draft(skill, tuple(entries), actor) for skill, entries in groups.items()]


def hand_draft(skill: str, entries: tuple[Entry, ...], actor: Actor) -> Draft:
    """One commit of edits made outside."""
    category, _, name = skill.rpartition("/")
    subject = "by hand" if actor is Actor.YOU else "changed while a command ran"
    change = Change(name or entries[0].path, category, HAND, (), Cause(actor), subject=subject)
    return Draft(message(change), person_of(actor.value), entries)


def build(drafts: Sequence[Draft], parent: str, when: datetime, ref: str = APPLYING) -> bytes:
    """The commits one on another, the first on `parent` (empty: the first of all); answers each one's id in order."""
    parts: list[bytes] = [b"feature done\n"]
    stamp = f"{int(when.timestamp())} +0000"
    for number, draft in enumerate(drafts, 1):
        text = draft.message.encode("utf-8", "surrogateescape")
        parts.append(f"commit {ref}\nmark :{number}\n".encode())
        parts.append(f"author {draft.author} {stamp}\ncommitter {COMMITTER} {stamp}\n".encode())
        parts.append(b"data %d\n%s\n" % (len(text), text))
        if number == 1 and parent:
            parts.append(f"from {parent}\n".encode())
        if draft.merged:
            parts.append(f"merge {draft.merged}\n".encode())
        parts.extend(line for entry in draft.entries for line in described(entry))
    parts.extend(f"get-mark :{number}\n".encode() for number in range(1, len(drafts) + 1))
    parts.append(b"done\n")
    return b"".join(parts)


def described(entry: Entry) -> Iterable[bytes]:
    """One file's lines in the stream."""
    name = quoted(entry.path)
    if entry.blob:
        yield b"M %s %s %s\n" % (entry.mode.encode(), entry.blob.encode(), name)
    elif entry.data is None:
        yield b"D %s\n" % name
    else:
        yield b"M %s inline %s\ndata %d\n%s\n" % (entry.mode.encode(), name, len(entry.data), entry.data)


def quoted(path: str) -> bytes:
    """A path as the stream wants it, whatever is in its name."""
    raw = path.encode("utf-8", "surrogateescape")
    return b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
