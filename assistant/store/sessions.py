"""Sessions and their messages: an ordered list that only grows."""

import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assistant.core.messages import Call, Message
from assistant.errors import Conflict, NotFound
from assistant.store.database import Database, Row, Tx
from assistant.store.words import TABLE, indexed, literal, query
from skills_store.values import Origin

NEWEST_HITS = 2000
"""Ranking looks at this many of the newest hits, so that a common word costs no more than a rare one."""


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a conversation besides its messages."""

    id: str
    title: str
    created: str
    updated: str
    messages: int
    model: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was searched for."""

    session_id: str
    message_id: int
    when: str
    role: str
    excerpt: str
    title: str = ""
    origin: Origin = Origin.OWN


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a session's requests begin with, byte for byte, until compaction or an upgrade."""

    system: str
    tools: tuple[dict[str, Any], ...]
    key: str
    """What it was built from: the program's version and the model's abilities."""
    skills_seen: dict[str, str]
    """The skills that the session has been told of: name to description."""


class Sessions:
    """Reads and writes of sessions and messages."""

    def __init__(self, database: Database, ids: Callable[[str], str]) -> None:
        self.database = database
        self.ids = ids

    def exists(self, session_id: str) -> bool:
        """Whether there is such a session."""
        return self.database.one("SELECT 1 FROM sessions WHERE id = ?", (session_id,)) is not None

    def create(
        self, tx: Tx, model: str, instructions: str = "", workdir: str = "", *, parent: str = "", id: str = ""
    ) -> str:
        """A new, empty session; its id."""
        session_id, now = id or self.ids("ses"), self.database.now()
        tx.execute(
            "INSERT INTO sessions (id, model, instructions, workdir, parent, created, updated) VALUES (?,?,?,?,?,?,?)",
            (session_id, model, instructions, workdir, parent, now, now),
        )
        tx.execute("INSERT INTO counters (session_id) VALUES (?)", (session_id,))
        return session_id

    def row(self, session_id: str) -> Row:
        """The session's row; NotFound names the id."""
        row = self.database.one("SELECT * FROM sessions WHERE id = ?", (session_id,))
        if row is None:
            raise NotFound(f"there is no session {session_id!r}: `assistant sessions list` shows them")
        return row

    def newest(self, limit: int = 50, before: str = "") -> list[Session]:
        """Sessions, the last used first."""
        rows = self.database.all(
            "SELECT s.*, (SELECT count(*) FROM messages m WHERE m.session_id = s.id) AS messages FROM sessions s"
            " WHERE (? = '' OR updated < ?) ORDER BY updated DESC LIMIT ?",
            (before, before, limit),
        )
        return [session_of(row) for row in rows]

    def show(self, session_id: str) -> Session:
        """One session; NotFound."""
        self.row(session_id)
        row = self.database.one(
            "SELECT s.*, (SELECT count(*) FROM messages m WHERE m.session_id = s.id) AS messages FROM sessions s"
            " WHERE id = ?",
            (session_id,),
        )
        assert row is not None
        return session_of(row)

    def latest(self) -> str | None:
        """The session used last."""
        row = self.database.one("SELECT id FROM sessions ORDER BY updated DESC, rowid DESC LIMIT 1")
        return None if row is None else str(row["id"])

    def rename(self, session_id: str, title: str) -> None:
        """Give a session the person's own title; NotFound."""
        self.row(session_id)
        with self.database.writing() as tx:
            tx.execute("UPDATE sessions SET title = ?, named_by_person = 1 WHERE id = ?", (title.strip(), session_id))

    def delete(self, session_id: str) -> None:
        """Remove all of a session: messages, runs, events, quotes; NotFound, Conflict while a run of it lives."""
        self.row(session_id)
        with self.database.writing() as tx:
            alive = "SELECT id FROM runs WHERE session_id = ? AND finished IS NULL"
            living = tx.execute(alive, (session_id,)).fetchall()
            if living:
                named = ", ".join(row["id"] for row in living)
                raise Conflict(f"session {session_id} has runs that are not over ({named}): stop them first")
            runs = "SELECT id FROM runs WHERE session_id = ?"
            for row in tx.execute("SELECT id, text, role FROM messages WHERE session_id = ?", (session_id,)).fetchall():
                forget_words(tx, row)
            tx.execute(f"DELETE FROM messages WHERE session_id = ? OR run_id IN ({runs})", (session_id, session_id))
            for table in ("usage", "evidence", "grants"):
                tx.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
            tx.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

    def fork(self, session_id: str, before_message: int = 0) -> str:
        """A new session with the messages up to, not including, `before_message` (0: all); NotFound."""
        old = self.row(session_id)
        with self.database.writing() as tx:
            new = self.create(tx, old["model"], old["instructions"], old["workdir"], parent=session_id)
            tx.execute(
                "UPDATE sessions SET system=?, tools=?, prompt_key=?, skills_seen=?, title=? WHERE id=?",
                (old["system"], old["tools"], old["prompt_key"], old["skills_seen"], old["title"], new),
            )
            for message in whole_calls(self.messages(session_id, before=before_message)):
                self.add(tx, new, "", message)
            tx.execute(
                "INSERT INTO todos (session_id, items) SELECT ?, items FROM todos WHERE session_id = ?",
                (new, session_id),
            )
        return new

    def add(self, tx: Tx, session_id: str | None, run_id: str, message: Message) -> int:
        """Append a message; its number.  Without a session it belongs to its run alone and is never searched."""
        now = self.database.now()
        number = tx.execute(
            "INSERT INTO messages"
            " (session_id, run_id, role, text, sent, calls, answers, name, failed, origin, reasoning, at)"
            " VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                session_id,
                run_id,
                message.role,
                message.text,
                message.sent,
                json.dumps([asdict(call) for call in message.calls]) if message.calls else "",
                message.answers,
                message.name,
                int(message.failed),
                message.origin,
                message.reasoning,
                now,
            ),
        ).lastrowid
        assert number is not None
        if session_id is not None:
            if searched(message.role, message.text):
                tx.execute("INSERT INTO words (rowid, body) VALUES (?, ?)", (number, indexed(message.text)))
            tx.execute("UPDATE sessions SET updated = ? WHERE id = ?", (now, session_id))
        return number

    def put_away(self, tx: Tx, session_id: str, older: Sequence[Message], summary: Message, before: int) -> None:
        """Leave some messages out of requests; the summary stands for them, right before the message of that number.

        Its own number is the next free one; `place` is where it stands.
        """
        now = self.database.now()
        tx.executemany("UPDATE messages SET compacted = ? WHERE id = ?", [(now, message.number) for message in older])
        number = self.add(tx, session_id, "", summary)
        tx.execute("UPDATE messages SET place = ? WHERE id = ?", (before - 1, number))

    def messages(self, session_id: str, before: int = 0, as_of: str = "9") -> list[Message]:
        """What a session's next request holds: everything that compaction has not put away, oldest first.

        `before` leaves out that message and all after it; `as_of` does as if nothing had been put away since a time.
        """
        rows = self.database.all(
            "SELECT * FROM messages WHERE session_id = ? AND (compacted = '' OR compacted >= ?) AND (? = 0 OR id < ?)"
            " AND (at <= ? OR name != 'summary') ORDER BY coalesce(place, id), id",
            (session_id, as_of, before, before, as_of),
        )
        return [message_of(row) for row in rows]

    def transcript(self, session_id: str, after: int = 0, limit: int = -1) -> list[tuple[Message, str]]:
        """All that was ever said, with its time, as a person reads it."""
        self.row(session_id)
        rows = self.database.all(
            "SELECT * FROM messages WHERE session_id = ? AND id > ? AND name != 'summary' ORDER BY id LIMIT ?",
            (session_id, after, limit),
        )
        return [(message_of(row), str(row["at"])) for row in rows]

    def of_run(self, run_id: str) -> list[Message]:
        """The messages that belong to a run, oldest first."""
        return [
            message_of(row)
            for row in self.database.all("SELECT * FROM messages WHERE run_id = ? ORDER BY id", (run_id,))
        ]

    def prompt(self, session_id: str) -> Prompt | None:
        """The stored beginning of the session's requests, once it was built."""
        row = self.row(session_id)
        if not row["prompt_key"]:
            return None
        return Prompt(row["system"], tuple(json.loads(row["tools"])), row["prompt_key"], json.loads(row["skills_seen"]))

    def begun(self, tx: Tx, session_id: str, title: str, model: str, skills_seen: dict[str, str]) -> None:
        """A turn began: the first one gives the session its title; each knows the skills that it was told of."""
        tx.execute(
            "UPDATE sessions SET title = CASE WHEN title = '' THEN ? ELSE title END, model = ?, skills_seen = ?"
            " WHERE id = ?",
            (title, model, json.dumps(skills_seen, ensure_ascii=False), session_id),
        )

    def set_workdir(self, tx: Tx, session_id: str, folder: str) -> None:
        """The session's next command starts in this folder."""
        tx.execute("UPDATE sessions SET workdir = ? WHERE id = ?", (folder, session_id))

    def set_prompt(self, tx: Tx, session_id: str, prompt: Prompt) -> None:
        """Store the beginning of the session's requests."""
        tx.execute(
            "UPDATE sessions SET system = ?, tools = ?, prompt_key = ?, skills_seen = ? WHERE id = ?",
            (prompt.system, json.dumps(prompt.tools), prompt.key, json.dumps(prompt.skills_seen), session_id),
        )

    def rebuild_search(self) -> int:
        """Make the search index anew from the messages; how many it holds."""
        with self.database.writing() as tx:
            rows = tx.execute("SELECT id, role, text FROM messages WHERE session_id IS NOT NULL").fetchall()
            tx.execute("DROP TABLE IF EXISTS words")
            tx.execute(TABLE)
            kept = [(row["id"], indexed(row["text"])) for row in rows if searched(row["role"], row["text"])]
            tx.executemany("INSERT INTO words (rowid, body) VALUES (?, ?)", kept)
            return len(kept)

    def search(self, words: str, limit: int = 10, not_session: str = "") -> list[Hit]:
        """Messages that contain every word, best first; no words find nothing."""
        wanted = query(words)
        if not wanted:
            return []
        rows = self.database.all(
            "SELECT m.*, s.title FROM (SELECT rowid AS number, rank AS score FROM words WHERE words MATCH ?"
            f" ORDER BY rowid DESC LIMIT {NEWEST_HITS}) JOIN messages m ON m.id = number"
            " JOIN sessions s ON s.id = m.session_id WHERE m.session_id != ? ORDER BY score, m.id DESC LIMIT ?",
            (wanted, not_session, -1 if literal(words) else limit),
        )
        signs = literal(words)
        kept = [row for row in rows if all(sign in plain(row["text"]) for sign in signs)]
        return [
            Hit(
                row["session_id"],
                row["id"],
                row["at"],
                row["role"],
                excerpt(row["text"], words),
                row["title"],
                Origin(row["origin"]),
            )
            for row in kept[:limit]
        ]


