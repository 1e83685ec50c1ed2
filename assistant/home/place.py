"""Where the home is, and the path of everything in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import PersonMustAct


@dataclass(frozen=True, slots=True)
class Home:
    """One person's folder."""

    root: Path

    @property
    def config(self) -> Path:
        """The settings."""
        return self.root / "config.yaml"

    @property
    def env_file(self) -> Path:
        """The secrets; mode 0600."""
        return self.root / ".env"

    @property
    def soul(self) -> Path:
        """Who the assistant is."""
        return self.root / "SOUL.md"

    @property
    def memories(self) -> Path:
        """A git repository with MEMORY.md and USER.md."""
        return self.root / "memories"

    @property
    def skills(self) -> Path:
        """A git repository with one folder a skill."""
        return self.root / "skills"

    @property
    def database(self) -> Path:
        """Sessions, runs and all else that is not a file."""
        return self.root / "assistant.db"

    @property
    def server_file(self) -> Path:
        """The running server: pid, port, token, version; mode 0600."""
        return self.root / "server.json"

    @property
    def run(self) -> Path:
        """Locks of the processes that run turns."""
        return self.root / "run"

    def executor_lock(self, executor: str) -> Path:
        """Held by one process for its life."""
        return self.run / f"{executor}.lock"

    @property
    def lock(self) -> Path:
        """Held during the first start and migrations."""
        return self.root / ".home.lock"

    @property
    def reports(self) -> Path:
        """What was done while nobody watched."""
        return self.root / "reports"

    @property
    def curator_reports(self) -> Path:
        """One folder a pass."""
        return self.reports / "curator"

    @property
    def adopted(self) -> Path:
        """What came from another program's home, and which of its settings are not used."""
        return self.reports / "adopted.json"

    @property
    def logs(self) -> Path:
        """Rotated logs."""
        return self.root / "logs"

    @property
    def log(self) -> Path:
        """Starts, stops and faults."""
        return self.logs / "assistant.log"

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
