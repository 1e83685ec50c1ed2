"""Runs, their events, and what waits for a session."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from assistant.core.events import Event, RunKind, data_of, event_of
from assistant.core.messages import Usage
from assistant.core.ports import Start, Told
from assistant.errors import Conflict, NotFound
from assistant.store.database import Database, Row, Tx

OPEN = ("queued", "running", "waiting_for_approval", "waiting_for_answer")
HELD = ("running", "waiting_for_approval", "waiting_for_answer")
"""A run in one of these has an executor, and its session is leased to it."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A run whose executor is gone."""

    id: str
    executor: str
    idle: timedelta


class Runs:
    """Reads and writes of runs and events."""

    def __init__(self, database: Database, ids: Callable[[str], str]) -> None:
        self.database = database
        self.ids = ids

    # -- beginning -----------------------------------------------------------------------------------------------

    def replayed(self, tx: Tx, wish: Start) -> Row | None:
        """The run that this key already made; Conflict when it was made from another body."""
        if not wish.idempotency_key:
            return None
        row: Row | None = tx.execute("SELECT * FROM runs WHERE idempotency_key = ?", (wish.idempotency_key,)).fetchone()
        if row is not None and row["idempotency_hash"] != body_hash(wish):
            raise Conflict(
                f"the Idempotency-Key {wish.idempotency_key!r} was used for another request ({row['id']}): use another"
            )
        return row

    def queue(self, tx: Tx, wish: Start, kind: RunKind, session_id: str, **more: Any) -> str:
        """Write a run down as queued; its id."""
        values = {
            "id": self.ids("run"),
            "session_id": session_id,
            "kind": kind,
            "status": "queued",
            "model": wish.model,
            "instructions": wish.instructions,
            "input": wish.input,
            "idempotency_key": wish.idempotency_key or None,
            "idempotency_hash": body_hash(wish) if wish.idempotency_key else "",
            "created": self.database.now(),
            **more,
        }
        names = ", ".join(values)
        tx.execute(f"INSERT INTO runs ({names}) VALUES ({', '.join('?' * len(values))})", list(values.values()))
        return str(values["id"])

    def claim(self, executor: str, only_own: bool, reviews: bool = True) -> str | None:
        """Take the oldest run that may begin now: one turn a session, one review a home.  None when there is none."""
        busy = f"SELECT 1 FROM runs o WHERE o.status IN {HELD} AND o.kind != 'review' AND o.session_id = r.session_id"
        reviewing = f"SELECT 1 FROM runs o WHERE o.status IN {HELD} AND o.kind = 'review'"
        wanted = (
            "SELECT id FROM runs r WHERE status = 'queued' AND finished IS NULL"
            " AND (reserved_for = ? OR (reserved_for = '' AND ? = 0))"
            f" AND CASE kind WHEN 'review' THEN ? AND NOT EXISTS ({reviewing}) ELSE NOT EXISTS ({busy}) END"
            " ORDER BY rowid LIMIT 1"
        )
        values = (executor, int(only_own), int(reviews))
        if self.database.one(wanted, values) is None:
            return None
        with self.database.writing() as tx:
            row = tx.execute(wanted, values).fetchone()
            if row is None:
                return None
            tx.execute(
                "UPDATE runs SET status = 'running', executor = ?, started = coalesce(started, ?), beat = ?"
                " WHERE id = ?",
                (executor, self.database.now(), self.database.now(), row["id"]),
            )
            return str(row["id"])

    # -- reading -------------------------------------------------------------------------------------------------

    def row(self, run_id: str) -> Row:
        """The run's row; NotFound names the id."""
        row = self.database.one("SELECT * FROM runs WHERE id = ?", (run_id,))
        if row is None:
            raise NotFound(f"there is no run {run_id!r}: `assistant runs list` shows them")
        return row

    def newest(self, session_id: str = "", status: str = "", limit: int = 50, after: str = "") -> list[Row]:
        """Runs, the newest first, continuing after the run named `after`."""
        return self.database.all(
            "SELECT * FROM runs WHERE (? = '' OR session_id = ?) AND (? = '' OR status = ?)"
            " AND (? = '' OR rowid < (SELECT rowid FROM runs WHERE id = ?)) ORDER BY rowid DESC LIMIT ?",
            (session_id, session_id, status, status, after, after, limit),
        )

    def holding(self, session_id: str) -> Row | None:
        """The turn that holds a session right now."""
        return self.database.one(
            f"SELECT * FROM runs WHERE session_id = ? AND kind != 'review' AND status IN {HELD}", (session_id,)
        )

    def open_turns(self, session_id: str) -> int:
        """Turns of a session that are not over."""
        row = self.database.one(
            f"SELECT count(*) FROM runs WHERE session_id = ? AND kind != 'review' AND status IN {OPEN}", (session_id,)
        )
        return 0 if row is None else int(row[0])

    def any_open(self) -> bool:
        """Whether any run of the home is not over."""
        return self.database.one("SELECT 1 FROM runs WHERE finished IS NULL LIMIT 1") is not None

    def waiting_review(self, session_id: str) -> Row | None:
        """The review of a session that has not begun."""
        return self.database.one(
            "SELECT * FROM runs WHERE session_id = ? AND kind = 'review' AND status = 'queued'", (session_id,)
        )

    def reserved(self, executor: str) -> list[Row]:
        """Runs that only this executor may take, and that are not over; oldest first."""
        return self.database.all(
            "SELECT * FROM runs WHERE reserved_for = ? AND finished IS NULL ORDER BY rowid", (executor,)
        )

    def unwanted(self) -> list[Row]:
        """Runs that somebody wants stopped and that are not over."""
        return self.database.all("SELECT * FROM runs WHERE stop_wanted = 1 AND finished IS NULL")

    def orphans(self, dead: Callable[[str], bool]) -> Iterator[Orphan]:
        """The runs whose executor is dead."""
        rows = self.database.all(f"SELECT id, executor, beat, created FROM runs WHERE status IN {HELD}")
        state = {executor: dead(executor) for executor in {row["executor"] for row in rows}}
        for row in rows:
            if state[row["executor"]]:
                yield Orphan(row["id"], row["executor"], self.database.clock() - moment(row["beat"] or row["created"]))

    # -- changing ------------------------------------------------------------------------------------------------

    def set(self, tx: Tx, run_id: str, **values: Any) -> None:
        """Change columns of a run."""
        names = ", ".join(f"{name} = ?" for name in values)
        tx.execute(f"UPDATE runs SET {names} WHERE id = ?", [*values.values(), run_id])

    def spend(self, tx: Tx, run: Row | Mapping[str, str], usage: Usage, model: str) -> None:
        """Count one step and what it cost, in the run and in the ledger."""
        spent = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        tx.execute(
            "UPDATE runs SET steps = steps + 1, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,"
            " cached_tokens = cached_tokens + ? WHERE id = ?",
            (*spent, run["id"]),
        )
        tx.execute(
            "INSERT INTO usage (run_id, session_id, kind, model, input_tokens, output_tokens, cached_tokens, at)"
            " VALUES (?,?,?,?,?,?,?,?)",
            (run["id"], run["session_id"], run["kind"], model, *spent, self.database.now()),
        )

    def spent_since(self, kind: str, since: datetime) -> int:
        """Tokens that runs of a kind have cost since a time."""
        row = self.database.one(
            "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM usage WHERE kind = ? AND at >= ?",
            (kind, since.isoformat()),
        )
        return 0 if row is None else int(row[0])

    def delete_old(self, before: datetime) -> int:
        """Forget the events of runs that ended before a time; their rows keep the figures."""
        with self.database.writing() as tx:
            gone = tx.execute(
                "DELETE FROM events WHERE run_id IN (SELECT id FROM runs WHERE finished IS NOT NULL AND finished < ?)",
                (before.isoformat(),),
            )
            return int(gone.rowcount)

    # -- events --------------------------------------------------------------------------------------------------

    def append(self, tx: Tx, run_id: str, event: Event) -> int:
        """Append an event; its number."""
        now = self.database.now()
        seq = int(
            tx.execute(
                "UPDATE runs SET last_event = last_event + 1, beat = ? WHERE id = ? RETURNING last_event", (now, run_id)
            ).fetchone()[0]
        )
        data = json.dumps(data_of(event), ensure_ascii=False, default=list)
        tx.execute(
            "INSERT INTO events (run_id, seq, type, data, at) VALUES (?,?,?,?,?)", (run_id, seq, event.type, data, now)
        )
        return seq

    def told(self, run_id: str, after: int = 0, limit: int = 500) -> list[Told]:
        """Events past a number that are stored so far; kinds of a newer version are passed over."""
        found = []
        for row in self.told_rows(run_id, after, limit):
            event = event_of(row["type"], json.loads(row["data"]))
            if event is not None:
                found.append(Told(row["seq"], moment(row["at"]), event))
        return found

    def told_rows(self, run_id: str, after: int = 0, limit: int = 500) -> list[Row]:
        """The same as rows, for those who pass them on unread."""
        return self.database.all(
            "SELECT seq, type, data, at FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            (run_id, after, limit),
        )

    def told_page(self, run_id: str, after: int, most_bytes: int) -> list[Row]:
        """The next of them, at least one, as many as fit into so many bytes."""
        page, size = [], 0
        for row in self.database.execute(
            "SELECT seq, type, data, at FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT 1000",
            (run_id, after),
        ):
            page.append(row)
            size += len(row["data"])
            if size > most_bytes:
                break
        return page

    def last_told(self, run_id: str, kind: str) -> int:
        """The number of the newest event of a kind; 0 when there was none."""
        row = self.database.one("SELECT max(seq) FROM events WHERE run_id = ? AND type = ?", (run_id, kind))
        return 0 if row is None or row[0] is None else int(row[0])

    # -- what waits for a session --------------------------------------------------------------------------------

    def put_incoming(self, tx: Tx, session_id: str, mode: str, text: str, run_id: str = "") -> int:
        """Words that wait for a session; their number."""
        number = tx.execute(
            "INSERT INTO incoming (session_id, run_id, mode, text, created) VALUES (?,?,?,?,?)",
            (session_id, run_id, mode, text, self.database.now()),
        ).lastrowid
        assert number is not None
        return number

    def waiting(self, session_id: str, mode: str) -> list[Row]:
        """Words of one mode that nobody took yet, oldest first."""
        return self.database.all(
            "SELECT * FROM incoming WHERE session_id = ? AND mode = ? AND taken IS NULL ORDER BY id", (session_id, mode)
        )

    def take(self, tx: Tx, number: int, run_id: str) -> None:
        """The words entered a run."""
        tx.execute("UPDATE incoming SET taken = ?, run_id = ? WHERE id = ?", (self.database.now(), run_id, number))


def body_hash(wish: Start) -> str:
    """What makes two requests the same."""
    body = json.dumps([wish.input, wish.session_id, wish.model, wish.instructions], ensure_ascii=False)
    return hashlib.sha256(body.encode()).hexdigest()


def moment(text: str) -> datetime:
    """A stored time."""
    return datetime.fromisoformat(text)
