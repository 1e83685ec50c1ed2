"""`assistant up`, `down`, `status`: the server in the background; and the way to it for other commands."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assistant import __version__
from assistant.cli.given import Given, Json, alone, given_of
from assistant.errors import TryLater
from assistant.home import Home

if TYPE_CHECKING:
    from assistant.client.attach import Attach, Found


def attach_to(given: Given, home: Home) -> "Attach":
    """The way to the server of a home."""
    from assistant.client.attach import Attach

    command = (sys.executable, "-m", "assistant", "--home", str(home.root), "serve")
    return Attach(home, __version__, command, given.note, with_path(given.world.environ))


def with_path(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of a new server, which starts in another folder: a source tree must still be found."""
    root = Path(__file__).parents[2]
    if not (root / "pyproject.toml").is_file():
        return environ
    return {**environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(root), environ.get("PYTHONPATH", ""))))}


def up(context: typer.Context) -> None:
    """Start the server in the background, if it does not run."""
    given = given_of(context)
    with given.assembly() as assembly:
        attach = attach_to(given, assembly.home)
        before = attach.look()
        address = attach.find_or_start()
    if before is not None and before.health == "well":
        given.note(f"the server runs already, at {address.url}")


def down(context: typer.Context) -> None:
    """End the server; what still runs is finished or left for the next one to go on with."""
    given = given_of(context)
    attach = attach_to(given, given.place)
    found = attach.look()
    if found is None or not attach.end(found):
        given.note("no server runs")
        return
    if attach.is_ours(found.running.pid):
        raise TryLater(f"the server (pid {found.running.pid}) does not end")
    given.note(f"the server (pid {found.running.pid}) has ended")


def status(context: typer.Context, as_json: Json = False) -> None:
    """Whether the server runs, where, and what it works on."""
    given = given_of(context)
    found = attach_to(given, given.place).look()
    told = told_of(found)
    if found and found.health == "well":
        told["runs"] = counts(found)
    given.show(as_json).thing(told, lines(told))


def told_of(found: "Found | None") -> dict[str, object]:
    """A server as an object."""
    if found is None:
        return {"running": False}
    running = found.running
    return {
        "running": found.health == "well",
        "health": found.health,
        "url": running.url,
        "pid": running.pid,
        "version": found.version or running.version,
    }


def counts(found: "Found") -> dict[str, int]:
    """How many runs are in each state that is no end."""
    from assistant.client.http_runs import HttpRuns

    runs = HttpRuns(found.address, lambda: found.address)
    try:
        states = ("queued", "running", "waiting_for_approval", "waiting_for_answer")
        return {state: len(runs.get("/v1/runs", status=state, limit=500)["data"]) for state in states}
    finally:
        runs.close()


def lines(told: dict[str, object]) -> list[str]:
    """A server for people."""
    if "url" not in told:
        return ["no server runs; `assistant up` starts one"]
    words = {"well": "runs", "hangs": "does not answer", "gone": "has ended without taking its note back"}
    said = [f"the server {words[str(told['health'])]}: {told['url']} (pid {told['pid']}, version {told['version']})"]
    runs = told.get("runs")
    if isinstance(runs, dict):
        said += [f"{number} {state.replace('_', ' ')}" for state, number in runs.items() if number]
    return said


commands = {"up": alone(up), "down": alone(down), "status": alone(status)}
