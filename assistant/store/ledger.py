"""What runs did: intents before effects, files read, plans, counters, reviews, and the quotes behind lessons."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assistant.store.database import Database, Row, Tx
from skills_store.values import Evidence


@dataclass(frozen=True, slots=True)
class Marks:
    """Which bytes of which skill file one run has seen.  Rows, so they hold across threads and restarts."""

    database: Database
    run_id: str

    def seen(self, path: str) -> str | None:
        """The hash of a file as this run saw it last."""
        row = self.database.one("SELECT hash FROM marks WHERE run_id = ? AND path = ?", (self.run_id, path))
        return None if row is None else str(row["hash"])

    def mark(self, path: str, hash: str) -> None:
        """The run has now seen these bytes."""
        if self.seen(path) == hash:
            return
        with self.database.writing() as tx:
            tx.execute("INSERT OR REPLACE INTO marks (run_id, path, hash) VALUES (?,?,?)", (self.run_id, path, hash))


def forget_marks(tx: Tx, run_id: str) -> None:
    """What a run has seen was put away: it has to look again."""
    tx.execute("DELETE FROM marks WHERE run_id = ?", (run_id,))


class Ledger:
    """Reads and writes of everything in this chapter."""

    def __init__(self, database: Database) -> None:
        self.database = database

    # -- intents -------------------------------------------------------------------------------------------------

    def intend(self, tx: Tx, run_id: str, call_id: str, tool: str) -> None:
        """Written before a call that has effects; once, however often the run is resumed."""
        tx.execute(
            "INSERT OR IGNORE INTO intents (run_id, call_id, tool, started) VALUES (?,?,?,?)",
            (run_id, call_id, tool, self.database.now()),
        )

    def started_group(self, run_id: str, call_id: str, group: int) -> None:
        """A command of the call runs in this process group."""
        with self.database.writing() as tx:
            tx.execute(
                "UPDATE intents SET process_group = ? WHERE run_id = ? AND call_id = ?", (group, run_id, call_id)
            )

    def goes_on(self, run_id: str, call_id: str, group: int) -> Callable[[], None]:
        """A command outlives the call in this process group, and has an intent of its own; what ends that."""
        own = f"{call_id} goes on"
        with self.database.writing() as tx:
            self.intend(tx, run_id, own, "terminal")
        self.started_group(run_id, own, group)

        def over() -> None:
            with self.database.writing() as tx:
                self.finished(tx, run_id, own)
            self.database.release()

        return over

    def finished(self, tx: Tx, run_id: str, call_id: str) -> None:
        """The call has its result."""
        tx.execute(
            "UPDATE intents SET finished = ? WHERE run_id = ? AND call_id = ?", (self.database.now(), run_id, call_id)
        )

    def intent(self, run_id: str, call_id: str) -> Row | None:
        """The intent of a call, if it got as far."""
        return self.database.one("SELECT * FROM intents WHERE run_id = ? AND call_id = ?", (run_id, call_id))

    def command_since(self, when: str) -> bool:
        """Whether a shell command of ours was at work after a time."""
        row = self.database.one(
            "SELECT 1 FROM intents WHERE tool IN ('terminal', 'process') AND coalesce(finished, '9') > ? LIMIT 1",
            (when,),
        )
        return row is not None

    def left_running(self, run_id: str) -> list[int]:
        """Process groups of calls that never finished."""
        rows = self.database.all(
            "SELECT process_group FROM intents WHERE run_id = ? AND finished IS NULL AND process_group != 0", (run_id,)
        )
        return [int(row["process_group"]) for row in rows]

    def gone_on(self) -> list[Row]:
        """Commands that outlived their runs, which are over: `run_id call_id executor`."""
        return self.database.all(
            "SELECT run_id, call_id, executor FROM intents JOIN runs ON id = run_id"
            " WHERE intents.finished IS NULL AND runs.finished IS NOT NULL"
        )

    # -- plans ---------------------------------------------------------------------------------------------------

    def read(self, session_id: str) -> tuple[Mapping[str, str], ...]:
        """The session's plan, in order."""
        row = self.database.one("SELECT items FROM todos WHERE session_id = ?", (session_id,))
        return () if row is None else tuple(json.loads(row["items"]))

    def write(self, session_id: str, items: Sequence[Mapping[str, str]]) -> None:
        """Replace the session's plan."""
        with self.database.writing() as tx:
            tx.execute(
                "INSERT OR REPLACE INTO todos (session_id, items) VALUES (?,?)",
                (session_id, json.dumps([dict(item) for item in items], ensure_ascii=False)),
            )

    # -- counters ------------------------------------------------------------------------------------------------

    def counters(self, session_id: str) -> tuple[int, int]:
        """Steps since the last skill change and turns since the last memory change."""
        row = self.database.one("SELECT * FROM counters WHERE session_id = ?", (session_id,))
        return (0, 0) if row is None else (row["steps_since_skill"], row["turns_since_memory"])

    def count(self, tx: Tx, session_id: str, steps: int = 0, turns: int = 0) -> None:
        """Add to the counters."""
        tx.execute(
            "UPDATE counters SET steps_since_skill = steps_since_skill + ?, turns_since_memory = turns_since_memory + ?"
            " WHERE session_id = ?",
            (steps, turns, session_id),
        )

    def set_counters(self, tx: Tx, session_id: str, steps: int, turns: int) -> None:
        """Set the counters."""
        tx.execute(
            "UPDATE counters SET steps_since_skill = ?, turns_since_memory = ? WHERE session_id = ?",
            (steps, turns, session_id),
        )

    # -- reviews -------------------------------------------------------------------------------------------------

    def open_review(self, tx: Tx, run_id: str, session_id: str, kind: str, focus: str) -> None:
        """A review waits."""
        tx.execute(
            "INSERT INTO reviews (run_id, session_id, kind, focus, at) VALUES (?,?,?,?,?)",
            (run_id, session_id, kind, focus, self.database.now()),
        )

    def close_review(
        self, tx: Tx, run_id: str, outcome: str, commits: Sequence[str], line: str, seconds: float
    ) -> None:
        """A review ended in a recorded outcome."""
        tx.execute(
            "UPDATE reviews SET outcome = ?, commits = ?, line = ?, seconds = ? WHERE run_id = ?",
            (outcome, json.dumps(list(commits)), line, seconds, run_id),
        )

    def reviews(self, session_id: str = "", run_id: str = "", limit: int = 50) -> list[Row]:
        """Reviews with what they cost, the newest first."""
        return self.database.all(
            "SELECT v.*, r.steps, r.input_tokens + r.output_tokens AS tokens, r.status, r.error FROM reviews v"
            " JOIN runs r ON r.id = v.run_id"
            " WHERE (? = '' OR v.session_id = ?) AND (? = '' OR v.run_id = ?) ORDER BY r.rowid DESC LIMIT ?",
            (session_id, session_id, run_id, run_id, limit),
        )

    def unreviewed(self, before: str) -> list[str]:
        """Sessions that rest since a time with steps or turns that no review has seen."""
        rows = self.database.all(
            "SELECT s.id FROM sessions s JOIN counters c ON c.session_id = s.id"
            " WHERE s.updated < ? AND c.steps_since_skill + c.turns_since_memory > 0 ORDER BY s.updated",
            (before,),
        )
        return [str(row["id"]) for row in rows]

    def keep_evidence(self, tx: Tx, run_id: str, call_id: str, session_id: str, evidence: Sequence[Evidence]) -> None:
        """The quotes behind a change; commits carry message ids only, so that sharing skills shares no conversation."""
        tx.executemany(
            "INSERT OR IGNORE INTO evidence (run_id, call_id, session_id, message_id, quote) VALUES (?,?,?,?,?)",
            [(run_id, call_id, session_id, item.message, item.quote) for item in evidence],
        )

    def quotes(self, run_id: str, messages: Sequence[int]) -> list[dict[str, object]]:
        """The quotes of a run's changes that come from these messages."""
        rows = self.database.all("SELECT DISTINCT message_id, quote FROM evidence WHERE run_id = ?", (run_id,))
        return [{"message": row["message_id"], "quote": row["quote"]} for row in rows if row["message_id"] in messages]

    # -- facts ---------------------------------------------------------------------------------------------------

    def fact(self, key: str, otherwise: str = "") -> str:
        """A single remembered value."""
        row = self.database.one("SELECT value FROM facts WHERE key = ?", (key,))
        return otherwise if row is None else str(row["value"])

    def set_fact(self, key: str, value: str) -> None:
        """Remember a single value."""
        with self.database.writing() as tx:
            tx.execute("INSERT OR REPLACE INTO facts (key, value) VALUES (?,?)", (key, value))
