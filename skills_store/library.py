"""The way into the store: one object for readers, writers, and whoever wants to know why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from skills_store import carriage
from skills_store.explain import Explaining
from skills_store.outcome import Applied, Hit, Outcome, Pending, Record, Refused, Staged, Taught, View
from skills_store.plan import Wish
from skills_store.proposing import Proposing, Seen
from skills_store.reading import Reading
from skills_store.settings import StoreSettings
from skills_store.skill import Shelves
from skills_store.story import Commit
from skills_store.usage import Usage
from skills_store.values import Actor, Cause
from skills_store.vault import Vault
from skills_store.writing import Writing, skill_folder

__all__ = [
    "Applied",
    "Library",
    "Outcome",
    "Outside",
    "Pending",
    "Record",
    "Refused",
    "Staged",
    "StoreSettings",
    "View",
    "Wish",
]


@dataclass(frozen=True, slots=True)
class Outside:
    """What the library asks of the world around it."""

    hand: Callable[[], Actor] = lambda: Actor.YOU
    """Whom to name for edits made outside: `you`, or `unknown` when a command of ours ran meanwhile."""
    has: Callable[[str, str], bool] = lambda _kind, _name: True
    """Whether a `variable` or a `command` is there."""
    told: Callable[[str], None] = lambda _step: None
    """Hears each step of an apply."""


class Library:
    """A folder of skills: read, changed through guards, explained, undone."""

    def __init__(
        self,
        root: Path,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        settings: StoreSettings | None = None,
        usage: Usage | None = None,
        outside: Outside | None = None,
    ) -> None:
        outside = outside or Outside()
        self.root = root
        self.usage = usage
        self.settings = settings or StoreSettings()
        self.vault = Vault(root, clock, ids, outside.hand, outside.told)
        self.reading = Reading(root, self.vault.head, self.settings, usage, outside.has)
        shelves = Shelves(self.vault.files, self.reading.elsewhere)
        self.proposing = Proposing(self.vault, shelves, self.reading)
        self.writing = Writing(self.vault, self.proposing, usage)
        self.explaining = Explaining(self.vault, shelves)

    # Reading

    def records(self) -> tuple[Record, ...]:
        """Every skill in the store and in the external folders."""
        return self.reading.records()

    def offered(self) -> dict[str, str]:
        """Name and description of each skill that a conversation here may use; counts no use, so it costs little."""
        return self.reading.offered()

    def record(self, name: str) -> Record:
        """One skill; StoreError not_found or ambiguous."""
        return self.reading.as_records((self.reading.entry(name),))[0]

    def view(self, name: str, file_path: str = "") -> View:
        """A skill's text or one of its files; StoreError when it is disabled, broken or for another platform."""
        return self.reading.view(name, file_path)

    def viewed(self, name: str, by_person_turn: bool) -> None:
        """Count a look at a skill; in a turn that a person started it is a use."""
        if self.usage:
            self.usage.viewed(name, by_person_turn)

    def search(self, query: str, category: str = "", limit: int = 20, archived: bool = False) -> tuple[Hit, ...]:
        """The skills that fit some words, best first."""
        return self.reading.search(query, category, limit, archived)

    def index(self, about: str = "") -> str:
        """The lines for the system prompt; empty when there are no skills."""
        return self.reading.prompt_lines(about)

    def generation(self) -> str:
        """Changes whenever the skills do, by whatever hand."""
        return self.reading.mark()

    # Changing

    def manage(self, wish: Wish, cause: Cause, seen: Seen = lambda _path: None) -> Outcome:
        """Carry out one wish, or stage it, or say why not; `seen` tells what the run viewed, by path below the root."""
        return self.writing.manage(wish, cause, seen)

    def run_all(self, steps: Sequence[tuple[Wish, Cause]], seen: Seen = lambda _path: None) -> tuple[Outcome, ...]:
        """Many wishes, each seeing what those before it did, as one transaction with a commit each."""
        return self.writing.run_all(steps, seen)

    def undo(self, commit: str, cause: Cause) -> Outcome:
        """Take one commit back; a conflict is shown, not guessed."""
        return self.writing.undo(commit, cause)

    def recover(self) -> None:
        """Finish what a dead process left."""
        self.vault.recover()

    def take_in(self, name: str = "") -> None:
        """Commit hand edits of one skill, or of everything."""
        self.vault.take_in((skill_folder(f"{self.reading.entry(name).path}/x"),) if name else ())

    def import_(self, path: Path, cause: Cause, category: str = "") -> Outcome:
        """Take in a skill from a folder, a .zip or a .tar.gz; it is owned as `installed`."""
        return self.writing.carry_out(lambda: carriage.importing(self.proposing, path, cause, category))

    def export(self, name: str, to: Path) -> Path:
        """Write a skill without our sidecar: a folder, or an archive when the name ends so."""
        return carriage.export(self.explaining.skill(name), to)

    def seed(self, folder: Path) -> tuple[str, ...]:
        """Copy bundled skills: new ones in, unmodified ones up to date, changed or deleted ones left alone."""
        return carriage.seed(self.proposing, folder)

    # Explaining

    def receipt(self, call: str) -> Applied | Staged | None:
        """What a tool call of that id has done already; None when nothing."""
        self.vault.recover()
        commit = self.vault.history.receipt(call)
        if commit is None:
            return None
        if number := next((item.id for item in self.vault.inbox.waiting() if item.commit.commit == commit.commit), ""):
            return Staged(number, commit.name, commit.action, "waits for the person already")
        hashes = {item.path: item.after for item in commit.touched if item.after}
        folder = skill_folder(next(iter(hashes or commit.paths), ""))
        place = str(self.root / folder / "SKILL.md")
        return Applied(commit.name, commit.action, folder, place, commit.commit, commit.subject, hashes=hashes)

    def log(self, name: str = "", limit: int = 100) -> tuple[Commit, ...]:
        """The newest changes of everything, or of one skill."""
        return self.explaining.log(name, limit)

    def diff(self, commit: str) -> str:
        """What a commit changed."""
        return self.vault.history.diff(commit)

    def show_at(self, name: str, commit: str) -> str:
        """A skill's text as a commit has it."""
        return self.explaining.show_at(name, commit)

    def why(self, name: str, line: int | None = None) -> tuple[Taught, ...]:
        """What taught each line, or one line."""
        return self.explaining.why(name, line)

    # Answering what waits

    def pending(self) -> tuple[Pending, ...]:
        """What waits for the person, oldest first."""
        return self.explaining.pending()

    def approve(self, number: str, cause: Cause) -> Outcome:
        """Land a waiting change as the one who proposed it."""
        return self.writing.approve(number, cause)

    def reject(self, number: str, reason: str, cause: Cause) -> None:
        """Turn a waiting change down; the reason is remembered and told when the same is proposed again."""
        self.vault.reject(number, reason, cause)
