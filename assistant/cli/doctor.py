"""`assistant doctor`: is all well?"""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from assistant import doctor as checks
from assistant.cli.given import Given, Json, alone, given_of
from assistant.core.interrupt import Interrupt
from assistant.core.messages import Message, Request
from assistant.doctor import Check, Probe
from assistant.home import cache_folder, find_git
from assistant.home.secrets import filled
from assistant.settings import Settings, load
from assistant.store.database import integrity

if TYPE_CHECKING:
    from assistant.core.ports import Model

PING = {
    "type": "function",
    "function": {
        "name": "ping",
        "description": "Answers that tools work.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}
ASKED = Request("You test a connection.", (PING,), (Message("user", "Call the tool ping now, without any words."),))


def doctor(
    context: typer.Context,
    as_json: Json = False,
    repair: Annotated[bool, typer.Option("--repair", help="Make the search index anew first.")] = False,
) -> None:
    """Look at everything that must be right, and say what to do where it is not."""
    given = given_of(context)
    if repair:
        with given.assembly() as assembly:
            given.note(f"the search index is made anew: {assembly.sessions.rebuild_search()} messages")
    found = checks.examine(all_checks(given))
    item = {"ok": all(check.ok for check in found), "checks": [asdict(check) for check in found]}
    given.show(as_json).thing(item, told(found))
    if not item["ok"]:
        raise typer.Exit(1)


def all_checks(given: Given) -> Mapping[str, Callable[[], Check]]:
    """Every check, none of them made yet."""
    home = given.place
    settings = partial(load, home.config)
    return {
        "home": lambda: checks.check_home(home),
        "permissions": lambda: checks.check_permissions(home),
        "settings": lambda: checks.check_settings(home),
        "git": lambda: checks.check_git(lambda: git_version(given)),
        "database": lambda: checks.check_database(home, integrity),
        "model": lambda: checks.check_model(lambda: probed(model_of(given, settings()))),
        "built-in model": lambda: checks.check_builtin(
            settings().model.name == "builtin", lambda: builtin_fault(given)
        ),
        "sandbox": lambda: checks.check_sandbox(
            settings().terminal.backend == "bubblewrap", lambda: sandbox_fault(given)
        ),
        "disk": lambda: checks.check_disk(home, lambda place: shutil.disk_usage(existing(place)).free),
    }


def git_version(given: Given) -> str:
    """What git says of itself."""
    done = subprocess.run([find_git(given.world.environ), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def model_of(given: Given, settings: Settings) -> "Model":
    """The configured model, without a database."""
    from assistant.wiring.models import builtin_of, models_of

    if given.world.models:
        return given.world.models("")

    def wait(interrupt: Interrupt, seconds: float) -> bool:
        return interrupt.wait(seconds)

    environ = filled(given.world.environ, given.place.env_file)
    return models_of(settings, environ, wait, builtin_of(cache_folder(environ), wait))("")


def probed(model: "Model") -> Probe:
    """One real request that asks for a tool call."""
    start = monotonic()
    called = any(chunk.call is not None for chunk in list(model.stream(ASKED, Interrupt())))
    return Probe(model.name, called, monotonic() - start, model.tools_supported)


def builtin_fault(given: Given) -> str:
    """Why the built-in model cannot start; empty when it can."""
    from assistant.llm.weights import ready

    return "" if ready(cache_folder(given.world.environ)) else "it has not been fetched"


def sandbox_fault(given: Given) -> str:
    """Why bubblewrap cannot confine commands; empty when it can."""
    bwrap = shutil.which("bwrap", path=given.world.environ.get("PATH"))
    if bwrap is None:
        return "bubblewrap is not installed"
    done = subprocess.run([bwrap, "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["bubblewrap does not work here"])[-1]


def existing(place: Path) -> Path:
    """The nearest folder that is there."""
    return place if place.exists() else existing(place.parent)


def told(found: tuple[Check, ...]) -> Iterator[str]:
    """One line a check, and what to do."""
    width = max(len(check.name) for check in found)
    for check in found:
        mark = "✓" if check.ok else "✗"
        yield f"{mark} {check.name:<{width}}  {check.message}"
        if check.todo:
            yield f"  {'':<{width}}  → {check.todo}"


commands = {"doctor": alone(doctor)}
