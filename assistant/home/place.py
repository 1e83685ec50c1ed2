"""Where the home is, and the path of everything in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import PersonMustAct


class Below:
    """A path below the root of a home."""

    def __init__(self, *parts: str) -> None:
        self.parts = parts

    def __get__(self, home: "Home", _of: object) -> Path:
        return home.root.joinpath(*self.parts)


@dataclass(frozen=True, slots=True)
class Home:
    """One person's folder."""

    root: Path

    config = Below("config.yaml")
    """The settings."""
    env_file = Below(".env")
    """The secrets; mode 0600."""
    soul = Below("SOUL.md")
    """Who the assistant is."""
    memories = Below("memories")
    """A git repository with MEMORY.md and USER.md."""
    skills = Below("skills")
    """A git repository with one folder a skill."""
    database = Below("assistant.db")
    """Sessions, runs and all else that is not a file."""
    server_file = Below("server.json")
    """The running server: pid, port, token, version; mode 0600."""
    run = Below("run")
    """Locks of the processes that run turns, each held by one process for its life."""
    lock = Below(".home.lock")
    """Held during the first start and migrations."""
    curator_reports = Below("reports", "curator")
    """One folder a pass."""
    adopted = Below("reports", "adopted.json")
    """What came from another program's home, and which of its settings are not used."""
    logs = Below("logs")
    """Rotated logs."""
    log = Below("logs", "assistant.log")
    """Starts, stops and faults."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """All folders, the home itself first."""
        return (self.root, self.memories, self.skills, self.run, self.curator_reports, self.logs)

    @property
    def foreign(self) -> bool:
        """Another program lives here: it may never be written."""
        return (self.root / "state.db").exists() and not self.database.exists()


def find_home(environ: Mapping[str, str], explicit: str | Path = "") -> Path:
    """The place named by the command line, HERMES_HOME or the pointer; else `~/.hermes`."""
    if named := str(explicit) or environ.get("HERMES_HOME", ""):
        return _absolute(named, environ)
    note = pointer(environ)
    try:
        named = note.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return person(environ) / ".hermes"
    except (OSError, UnicodeDecodeError) as fault:
        raise PersonMustAct(f"{note} cannot be read ({fault}). Correct it, or delete it to use ~/.hermes.") from None
    place = _absolute(named, environ) if named else None
    if place is None or not place.is_dir():
        raise PersonMustAct(
            f"{note} names the home {named!r}, which is not there. "
            f"Bring it back (is its disk mounted?), or delete {note} to use ~/.hermes."
        )
    return place


def pointer(environ: Mapping[str, str]) -> Path:
    """The note that says where the home is when it is not in the usual place."""
    return person(environ) / ".config" / "assistant" / "home"


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where large files lie that can be fetched again; all homes of one person share them."""
    caches = environ.get("XDG_CACHE_HOME", "")
    return (Path(caches) if Path(caches).is_absolute() else person(environ) / ".cache") / "assistant"


def person(environ: Mapping[str, str]) -> Path:
    """The person's own folder."""
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def _absolute(named: str, environ: Mapping[str, str]) -> Path:
    """A place as it was written, with `~` and the working folder filled in."""
    first, *rest = Path(named).parts or (".",)
    return person(environ).joinpath(*rest) if first == "~" else Path(named).absolute()
