"""A skill as it lies in the store: where, and all of its files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skills_store import sidecar
from skills_store.errors import StoreError
from skills_store.files import Files, OnDisk
from skills_store.names import ARCHIVE, DEFAULT_CATEGORY, SIDECAR, SKILL_FILE, category_problem, name_problem
from skills_store.sidecar import Sidecar


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill and its files, by their path below its folder."""

    name: str
    category: str
    folder: str
    """Below the root, with `/` between the parts."""
    files: Mapping[str, OnDisk] = field(default_factory=dict)
    archived: bool = False

    @property
    def sidecar(self) -> Sidecar:
        """What the store knows about it."""
        found = self.files.get(SIDECAR)
        return sidecar.read(None if found is None else found.data)

    def data(self, path: str = SKILL_FILE) -> bytes | None:
        """The bytes of one of its files."""
        found = self.files.get(path)
        return None if found is None or found.link else found.data


class Shelves:
    """Finds skills by name, by looking at folders only."""

    def __init__(self, root: Path, files: Files) -> None:
        self.root = root
        self.files = files

    def folders(self, name: str, below: str = "") -> list[str]:
        """Where skills of this name are; `category/name` names one place."""
        category, _, short = name.rpartition("/")
        if name_problem(short) or (category and category_problem(category)):
            return []
        base = self.root / below
        if category:
            places = [f"{category}/{short}"]
            if category == DEFAULT_CATEGORY:
                places.append(short)
        else:
            places = [f"{item}/{short}" for item in folder_names(base)] + [short]
        return [f"{below}/{place}" if below else place for place in places if (base / place / SKILL_FILE).exists()]

    def find(self, name: str, archived: bool = False) -> Skill | None:
        """The skill of this name; StoreError when several have it."""
        found = self.folders(name, ARCHIVE if archived else "")
        if len(found) > 1:
            told = ", ".join(folder.removeprefix(f"{ARCHIVE}/") for folder in found)
            raise StoreError(f"{name!r} is the name of several skills: {told}", "ambiguous", "say category/name")
        return self.load(found[0]) if found else None

    def load(self, folder: str) -> Skill:
        """A skill with all of its files."""
        archived = folder.startswith(f"{ARCHIVE}/")
        category, _, name = folder.removeprefix(f"{ARCHIVE}/").rpartition("/")
        files = {path[len(folder) + 1 :]: found for path, found in self.files.under(folder).items()}
        return Skill(name, category, folder, files, archived)


def folder_names(place: Path) -> list[str]:
    """The folders of a place, in order; hidden ones and links are passed over."""
    try:
        with os.scandir(place) as entries:
            return sorted(e.name for e in entries if not e.name.startswith(".") and e.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
