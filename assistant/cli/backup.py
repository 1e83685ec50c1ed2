"""`assistant backup` and `assistant restore`: the database and both repositories in one file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant import __version__
from assistant.cli.given import Given, alone, given_of
from assistant.home import find_git

if TYPE_CHECKING:
    from skills_store.vault import Vault

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]


def backup(context: typer.Context, file: File) -> None:
    """Write everything but secrets into one file."""
    from assistant.backup.make import Source
    from assistant.backup.make import backup as write
    from assistant.store.database import copy_to, integrity

    with given_of(context).assembly() as assembly:
        vaults = {"skills": assembly.library.vault, "memories": assembly.memory.vault}
        bundles: dict[str, Callable[[Path], object]] = {name: partial(bundled, vault) for name, vault in vaults.items()}
        source = Source(copy_to, integrity, bundles, assembly.world.clock, __version__)
        parts = write(assembly.home, file.expanduser(), source)
    given_of(context).note(f"{file} holds {', '.join(parts)}. Secrets (.env) are not in it.")


def restore(
    context: typer.Context,
    file: File,
    replace: Annotated[bool, typer.Option("--replace", help="Put aside what is there now.")] = False,
) -> None:
    """Bring a backup back into an empty home."""
    from assistant.backup.restore import Target
    from assistant.backup.restore import restore as bring_back
    from assistant.store.database import integrity
    from skills_store.vault import unbundle

    given = given_of(context)
    find_git(given.world.environ)
    target = Target(unbundle, integrity, partial(busy, given), given.world.clock)
    restored = bring_back(file.expanduser(), given.place, target, replace)
    when = given.show().when(restored.created)
    given.note(f"{', '.join(restored.parts)} of {when} are back in {given.place.root}")
    if restored.replaced:
        given.note(f"what they replaced is in {restored.replaced}")


def bundled(vault: "Vault", path: Path) -> None:
    """Hand edits committed, then the whole history in one file; none when there is no history."""
    vault.take_in()
    if vault.head():
        vault.bundle(path)


def busy(given: Given) -> str:
    """Who uses the home now, in words."""
    from assistant.runtime.executors import at_work

    count = at_work(given.place.run)
    return f"{count} process{'es' if count > 1 else ''} of this program" if count else ""


commands = {"backup": alone(backup), "restore": alone(restore)}
