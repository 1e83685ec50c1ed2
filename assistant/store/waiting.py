"""What waits for a person: approvals and questions, as rows that survive a restart and are answered once."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.core.events import Decision
from assistant.core.messages import Call
from assistant.errors import Conflict, NotFound
from assistant.store.database import Database, Row, Tx

EXPIRED = "expired"
"""What is stored as the decision when nobody answered in time: not a refusal by a person."""


@dataclass(frozen=True, slots=True)
class Decided:
    """How an approval ended."""

    decision: str
    by: str
    feedback: str = ""

    @property
    def allowed(self) -> bool:
        """Whether the call may run."""
        return self.decision in ("once", "session", "always")


class Waiting:
    """Reads and writes of approvals, grants and questions."""

    def __init__(self, database: Database, ids: Callable[[str], str]) -> None:
        self.database = database
        self.ids = ids

    # -- approvals -----------------------------------------------------------------------------------------------

    def approval_of(self, run_id: str, call: Call) -> Row | None:
        """The approval that was asked for this very call of this run; another call of that id has none."""
        return self.database.one(
            "SELECT * FROM approvals WHERE run_id = ? AND call_id = ? AND call_hash = ?",
            (run_id, call.id, call_hash(call)),
        )

    def open_approval(self, tx: Tx, approval_id: str, run_id: str, call: Call, why: str, rule: str) -> None:
        """Ask: the row is bound to the hash of the exact call."""
        tx.execute(
            "INSERT INTO approvals (id, run_id, call_id, call_hash, tool, arguments, why, rule, created)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            (approval_id, run_id, call.id, call_hash(call), call.name, call.arguments, why, rule, self.database.now()),
        )

    def decide(self, run_id: str, decision: Decision, approval_id: str, by: str, feedback: str = "") -> None:
        """Answer one approval, once.  NotFound for an unknown id, Conflict when it is unclear which or too late."""
        row = self._one_open("approvals", "decided", run_id, approval_id, "approval")
        with self.database.writing() as tx:
            changed = tx.execute(
                "UPDATE approvals SET decision = ?, decided_by = ?, feedback = ?, decided = ?"
                " WHERE id = ? AND decided IS NULL",
                (decision, by, feedback, self.database.now(), row["id"]),
            ).rowcount
            if not changed:
                raise Conflict(f"approval {row['id']} was answered by somebody else just now")
            if decision in ("session", "always") and row["rule"]:
                session = tx.execute("SELECT session_id FROM runs WHERE id = ?", (run_id,)).fetchone()[0]
                tx.execute(
                    "INSERT OR IGNORE INTO grants (session_id, rule, created) VALUES (?,?,?)",
                    ("" if decision == "always" else session, row["rule"], self.database.now()),
                )

    def told(self, tx: Tx, approval_id: str) -> None:
        """The end of an approval is an event now."""
        tx.execute("UPDATE approvals SET told = 1 WHERE id = ?", (approval_id,))

    def decided(self, approval_id: str) -> Decided | None:
        """How an approval ended, once it has."""
        row = self.database.one("SELECT * FROM approvals WHERE id = ? AND decided IS NOT NULL", (approval_id,))
        return None if row is None else Decided(row["decision"], row["decided_by"], row["feedback"])

    def granted(self, session_id: str, rule: str) -> bool:
        """Whether the person allowed this rule for the session or for ever."""
        found = self.database.one("SELECT 1 FROM grants WHERE rule = ? AND session_id IN (?, '')", (rule, session_id))
        return found is not None

    # -- questions -----------------------------------------------------------------------------------------------

    def question_of(self, run_id: str, call_id: str) -> Row | None:
        """The question that a call asked."""
        return self.database.one("SELECT * FROM questions WHERE run_id = ? AND call_id = ?", (run_id, call_id))

    def open_question(
        self, tx: Tx, question_id: str, run_id: str, call_id: str, text: str, choices: Sequence[str]
    ) -> None:
        """Ask."""
        tx.execute(
            "INSERT INTO questions (id, run_id, call_id, text, choices, created) VALUES (?,?,?,?,?,?)",
            (question_id, run_id, call_id, text, json.dumps(list(choices), ensure_ascii=False), self.database.now()),
        )

    def answer(self, run_id: str, answer: str, question_id: str) -> None:
        """Answer one question, once; errors as for `decide`."""
        row = self._one_open("questions", "answered", run_id, question_id, "question")
        with self.database.writing() as tx:
            changed = tx.execute(
                "UPDATE questions SET answer = ?, answered = ? WHERE id = ? AND answered IS NULL",
                (answer, self.database.now(), row["id"]),
            ).rowcount
            if not changed:
                raise Conflict(f"question {row['id']} was answered by somebody else just now")

    def answered(self, question_id: str) -> str | None:
        """The answer, once there is one."""
        row = self.database.one("SELECT answer FROM questions WHERE id = ? AND answered IS NOT NULL", (question_id,))
        return None if row is None else str(row["answer"] or "")

    # -- both ----------------------------------------------------------------------------------------------------

    def waits_again(self, run_id: str, status: str) -> None:
        """A resumed run came back to what it waited for."""
        with self.database.writing() as tx:
            tx.execute("UPDATE runs SET status = ? WHERE id = ?", (status, run_id))

    def open_of(self, run_id: str) -> tuple[list[Row], list[Row]]:
        """The open approvals and the open questions of a run."""
        return (
            self.database.all("SELECT * FROM approvals WHERE run_id = ? AND decided IS NULL ORDER BY rowid", (run_id,)),
            self.database.all(
                "SELECT * FROM questions WHERE run_id = ? AND answered IS NULL ORDER BY rowid", (run_id,)
            ),
        )

    def all_open(self) -> tuple[list[Row], list[Row]]:
        """Everything in the home that waits for an answer."""
        return (
            self.database.all(
                "SELECT a.* FROM approvals a JOIN runs r ON r.id = a.run_id"
                " WHERE a.decided IS NULL AND r.finished IS NULL ORDER BY a.rowid"
            ),
            self.database.all(
                "SELECT q.* FROM questions q JOIN runs r ON r.id = q.run_id"
                " WHERE q.answered IS NULL AND r.finished IS NULL ORDER BY q.rowid"
            ),
        )

    def expire(self, table: str, item_id: str) -> None:
        """Nobody answered in time."""
        sql = {
            "approvals": "UPDATE approvals SET decision = ?, decided_by = 'timeout', decided = ?"
            " WHERE id = ? AND decided IS NULL",
            "questions": "UPDATE questions SET answer = NULL, answered = ? WHERE id = ? AND answered IS NULL",
        }[table]
        values = (self.database.now(), item_id) if table == "questions" else (EXPIRED, self.database.now(), item_id)
        with self.database.writing() as tx:
            tx.execute(sql, values)

    def attended(self, table: str, item_id: str, seconds: float) -> float:
        """Count time during which somebody was there to answer; the sum so far, in seconds."""
        with self.database.writing() as tx:
            sql = f"UPDATE {table} SET attended_seconds = attended_seconds + ? WHERE id = ? RETURNING attended_seconds"
            row = tx.execute(sql, (seconds, item_id)).fetchone()
        return float(row[0])

    def _one_open(self, table: str, done: str, run_id: str, item_id: str, what: str) -> Row:
        rows = self.database.all(f"SELECT * FROM {table} WHERE run_id = ? ORDER BY rowid", (run_id,))
        open_rows = [row for row in rows if row[done] is None]
        if item_id:
            named = [row for row in rows if row["id"] == item_id]
            if not named:
                raise NotFound(f"run {run_id} has no {what} {item_id!r}")
            if named[0][done] is not None:
                raise Conflict(f"{what} {item_id} is not open any more: {how_it_ended(named[0])}")
            return named[0]
        if not open_rows:
            raise NotFound(f"run {run_id} has no open {what}")
        if len(open_rows) > 1:
            raise Conflict(f"several are open, name one with {what}_id: " + ", ".join(row["id"] for row in open_rows))
        return open_rows[0]


def how_it_ended(row: Row) -> str:
    """In words, for somebody who answers too late."""
    if "decision" in row.keys():  # noqa: SIM118 - a Row's membership test looks at values
        return (
            "nobody answered in time, so it expired"
            if row["decision"] == EXPIRED
            else f"{row['decision']} by {row['decided_by']}"
        )
    return "nobody answered in time" if row["answer"] is None else f"the answer was {row['answer']!r}"


def call_hash(call: Call) -> str:
    """What an approval is bound to: the exact call."""
    return hashlib.sha256(json.dumps([call.name, call.arguments]).encode()).hexdigest()
