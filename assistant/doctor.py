"""Is all well?  Each check is a value with what to do; whatever touches the world is handed in as a function."""

import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import AssistantError
from assistant.home import Home
from assistant.home.adopt import unused_settings
from assistant.settings import load

ENOUGH = 100_000_000
"""Bytes of free disk below which writing may soon fail."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    ok: bool
    message: str
    todo: str = ""
    """What the person can do about it; empty when nothing is wrong."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a model made of one real request that asked it to call a tool."""

    model: str
    called: bool
    seconds: float
    tools: bool = True
    """False for a model that is known not to call tools."""


def examine(checks: Mapping[str, Callable[[], Check]]) -> tuple[Check, ...]:
    """Every check's outcome, in order; a check that raises on purpose has failed with those words."""
    return tuple(_outcome(name, check) for name, check in checks.items())


def check_home(home: Home) -> Check:
    """There is a home of ours, with everything in it."""
    if home.foreign:
        todo = f"assistant setup --adopt {home.root}"
        return Check("home", False, f"{home.root} belongs to another program", todo)
    missing = [str(folder.relative_to(home.root)) for folder in home.folders if not folder.is_dir()]
    if missing:
        return Check("home", False, f"{home.root} lacks {', '.join(missing)}", "Any assistant command makes it.")
    if cut := sorted(home.root.glob(".restore-*")):
        todo = f"Run assistant restore FILE --replace again, then delete {cut[0]}"
        return Check("home", False, f"a restore was cut short in {home.root}", todo)
    return Check("home", True, str(home.root))


def check_settings(home: Home) -> Check:
    """config.yaml is understood; what was left out at adoption is listed."""
    load(home.config)
    unused = unused_settings(home)
    rest = f"; not used here, from the adopted home: {', '.join(unused)}" if unused else ""
    return Check("settings", True, f"{home.config} is understood{rest}")


def check_permissions(home: Home) -> Check:
    """Secrets are the person's alone, and nobody else may write the home."""
    wide = [path for path in (home.env_file, home.server_file) if path.exists() and _mode(path) & 0o077]
    if wide:
        todo = f"chmod 600 {' '.join(str(path) for path in wide)}"
        return Check("permissions", False, "others can read " + ", ".join(path.name for path in wide), todo)
    if _mode(home.root) & 0o022:
        return Check("permissions", False, f"others can write {home.root}", f"chmod go-w {home.root}")
    return Check("permissions", True, "secrets are readable by you alone")


def check_git(version: Callable[[], str]) -> Check:
    """git answers."""
    return Check("git", True, version())


def check_database(home: Home, damage: Callable[[Path], list[str]]) -> Check:
    """The pages and the search index are whole.  `damage` opens the file for reading only."""
    if not home.database.exists():
        return Check("database", True, "none yet; the first conversation makes it")
    faults = damage(home.database)
    if faults:
        todo = (
            "If only the search is broken: assistant doctor --repair makes it anew. Else stop the server (assistant "
            "down), keep a copy of assistant.db, then: assistant restore --replace FILE"
        )
        return Check("database", False, "; ".join(faults[:5]), todo)
    return Check("database", True, f"whole, {_size(home.database.stat().st_size)}")


def check_model(ask: Callable[[], Probe]) -> Check:
    """One real request with a tool."""
    probe = ask()
    answered = f"{probe.model} answered in {probe.seconds:.1f} s"
    if probe.called:
        return Check("model", True, f"{answered} and called the tool")
    if not probe.tools:
        return Check("model", True, f"{answered}; it cannot call tools. assistant setup names a larger one")
    todo = "Choose a model that calls tools: assistant setup"
    return Check("model", False, f"{answered}, but did not call the tool it was asked to", todo)


def check_builtin(chosen: bool, fault: Callable[[], str]) -> Check:
    """The built-in model can start.  `fault` says what is missing, or nothing."""
    return _part("built-in model", chosen, fault(), "assistant setup --local")


def check_sandbox(chosen: bool, fault: Callable[[], str]) -> Check:
    """Commands can be confined.  `fault` says why bubblewrap does not work, or nothing."""
    return _part("sandbox", chosen, fault(), "Install bubblewrap, or: assistant config set terminal.backend local")


def check_disk(home: Home, free: Callable[[Path], int]) -> Check:
    """There is room to write."""
    room = free(home.root)
    if room < ENOUGH:
        return Check("disk", False, f"only {_size(room)} free at {home.root}", "Make room; writing will soon fail.")
    return Check("disk", True, f"{_size(room)} free")


def _outcome(name: str, check: Callable[[], Check]) -> Check:
    """A check's own word, or why it could not be made."""
    try:
        return check()
    except AssistantError as fault:
        return Check(name, False, str(fault), "See the message.")
    except OSError as fault:
        return Check(name, False, f"{fault.filename or name}: {fault.strerror or fault}", "Make it readable for you.")


def _part(name: str, chosen: bool, fault: str, todo: str) -> Check:
    """A part that matters only when it was chosen."""
    if not fault:
        return Check(name, True, "ready" if chosen else "ready, not in use")
    if not chosen:
        return Check(name, True, f"not in use ({fault})")
    return Check(name, False, fault, todo)


def _mode(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def _size(count: int) -> str:
    """Bytes for people."""
    amount, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
