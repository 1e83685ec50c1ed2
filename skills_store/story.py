"""The story of a commit: written as subject, reason and trailers, and read back from them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from skills_store.change import Change
from skills_store.values import Actor, Cause, Evidence, Origin

MAIL_DOMAIN = "assistant.localhost"
HAND = "hand"
"""The action of a commit that records what was edited outside the store."""
VERBS = frozenset(
    ["archive", "restore", "rename", "merge", "undo", "pin", "unpin", "adopt", "release", "delete", "import", "seed"]
)
ENTRY, FIELD = "\x1e\x1d\x1e", "\x1f\x1d\x1f"
LOG_FORMAT = ENTRY + FIELD.join(("%H", "%P", "%aI", "%an", "%ae", "%B", ""))
"""Read by `read_log`, with or without `--raw -z --no-abbrev --no-renames`."""
NOTHING = "0" * 40
RAW = re.compile(
    r":\d{6} (?P<mode>\d{6}) (?P<before>[0-9a-f]{40}) (?P<after>[0-9a-f]{40}) [A-Z]\d*\0(?P<path>[^\0]+)\0"
)
TRAILER = re.compile(r"^([A-Z][A-Za-z-]*): (.*)$")


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a commit changed: the hashes of its bytes before and after (None: absent), and its mode in git."""

    path: str
    before: str | None
    after: str | None
    mode: str = "100644"


@dataclass(frozen=True, slots=True)
class Commit:
    """One entry of the history."""

    commit: str
    when: datetime
    actor: str
    action: str
    name: str
    subject: str
    why: str = ""
    session: str = ""
    run: str = ""
    evidence: tuple[int, ...] = ()
    origin: str = ""
    owner: str = ""
    call: str = ""
    touched: "tuple[Touched, ...]" = ()
    trailers: Mapping[str, str] = field(default_factory=dict)
    parent: str = ""
    author: str = ""
    text: str = field(default="", repr=False)
    """The message as git has it."""
    warnings: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the commit changed."""
        return tuple(item.path for item in self.touched)


def person_of(actor: str) -> str:
    """An actor as git names an author."""
    return f"{actor} <{actor}@{MAIL_DOMAIN}>"


def actor_of(name: str, mail: str) -> str:
    """Who wrote, by author; whoever uses plain git is the person."""
    known = mail == f"{name}@{MAIL_DOMAIN}" and name in set(Actor)
    return name if known else Actor.YOU.value


def commit_of(sha: str, text: str, author: str, when: datetime, touched: tuple[Touched, ...] = ()) -> Commit:
    """A commit just written, as the log would tell it."""
    name = author.partition(" <")[0]
    head = FIELD.join((sha, "", when.replace(microsecond=0).isoformat(), name, f"{name}@{MAIL_DOMAIN}", text, ""))
    return replace(read_entry(head), touched=touched)


def verb(action: str, actor: Actor) -> str:
    """The first word of a subject."""
    if action in VERBS:
        return action
    return "edit" if actor in (Actor.YOU, Actor.UNKNOWN, Actor.SEED) else "learn"


def message(change: Change) -> str:
    """The whole commit message of a change."""
    cause = change.cause
    subject = f"{verb(change.action, cause.actor)}({change.name}): {one_line(change.subject or change.action)}"
    body = "".join(map(plain, cause.why)).strip()
    return "\n\n".join(part for part in (subject, body, "\n".join(trailers(change))) if part) + "\n"


def plain(char: str) -> str:
    """A character as a message may hold it: odd blanks become blanks, what cannot be seen goes."""
    if char in "\n\t" or char.isprintable():
        return char
    return " " if char.isspace() else ""


def trailers(change: Change) -> list[str]:
    """The trailers of a change; Actor is always there, so that they are always the last paragraph."""
    cause = change.cause
    told = [
        ("Actor", cause.actor.value),
        ("Owner", change.owner.value),
        ("Action", change.action),
        ("Skill", f"{change.category}/{change.name}" if change.category else change.name),
        ("Session", cause.session),
        ("Run", cause.run),
        ("Call", cause.call),
        ("Evidence", " ".join(str(number) for number in dict.fromkeys(item.message for item in cause.evidence))),
        ("Origin", cause.origin.value if cause.evidence or cause.heard is not Origin.OWN else ""),
        *change.extra,
    ]
    return [f"{key}: {one_line(value)}" for key, value in told if value]


def one_line(text: str) -> str:
    """The text without line breaks or control characters."""
    return " ".join("".join(" " if ord(char) < 32 else char for char in text).split())


def read_log(output: bytes) -> tuple[Commit, ...]:
    """The commits of a log written with LOG_FORMAT, with or without names of files."""
    text = output.decode("utf-8", "surrogateescape")
    return tuple(read_entry(entry) for entry in text.split(ENTRY)[1:])


def read_entry(entry: str) -> Commit:
    """One commit; what plain git wrote has no trailers and is the person's."""
    commit, parents, when, author, mail, body, rest = entry.split(FIELD, 6)
    touched = read_raw(rest)
    subject, why, known = split_message(body)
    category_name = known.get("Skill", "") or skill_of(tuple(item.path for item in touched))
    return Commit(
        commit=commit,
        when=datetime.fromisoformat(when).astimezone(UTC),
        actor=actor_of(author, mail),
        action=known.get("Action", HAND),
        name=category_name.rpartition("/")[2],
        subject=subject,
        why=why,
        session=known.get("Session", ""),
        run=known.get("Run", ""),
        evidence=tuple(int(item) for item in known.get("Evidence", "").split() if item.isdecimal()),
        origin=known.get("Origin", ""),
        owner=known.get("Owner", ""),
        call=known.get("Call", ""),
        touched=touched,
        trailers=known,
        parent=parents.partition(" ")[0],
        author=f"{author} <{mail}>",
        text=body,
    )


def read_raw(text: str) -> tuple[Touched, ...]:
    """The files in git's raw form of a difference."""
    return tuple(
        Touched(
            path=found["path"],
            before=None if found["before"] == NOTHING else found["before"],
            after=None if found["after"] == NOTHING else found["after"],
            mode=found["mode"],
        )
        for found in RAW.finditer(text)
    )


def split_message(text: str) -> tuple[str, str, dict[str, str]]:
    """Subject, reason and trailers of a message; a last paragraph without Actor is no trailer block."""
    subject, _, body = text.strip().partition("\n")
    head, _, last = body.strip().rpartition("\n\n")
    found = {match[1]: match[2] for line in last.splitlines() if (match := TRAILER.match(line))}
    return (subject, head.strip(), found) if "Actor" in found else (subject, body.strip(), {})


def skill_of(paths: tuple[str, ...]) -> str:
    """`category/name` of the skill that the paths lie in, if they lie in one."""
    folders = {"/".join(parts[:2]) for path in paths if len(parts := path.removeprefix(".archive/").split("/")) > 2}
    return folders.pop() if len(folders) == 1 else ""


def change_from(commit: Commit) -> Cause:
    """The cause that a commit tells of, without the quotes, which only the database has."""
    actor = Actor(commit.actor)
    told = tuple(Evidence(message, "", origin_of(commit)) for message in commit.evidence)
    return Cause(actor, commit.why, commit.session, commit.run, commit.call, told, origin_of(commit))


def origin_of(commit: Commit) -> Origin:
    """Where the lesson came from, as the commit tells it."""
    return Origin(commit.origin) if commit.origin in set(Origin) else Origin.OWN
