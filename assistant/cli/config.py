"""`assistant config`: the settings and where each comes from."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from assistant.cli.changing import run_editor
from assistant.cli.given import Given, Json, agreed, chapter, given_of
from assistant.home import Home
from assistant.home.secrets import filled
from assistant.settings import edit as settings

config = chapter("The settings.")
commands = {"config": config}
Key = Annotated[str, typer.Argument(metavar="NAME", help="For example model.name.")]


@config.command()
def show(context: typer.Context, as_json: Json = False) -> None:
    """Every setting, its value and where that comes from."""
    home, environ = place(given_of(context))
    items = [asdict(shown) for shown in settings.show(home.config, environ)]
    given_of(context).show(as_json).items(items, "key value origin meaning", "no settings")


@config.command()
def get(context: typer.Context, key: Key, as_json: Json = False) -> None:
    """The value of one setting."""
    home, environ = place(given_of(context))
    shown = settings.get(home.config, environ, key)
    given_of(context).show(as_json).thing(asdict(shown), [shown.value])


@config.command("set")
def set_(
    context: typer.Context, key: Key, value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")]
) -> None:
    """Change one setting; comments stay, and it says when it takes effect."""
    home, _ = place(given_of(context))
    changed = settings.set_value(home.config, key, value)
    given_of(context).note(f"{changed.key}: {changed.before} → {changed.after}. {changed.takes_effect}")


@config.command()
def path(context: typer.Context) -> None:
    """Where the file is."""
    given_of(context).show().out(str(place(given_of(context))[0].config))


@config.command()
def edit(context: typer.Context) -> None:
    """Open the file in your editor; it is checked before it counts."""
    given = given_of(context)
    home, environ = place(given)
    changed = settings.edit(home.config, lambda draft: run_editor(environ, draft), once_more)
    given.note(f"{home.config} is written" if changed else "nothing was changed")


def once_more(fault: str) -> bool:
    """Say what is wrong; whether to open the editor again."""
    return bool(agreed(f"{fault}\nOpen the editor once more?", "y"))


def place(given: Given) -> tuple[Home, Mapping[str, str]]:
    """The home and the environment with its secrets; the settings themselves may be broken."""
    home = given.place
    if not home.config.exists():
        with given.assembly():
            return home, filled(given.world.environ, home.env_file)
    return home, filled(given.world.environ, home.env_file)
