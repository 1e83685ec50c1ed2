"""The port `Runs`, answered in this process."""

from collections.abc import Iterator, Sequence

from assistant.core.events import LAST, Decision, TurnQueued
from assistant.core.messages import Message
from assistant.core.ports import Accepted, Mode, Start, Started, Told
from assistant.errors import Conflict, PersonMustAct
from assistant.runtime.bell import QUEUE
from assistant.runtime.ending import cancel_queued
from assistant.runtime.engine import Engine
from assistant.runtime.parts import Parts, run_of
from assistant.runtime.record import record
from assistant.store.database import Tx

LOOK_SECONDS = 0.3
"""How often a follower looks for events that another process stored."""


class LocalRuns:
    """Writes wishes down and reads events back; the engine works from what is written."""

    def __init__(self, parts: Parts, engine: Engine, reserved_for: str = "") -> None:
        self.parts = parts
        self.engine = engine
        self.reserved_for = reserved_for

    def start(self, wish: Start, history: Sequence[Message] = (), name: str = "") -> Started:
        """Write the message and its run down in one transaction; nothing has run yet, nothing can be lost any more.

        A new session may begin with a conversation that was held elsewhere, and under the id that its client gave it.
        """
        parts = self.parts
        if not wish.input.strip():
            raise PersonMustAct("the message is empty: write what you want")
        if wish.session_id:
            parts.sessions.row(wish.session_id)
        with parts.database.writing() as tx:
            if (row := parts.runs.replayed(tx, wish)) is not None:
                return Started(row["id"], row["session_id"], replayed=True)
            session_id = wish.session_id or self._new_session(tx, wish, history, name)
            run_id = parts.runs.queue(tx, wish, "turn", session_id, reserved_for=self.reserved_for)
            parts.runs.put_incoming(tx, session_id, "turn", wish.input, run_id)
        parts.bell.ring(QUEUE)
        return Started(run_id, session_id)

    def _new_session(self, tx: Tx, wish: Start, history: Sequence[Message], name: str) -> str:
        parts = self.parts
        if name and parts.sessions.exists(name):
            return name
        session_id = parts.sessions.create(
            tx, wish.model, wish.instructions, wish.workdir or str(parts.workdir), id=name
        )
        for message in history:
            parts.sessions.add(tx, session_id, "", message)
        return session_id

    def events(self, run_id: str, after: int = 0) -> Iterator[Told]:
        """Every event past a number, to the run's last one; any number of followers hear the same."""
        parts = self.parts
        parts.runs.row(run_id)
        with parts.bell.listening(run_id) as heard:
            while True:
                heard.clear()
                told = parts.runs.told(run_id, after)
                for item in told:
                    after = item.seq
                    yield item
                    if isinstance(item.event, LAST):
                        return
                if not told:
                    if parts.runs.row(run_id)["finished"] and not parts.runs.told(run_id, after, limit=1):
                        return
                    heard.wait(LOOK_SECONDS)

    def steer(self, run_id: str, text: str, mode: Mode = "steer") -> Accepted:
        """Words for the running turn, kept as a row until its next step takes them; or a turn of their own."""
        parts = self.parts
        if not text.strip():
            raise PersonMustAct("the message is empty: write what you want to add")
        run = run_of(parts.runs.row(run_id))
        if mode == "steer":
            with parts.database.writing() as tx:
                state = tx.execute("SELECT finished, kind FROM runs WHERE id = ?", (run_id,)).fetchone()
                if state["finished"] is None and state["kind"] != "review":
                    parts.runs.put_incoming(tx, run.session_id, "steer", text, run_id)
                    return Accepted("steer", run_id)
        next_run = self.start(Start(text, run.session_id)).run_id
        with parts.database.writing() as tx:
            if tx.execute("SELECT finished FROM runs WHERE id = ?", (run_id,)).fetchone()["finished"] is None:
                record(parts, tx, run, TurnQueued(next_run, text))
        parts.bell.ring(run_id)
        return Accepted("queue", next_run)

    def stop(self, run_id: str) -> None:
        """End a run soon; another process's run through a wish that it finds in its row."""
        parts = self.parts
        row = parts.runs.row(run_id)
        if row["finished"]:
            return
        with parts.database.writing() as tx:
            parts.runs.set(tx, run_id, stop_wanted=1)
            queued = tx.execute("SELECT status FROM runs WHERE id = ?", (run_id,)).fetchone()["status"] == "queued"
        if queued:
            cancel_queued(parts, run_of(row))
        else:
            self.engine.stop(run_id)

    def decide(self, run_id: str, decision: Decision, approval_id: str = "", feedback: str = "") -> None:
        """Answer an approval, once."""
        self._must_be_open(run_id)
        self.parts.waiting.decide(run_id, decision, approval_id, "you", feedback)
        self.parts.bell.ring(f"desk:{run_id}")

    def answer(self, run_id: str, answer: str, question_id: str = "") -> None:
        """Answer a question, once."""
        self._must_be_open(run_id)
        self.parts.waiting.answer(run_id, answer, question_id)
        self.parts.bell.ring(f"desk:{run_id}")

    def _must_be_open(self, run_id: str) -> None:
        row = self.parts.runs.row(run_id)
        if row["finished"]:
            raise Conflict(f"run {run_id} is over ({row['status']}): there is nothing left to answer")
