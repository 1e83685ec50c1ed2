"""`assistant approvals`: what the policy says of a command."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from assistant.cli.given import Json, chapter, opened
from assistant.cli.show import Item
from assistant.safety.policy import Policy, Rule, explain

approvals = chapter("What needs your yes.")
commands = {"approvals": approvals}


@approvals.command()
def check(
    context: typer.Context,
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="As the terminal tool would run it.")],
    as_json: Json = False,
) -> None:
    """What the policy would say to a command, and why; runs nothing."""
    with opened(context, as_json) as (assembly, show):
        settings = assembly.settings
        policy = Policy(
            assembly.home.root,
            assembly.parts.workdir,
            Path(assembly.environ.get("HOME", "/")),
            settings.approvals.mode,
            tuple(Rule(rule.action, rule.target, rule.effect) for rule in settings.approvals.rules),
            settings.terminal.isolated,
        )
        verdict, parts = explain(command, policy)
        each = [{"part": text, "verdict": v.word, "why": v.why, "rule": v.rule} for text, v in parts]
        item = {"verdict": verdict.word, "why": verdict.why, "rule": verdict.rule, "parts": each}
        show.thing(item, told(item))


def told(item: Item) -> Iterator[str]:
    """The verdict for people, and that of each part where there are several."""
    yield ": ".join(text for text in (item["verdict"], item["why"]) if text)
    if len(item["parts"]) > 1:
        for part in item["parts"]:
            yield f"  {part['verdict']:<5}  {part['part']}" + (f"  ({part['why']})" if part["why"] else "")
