"""The library for readers: lists, views, searches.  Starts no process and imports no git."""

import hashlib
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from skills_store import document, index
from skills_store.change import as_text, blob_hash
from skills_store.document import Document
from skills_store.entry import Entry
from skills_store.errors import StoreError
from skills_store.files import Files, OnDisk
from skills_store.index_text import render_index
from skills_store.names import ARCHIVE, SIDECAR, SKILL_FILE, file_path_problem
from skills_store.outcome import Hit, Record, View
from skills_store.search import rank
from skills_store.settings import StoreSettings
from skills_store.skill import several
from skills_store.usage import Usage, Use

Has = Callable[[str, str], bool]
"""Whether a `variable` or a `command` of some name is there."""
RECENT = 20
NEEDS = (("required_environment_variables", "variable"), ("required_commands", "command"))


class Reading:
    """What the skills are, now."""

    def __init__(
        self,
        root: Path,
        generation: Callable[[], str],
        settings: StoreSettings,
        usage: Usage | None,
        has: Has,
    ) -> None:
        self.root = root
        self.generation = generation
        self.settings = settings
        self.usage = usage
        self.has = has
        self.own = index.Index(root)
        self.others = [index.Index(place, external=str(place)) for place in settings.external_dirs]

    def entries(self, trust: index.Trust = "") -> tuple[Entry, ...]:
        """Every skill of ours and of the external folders."""
        return self.joined(self.own.look(self.generation(), trust).entries)

    def joined(self, own: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """Our skills and those of the external folders."""
        return sum((other.look().entries for other in self.others), own)

    def records(self) -> tuple[Record, ...]:
        """Every skill, with how often it was used."""
        return self.as_records(self.entries())

    def as_records(self, entries: Sequence[Entry]) -> tuple[Record, ...]:
        """Entries with their use; the counts go by name."""
        uses = self.usage.all() if self.usage else {}
        return tuple(record_of(entry, uses.get(entry.name, Use())) for entry in entries)

    def entry(self, name: str) -> Entry:
        """The one skill of a name; StoreError when there is none, or several."""
        found = index.find(self.entries(), name)
        if not found:
            near = self.near(name)
            raise StoreError(
                f"there is no skill {name!r}", "not_found", f"did you mean {near}?" if near else "see skills_list"
            )
        if len(found) > 1:
            raise several(name, [place_of(item) for item in found])
        return found[0]

    def elsewhere(self, name: str) -> str:
        """Where a skill of this name lies in a read-only folder; empty when in none."""
        return next((place_of(entry) for entry in index.find(self.joined(()), name)), "")

    def near(self, name: str) -> str:
        """A name that looks like the one asked for."""
        return next(iter(get_close_matches(name.rpartition("/")[2], [item.name for item in self.entries()], 1)), "")

    def view(self, name: str, file_path: str = "") -> View:
        """A skill's text, or one of its files; StoreError with the reason when it is not for reading here."""
        entry = self.entry(name)
        self.must_be_usable(entry)
        files = Files(Path(entry.external) if entry.external else self.root)
        if file_path not in ("", SKILL_FILE) and (problem := file_path_problem(file_path)):
            raise StoreError(problem, "invalid")
        inner = file_path or SKILL_FILE
        there = files.under(entry.path)
        found = there.get(f"{entry.path}/{inner}")
        if found is not None and found.link:
            found = followed(files.root / entry.path / inner, files.root)
        names = tuple(path[len(entry.path) + 1 :] for path in there if not path.endswith(SIDECAR))
        if found is None:
            raise StoreError(f"{entry.name} has no file {inner!r}", "not_found", f"it has: {', '.join(names)}")
        main = found if inner == SKILL_FILE else there.get(f"{entry.path}/{SKILL_FILE}")
        told = document.read(main.data if main is not None and not main.link else b"")
        return View(
            name=entry.name,
            description=entry.description,
            category=entry.category,
            owner=entry.owner,
            content=told.text if inner == SKILL_FILE else text_of(found.data, inner),
            files=tuple(path for path in names if path != SKILL_FILE),
            path=f"{entry.path}/{inner}",
            hash=blob_hash(found.data),
            setup=self.missing(told, names),
        )

    def search(self, query: str, category: str, limit: int, archived: bool) -> tuple[Hit, ...]:
        """The skills that fit some words, best first."""
        entries = index.Index(self.root / ARCHIVE).look().entries if archived else self.entries()
        ranked = rank(query, [entry for entry in entries if category in ("", entry.category)], limit)
        records = self.as_records([entry for entry, _score in ranked])
        return tuple(Hit(record, score) for record, (_entry, score) in zip(records, ranked, strict=True))

    def prompt_lines(self, about: str) -> str:
        """The lines for the system prompt, within the budget."""
        uses = self.usage.all() if self.usage else {}
        used = [(name, use.last_used) for name, use in uses.items() if use.last_used is not None]
        recent = [name for name, _when in sorted(used, key=lambda pair: pair[1], reverse=True)[:RECENT]]
        own = self.own.look(self.generation(), "sidecars")
        usable = self.usable(self.joined(own.entries))
        return render_index(usable, self.settings.index_tokens, about, recent, (), dict(own.categories))

    def mark(self) -> str:
        """A text that changes whenever a skill does, by whatever hand."""
        digest = hashlib.sha1(usedforsecurity=False)
        for entry in self.entries():
            digest.update(
                f"{entry.path}\0{entry.hash}\0{entry.state}\0{entry.pin}\0{entry.owner}\n".encode("utf-8", "replace")
            )
        return digest.hexdigest()

    def text(self, entry: Entry) -> str:
        """A skill's text; empty when it cannot be read."""
        found = Files(Path(entry.external) if entry.external else self.root).read(f"{entry.path}/{SKILL_FILE}")
        return document.read(found.data).body if found is not None and not found.link else ""

    def must_be_usable(self, entry: Entry) -> None:
        """Refuse what is switched off, broken, or for another kind of machine."""
        if entry.name in self.settings.disabled or entry.identity in self.settings.disabled:
            raise StoreError(
                f"{entry.name} is disabled in skills.disabled", "invalid", "the person can enable it again"
            )
        if entry.broken:
            raise StoreError(f"{entry.name} is broken: {entry.broken}", "invalid", "the person can repair it")
        if entry.platforms and self.settings.platform not in entry.platforms:
            told = ", ".join(entry.platforms)
            raise StoreError(f"{entry.name} is for {told}, and this is {self.settings.platform}", "invalid")

    def usable(self, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """Those that a conversation here may know of."""
        off, here = self.settings.disabled, self.settings.platform
        return tuple(
            entry
            for entry in entries
            if not entry.broken
            and (not entry.platforms or here in entry.platforms)
            and not (off and (entry.name in off or entry.identity in off))
        )

    def offered(self) -> dict[str, str]:
        """Name and description of those that are in use."""
        usable = self.usable(self.entries("sidecars"))
        return {entry.name: entry.description for entry in usable if entry.state != "archived"}

    def missing(self, told: Document, files: Sequence[str]) -> tuple[str, ...]:
        """Variables, commands and files that the skill names and that are not here."""
        lacking = []
        for key, kind in NEEDS:
            names = document.listed(told.header.get(key, ())) or ()
            lacking += [f"{kind} {name}" for name in names if not self.has(kind, name)]
        return tuple(lacking)


def place_of(entry: Entry) -> str:
    """Where a skill lies, for people."""
    return f"{entry.external}/{entry.path}" if entry.external else entry.path


def record_of(entry: Entry, use: Use) -> Record:
    """An entry with its use."""
    return Record(
        name=entry.name,
        category=entry.category,
        description=entry.description,
        owner="external" if entry.external else entry.owner,
        state=entry.state,
        pin=entry.pin,
        broken=entry.broken,
        warnings=entry.warnings,
        views=use.views,
        uses=use.uses,
        last_used=use.last_used,
        path=entry.path,
        adopted=entry.adopted,
        external=entry.external,
    )


def followed(path: Path, root: Path) -> OnDisk | None:
    """What a link stands for, if that lies inside the root."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)) or not real.is_file():
        return None
    return OnDisk(real.read_bytes(), real.stat().st_mode)


def text_of(data: bytes, path: str) -> str:
    """A support file as text."""
    text = as_text(data)
    if text is None:
        raise StoreError(f"{path} is not text ({len(data)} bytes)", "invalid", "run or copy it instead of reading it")
    return text
