"""`assistant runs`: turns and reviews as things that can be found, followed, steered, stopped and answered."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli.attach import looking_at_runs, runs_for
from assistant.cli.given import LIMIT, Json, Limit, OfSession, chapter, given_of, opened
from assistant.cli.show import Item, Show
from assistant.core.events import LAST, Decision, data_of
from assistant.core.ports import Runs, Told
from assistant.runtime.views import run_object

if TYPE_CHECKING:
    from assistant.wiring.build import Assembly

runs = chapter("Turns and reviews as runs: find, follow, steer, stop, answer them.")
commands = {"runs": runs}
Run = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]
Approval = Annotated[str, typer.Option("--approval", metavar="ID", help="Which, when several are open.")]


@runs.command("list")
def list_(
    context: typer.Context,
    session: OfSession = "",
    status: Annotated[str, typer.Option("--status", help="In this state alone, for example running.")] = "",
    limit: Limit = LIMIT,
    as_json: Json = False,
) -> None:
    """Runs, the newest first."""
    with opened(context, as_json) as (assembly, show):
        items = [run_object(assembly.parts, row) for row in assembly.parts.runs.newest(session, status, limit)]
        show.items(items, "run_id kind status created_at steps session_id input", "no runs")


@runs.command()
def show(context: typer.Context, run: Run, as_json: Json = False) -> None:
    """One run: its state, its answer, what it costs and what it waits for."""
    with opened(context, as_json) as (assembly, look):
        item = run_object(assembly.parts, assembly.parts.runs.row(run))
        look.thing(item, told_run(item, look))


@runs.command()
def events(
    context: typer.Context,
    run: Run,
    after: Annotated[int, typer.Option("--after", metavar="N", help="Only those past number N.")] = 0,
    now: Annotated[bool, typer.Option("--now", help="Do not wait for more.")] = False,
    as_json: Json = False,
) -> None:
    """All that a run told, and what it still tells until it ends; with --json one object a line."""
    show = given_of(context).show()
    with looking_at_runs(given_of(context)) as at:
        for told in stored(at.assembly, run, after) if now else at.runs.events(run, after):
            show.out(line_of(told, run, as_json))


@runs.command()
def stop(context: typer.Context, run: Run) -> None:
    """End a run soon; what was said is kept."""
    act(context, f"{run} stops", lambda port: port.stop(run))


@runs.command()
def steer(
    context: typer.Context,
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it should hear.")],
    queue: Annotated[bool, typer.Option("--queue", help="As a turn of its own, after this one.")] = False,
) -> None:
    """Say something to a run that works; one that is over makes it the next turn."""
    show = given_of(context).show()
    with runs_for(given_of(context), here=False) as at:
        accepted = at.runs.steer(run, text, "queue" if queue else "steer")
        if accepted.run_id == run:
            show.note(f"{run} hears it at its next step")
            return
        show.note(f"it is a turn of its own: {accepted.run_id}")
        last = [told.event for told in at.runs.events(accepted.run_id) if isinstance(told.event, LAST)]
        show.out(getattr(last[-1], "output", "") or getattr(last[-1], "error", ""))


@runs.command()
def approve(
    context: typer.Context,
    run: Run,
    approval: Approval = "",
    session: Annotated[bool, typer.Option("--session", help="Also what is like it, in this session.")] = False,
    always: Annotated[bool, typer.Option("--always", help="Also what is like it, from now on.")] = False,
) -> None:
    """Allow the call that a run asks about."""
    decision: Decision = "always" if always else "session" if session else "once"
    act(context, f"allowed ({decision}); {run} goes on", lambda port: port.decide(run, decision, approval))


@runs.command()
def deny(
    context: typer.Context,
    run: Run,
    approval: Approval = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the model.")] = "",
) -> None:
    """Refuse the call that a run asks about; the run goes on without it."""
    act(context, f"denied; {run} goes on", lambda port: port.decide(run, "deny", approval, reason))


@runs.command()
def answer(
    context: typer.Context,
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The answer.")],
    question: Annotated[str, typer.Option("--question", metavar="ID", help="Which, when several are open.")] = "",
) -> None:
    """Answer a question of a run."""
    act(context, f"answered; {run} goes on", lambda port: port.answer(run, text, question))


def act(context: typer.Context, done: str, deed: Callable[[Runs], None]) -> None:
    """Do something to a run that another process may work on, and say so."""
    with looking_at_runs(given_of(context)) as at:
        deed(at.runs)
        given_of(context).note(done)


def stored(assembly: "Assembly", run: str, after: int) -> Iterator[Told]:
    """The events that are stored now."""
    while told := assembly.parts.runs.told(run, after):
        yield from told
        after = told[-1].seq


def line_of(told: Told, run: str, as_json: bool) -> str:
    """One event on one line."""
    data = data_of(told.event)
    if as_json:
        frame = {"run_id": run, "seq": told.seq, "type": told.event.type, "at": told.at.isoformat()}
        return json.dumps(frame | data, ensure_ascii=False, default=list)
    shown = json.dumps(data, ensure_ascii=False, default=list)
    return f"{told.seq:>4}  {told.event.type:<20}  {shown if len(shown) <= 200 else shown[:199] + '…'}"


def told_run(item: Item, show: Show) -> Iterator[str]:
    """A run for people."""
    yield f"{item['run_id']}  {item['kind']}  {item['status']}"
    yield f"session   {item['session_id']}"
    yield f"model     {item['model']}"
    yield f"created   {show.when(item['created_at'])}"
    yield f"finished  {show.when(item['finished_at'])}"
    usage = item["usage"]
    yield f"steps     {item['steps']}, tokens {usage['input_tokens']} in, {usage['output_tokens']} out"
    for approval in item["approvals"]:
        yield f"asks      {approval['approval_id']}: {approval['tool']} {approval['arguments']} ({approval['why']})"
    for question in item["questions"]:
        yield f"asks      {question['question_id']}: {question['text']}"
    yield from (f"\n{text}" for text in (item["error"], item["output"]) if text)
