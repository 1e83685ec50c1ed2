"""Where a path of a call leads, and how far to believe what lies there."""

from pathlib import Path

from assistant.errors import ModelCanFix
from assistant.safety.network import brings_text_in
from assistant.tools.context import Context
from skills_store.values import Origin

OURS = ("skills", "memories")
"""Folders of the home that only guarded writers fill."""


def place(context: Context, path: str) -> Path:
    """An absolute path: `~` is the person's folder, anything relative starts in the working folder."""
    if path == "~" or path.startswith("~/"):
        path = context.environment.get("HOME", "~") + path[1:]
    if "\0" in path or any("\ud800" <= sign <= "\udfff" for sign in path):
        raise ModelCanFix(f"{path!r} cannot be the name of a file")
    return context.workdir() / path


def origin_of(context: Context, path: Path) -> Origin:
    """Trusted inside the working folder and in what the stores keep; everything else in the home may be a copy."""
    real, home = path.resolve(), context.home.resolve()
    if real.is_relative_to(home):
        inside = real.relative_to(home).parts
        return Origin.TRUSTED if inside[:1] and inside[0] in OURS else Origin.UNTRUSTED
    return Origin.TRUSTED if real.is_relative_to(context.workdir().resolve()) else Origin.UNTRUSTED


def origin_of_command(command: str) -> Origin:
    """Untrusted when what it prints may come from other machines."""
    return Origin.UNTRUSTED if brings_text_in(command) else Origin.TRUSTED


def shown(context: Context, path: Path) -> str:
    """The path as the model and the person read it: short inside the working folder."""
    folder = context.workdir()
    return str(path.relative_to(folder)) if path.is_relative_to(folder) and path != folder else str(path)