def session_of(row: Row) -> Session:
    """A session from its row."""
    return Session(row["id"], row["title"], row["created"], row["updated"], row["messages"], row["model"])


def message_of(row: Row) -> Message:
    """A message from its row."""
    return Message(
        row["role"],
        row["text"],
        tuple(Call(**call) for call in json.loads(row["calls"])) if row["calls"] else (),
        row["answers"],
        row["name"],
        bool(row["failed"]),
        Origin(row["origin"]),
        row["sent"],
        row["reasoning"],
        number=row["id"],
    )


def searched(role: str, text: str) -> bool:
    """Whether a message goes into the search index: what the two said, not what tools printed."""
    return role in ("user", "assistant") and bool(text)


def forget_words(tx: Tx, row: Row) -> None:
    """Take a message out of the search index, which needs its text to find its words."""
    if searched(row["role"], row["text"]):
        tx.execute("INSERT INTO words (words, rowid, body) VALUES ('delete', ?, ?)", (row["id"], indexed(row["text"])))


def whole_calls(messages: Sequence[Message]) -> list[Message]:
    """The messages without a last reply whose calls are not all answered: no provider accepts such a history."""
    answered = {message.answers for message in messages if message.role == "tool"}
    kept = list(messages)
    last = max((i for i, message in enumerate(kept) if message.role == "assistant"), default=-1)
    if last >= 0 and any(call.id not in answered for call in kept[last].calls):
        del kept[last:]
    return kept


def plain(text: str) -> str:
    """Text as it is compared."""
    return unicodedata.normalize("NFC", text).casefold()


def excerpt(text: str, words: str, around: int = 80) -> str:
    """The place in a text where the first of the words stands, on one line."""
    flat = " ".join(unicodedata.normalize("NFC", text).split())
    places = [flat.casefold().find(word) for word in plain(words).split()]
    place = min((p for p in places if p >= 0), default=0)
    start, end = max(0, place - around), place + around
    return ("…" if start else "") + flat[start:end].strip() + ("…" if end < len(flat) else "")
