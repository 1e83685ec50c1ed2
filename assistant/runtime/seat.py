"""Where the calls of one run are carried out: what they may touch, what the policy says, what is known of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import prompts
from assistant.core.events import Event, MemoryChanged, QuestionAnswered, QuestionAsked
from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Effect
from assistant.core.turn import Turn
from assistant.errors import ModelCanFix
from assistant.runtime import reviewing
from assistant.runtime.desk import Desk
from assistant.runtime.parts import Parts, Run
from assistant.safety.policy import Policy, Rule, judge
from assistant.safety.verdicts import Verdict
from assistant.store.ledger import Marks
from assistant.tools.context import Context
from assistant.tools.declare import Result, Tool
from assistant.tools.limits import bound
from assistant.tools.skills import receipt_of
from curator import review
from skills_store.values import Evidence

NOT_RUN = "not run: the person stopped this turn"
Settled = tuple[Result, tuple[Event, ...]]
"""The answer to a call that a dead process had begun, and the events that it may not have told."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One run at its place."""

    parts: Parts
    run: Run
    interrupt: Interrupt
    desk: Desk

    def judge(self, tool: Tool, arguments: Mapping[str, Any]) -> Verdict:
        """May this call happen here?"""
        approvals = self.parts.settings.approvals
        policy = Policy(
            self.parts.home,
            self.workdir(),
            Path(self.parts.environment.get("HOME", "/")),
            approvals.mode,
            tuple(Rule(rule.action, rule.target, rule.effect) for rule in approvals.rules),
            self.parts.settings.terminal.isolated,
        )
        return judge(tool.name, tool.effect, arguments, policy)

    def context(self, call: Call, turn: Turn, tell: Callable[[Event], None]) -> Context:
        """What one call's tool may touch."""
        parts, run = self.parts, self.run
        return Context(
            run_id=run.id,
            session_id=run.session_id,
            call_id=call.id,
            actor=run.actor,
            heard=turn.origin,
            interrupt=self.interrupt,
            home=parts.home,
            root=parts.workdir,
            workdir=self.workdir,
            change_workdir=self.change_workdir,
            tell=tell,
            started_group=partial(parts.ledger.started_group, run.id, call.id),
            goes_on=partial(parts.ledger.goes_on, run.id, call.id),
            ask=partial(self.ask, call, tell),
            spill=self.spill,
            environment={**parts.environment, "ASSISTANT_RUN": run.id},
            settings=parts.settings,
            sessions=parts.sessions,
            todos=parts.ledger,
            library=parts.library,
            memory=parts.memory,
            marks=Marks(parts.database, run.id),
            quotes=partial(self.quotes, call),
            background=parts.background,
        )

    def workdir(self) -> Path:
        """The session's working folder; where it is gone, the one this process started in."""
        stored = self.parts.sessions.row(self.run.session_id)["workdir"]
        return Path(stored) if stored and Path(stored).is_dir() else self.parts.workdir

    def change_workdir(self, folder: Path) -> None:
        """A command changed the folder; the session's next call starts there."""
        with self.parts.database.writing() as tx:
            self.parts.sessions.set_workdir(tx, self.run.session_id, str(folder))

    def ask(self, call: Call, tell: Callable[[Event], None], text: str, choices: tuple[str, ...]) -> str:
        """Ask the person and wait, in the call's worker thread; a resumed run waits for the question it had asked."""
        waiting, run_id = self.parts.waiting, self.run.id
        known = waiting.question_of(run_id, call.id)
        question_id = self.parts.ids("qst") if known is None else str(known["id"])
        if known is None:
            tell(QuestionAsked(question_id, text, choices, call.id))
        elif known["answered"] is None:
            waiting.waits_again(run_id, "waiting_for_answer")
        answer = self.desk.answer(run_id, question_id, self.interrupt)
        if answer is None:
            raise ModelCanFix(NOT_RUN)
        tell(QuestionAnswered(question_id, answer))
        if not answer:
            raise ModelCanFix("nobody answered in time: take the most careful way, or stop and say what is open")
        return answer

    def quotes(self, call: Call, wanted: Sequence[str]) -> tuple[Evidence, ...]:
        """Find quotes in the session and keep them; ModelCanFix names those that are not in it."""
        parts, run = self.parts, self.run
        said = [
            reviewing.said(m)
            for m, _ in parts.sessions.transcript(run.session_id)
            if not run.upto_message or m.number <= run.upto_message
        ]
        match review.find_quotes(wanted, said):
            case review.Missing(_, why):
                raise ModelCanFix(why)
            case review.Found(evidence):
                with parts.database.writing() as tx:
                    parts.ledger.keep_evidence(tx, run.id, call.id, run.session_id, evidence)
                return evidence

    def settled(self, call: Call, tool: Tool) -> Settled | None:
        """After a crash: what became of a call that had begun; None when it may simply run."""
        parts, run = self.parts, self.run
        if not run.resumed or tool.effect not in (Effect.OWN, Effect.WORLD):
            return None
        if parts.ledger.intent(run.id, call.id) is None:
            return None
        if tool.effect is Effect.WORLD:
            return Result(prompts.render("interrupted", tool=tool.name), failed=True), ()
        key = f"{run.id}/{call.id}"
        if tool.name == "skill_manage" and (found := parts.library.receipt(key)) is not None:
            return receipt_of(found)
        if tool.name == "memory" and (commit := parts.memory.receipt(key)) is not None:
            told = MemoryChanged(json.loads(call.arguments)["target"], commit.action, commit.commit)
            return Result('{"success": true, "message": "It was saved before the interruption."}'), (told,)
        return None

    def bounded(self, result: Result) -> Result:
        """A result of a length that a request can carry; the whole of it in a file."""
        return replace(result, text=bound(result.text, self.spill))

    def spill(self, text: str) -> Path:
        """Keep a long text where the model may read it."""
        folder = self.parts.home / "run" / "output"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.parts.ids('out')}.txt"
        path.write_text(text, encoding="utf-8", errors="replace")
        return path
