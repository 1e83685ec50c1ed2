"""What each kind of run may do, and the surroundings its tools get."""

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import prompts
from assistant.core.events import Event, MemoryChanged, QuestionAnswered, QuestionAsked
from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Effect
from assistant.core.turn import Turn
from assistant.errors import ModelCanFix
from assistant.runtime.desk import Desk
from assistant.runtime.dispatch import NOT_RUN, Dispatcher, Rights, Settled
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

REVIEW = Rights(review.RIGHTS, "is not available while looking back", attended=False)
RIGHTS: Mapping[str, Rights] = {"turn": Rights(), "review": REVIEW}


def dispatcher_for(parts: Parts, run: Run, interrupt: Interrupt, desk: Desk) -> Dispatcher:
    """The port `Tools` for a run, with the rights of its kind inside."""
    rights = RIGHTS[run.kind]
    return Dispatcher(
        run.id,
        run.session_id,
        {tool.name: tool for tool in parts.tools},
        rights,
        interrupt,
        partial(judged, parts, run),
        partial(surroundings, parts, run, interrupt, desk),
        partial(settled, parts, run),
        partial(cut, parts),
        desk,
        parts.waiting,
        parts.ids,
        parts.ticks,
        parts.report,
        parts.database.release,
    )


def judged(parts: Parts, run: Run, tool: Tool, arguments: Mapping[str, Any]) -> Verdict:
    """May this call happen here?"""
    approvals, terminal = parts.settings.approvals, parts.settings.terminal
    policy = Policy(
        parts.home,
        workdir(parts, run),
        Path(parts.environment.get("HOME", "/")),
        approvals.mode,
        tuple(Rule(rule.action, rule.target, rule.effect) for rule in approvals.rules),
        terminal.isolated,
    )
    return judge(tool.name, tool.effect, arguments, policy)


def surroundings(
    parts: Parts, run: Run, interrupt: Interrupt, desk: Desk, call: Call, turn: Turn, tell: Callable[[Event], None]
) -> Context:
    """What one call's tool may touch."""
    return Context(
        run_id=run.id,
        session_id=run.session_id,
        call_id=call.id,
        actor=run.actor,
        heard=turn.origin,
        clock=parts.clock,
        interrupt=interrupt,
        home=parts.home,
        workdir=partial(workdir, parts, run),
        change_workdir=partial(change_workdir, parts, run),
        tell=tell,
        started_group=partial(parts.ledger.started_group, run.id, call.id),
        ask=partial(ask, parts, run, desk, interrupt, call, tell),
        spill=partial(spill, parts),
        environment={**parts.environment, "ASSISTANT_RUN": run.id},
        settings=parts.settings,
        sessions=parts.sessions,
        todos=parts.ledger,
        library=parts.library,
        memory=parts.memory,
        marks=Marks(parts.database, run.id),
        quotes=partial(quotes, parts, run, call),
    )


def workdir(parts: Parts, run: Run) -> Path:
    """The session's working folder; where it is gone, the one this process started in."""
    stored = parts.sessions.row(run.session_id)["workdir"]
    return Path(stored) if stored and Path(stored).is_dir() else parts.workdir


def change_workdir(parts: Parts, run: Run, folder: Path) -> None:
    """A command changed the folder; the session's next call starts there."""
    with parts.database.writing() as tx:
        tx.execute("UPDATE sessions SET workdir = ? WHERE id = ?", (str(folder), run.session_id))


def ask(
    parts: Parts,
    run: Run,
    desk: Desk,
    interrupt: Interrupt,
    call: Call,
    tell: Callable[[Event], None],
    text: str,
    choices: tuple[str, ...],
) -> str:
    """Ask the person and wait, in the call's worker thread; a resumed run waits for the question it had asked."""
    known = parts.waiting.question_of(run.id, call.id)
    question_id = parts.ids("qst") if known is None else str(known["id"])
    if known is None:
        tell(QuestionAsked(question_id, text, choices, call.id))
    elif known["answered"] is None:
        parts.waiting.waits_again(run.id, "waiting_for_answer")
    answer = desk.answer(run.id, question_id, interrupt)
    if answer is None:
        raise ModelCanFix(NOT_RUN)
    tell(QuestionAnswered(question_id, answer))
    if not answer:
        raise ModelCanFix("nobody answered in time: go on with the most careful choice, or stop and say what is open")
    return answer


def quotes(parts: Parts, run: Run, call: Call, wanted: Sequence[str]) -> tuple[Evidence, ...]:
    """Find quotes in the session and keep them; ModelCanFix names those that are not in it."""
    rows = [message for message, _ in parts.sessions.transcript(run.session_id)]
    said = [
        review.Said(m.role, m.text, tuple(c.name for c in m.calls), m.number, m.origin)
        for m in rows
        if not run.upto_message or m.number <= run.upto_message
    ]
    match review.find_quotes(wanted, said):
        case review.Missing(_, why):
            raise ModelCanFix(why)
        case review.Found(evidence):
            with parts.database.writing() as tx:
                parts.ledger.keep_evidence(tx, run.id, call.id, run.session_id, evidence)
            return evidence


def settled(parts: Parts, run: Run, call: Call, tool: Tool) -> Settled | None:
    """After a crash: what became of a call that had begun, and what the dead process may not have told."""
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


def cut(parts: Parts, call: Call, result: Result) -> Result:
    """A result of a length that a request can carry; the whole of it in a file."""
    return replace(result, text=bound(result.text, partial(spill, parts)))


def spill(parts: Parts, text: str) -> Path:
    """Keep a long text where the model may read it."""
    folder = parts.home / "run" / "output"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{parts.ids('out')}.txt"
    path.write_text(text, encoding="utf-8", errors="replace")
    return path


def end_left_running(groups: Sequence[int], run_id: str) -> None:
    """Kill the process groups of a dead executor's run; a group that is not marked as that run's is somebody else's."""
    for group in groups:
        environ = Path(f"/proc/{group}/environ")
        if environ.exists() and f"ASSISTANT_RUN={run_id}".encode() not in environ.read_bytes():
            continue
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
