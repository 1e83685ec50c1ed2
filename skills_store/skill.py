"""A skill as it lies in the store: where, and all of its files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

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

    def __init__(self, files: Files, elsewhere: Callable[[str], str] = lambda _name: "") -> None:
        self.files = files
        self.elsewhere = elsewhere
        """The skill of a name in a read-only folder; empty when there is none."""

    def folders(self, name: str, below: str = "") -> list[str]:
        """Where skills of this name are; `category/name` names one place."""
        category, _, short = name.rpartition("/")
        if name_problem(short) or (category and category_problem(category)):
            return []
        if category:
            places = [f"{category}/{short}"] + ([short] if category == DEFAULT_CATEGORY else [])
        else:
            places = [f"{item}/{short}" for item in sorted(self.files.folders(below))] + [short]
        whole = [f"{below}/{place}" if below else place for place in places]
        return [place for place in whole if self.files.exists(f"{place}/{SKILL_FILE}")]

    def find(self, name: str, archived: bool = False) -> Skill | None:
        """The skill of this name; StoreError when several have it."""
        found = self.folders(name, ARCHIVE if archived else "")
        if found and not archived and "/" not in name and (other := self.elsewhere(name)):
            found.append(other)
        if len(found) > 1:
            raise several(name, [folder.removeprefix(f"{ARCHIVE}/") for folder in found])
        return self.load(found[0]) if found else None

    def load(self, folder: str) -> Skill:
        """A skill with all of its files."""
        archived = folder.startswith(f"{ARCHIVE}/")
        category, _, name = folder.removeprefix(f"{ARCHIVE}/").rpartition("/")
        files = {path[len(folder) + 1 :]: found for path, found in self.files.under(folder).items()}
        return Skill(name, category, folder, files, archived)


def several(name: str, places: Sequence[str]) -> StoreError:
    """The name does not say which."""
    told = ", ".join(places)
    return StoreError(f"{name!r} is the name of several skills: {told}", "ambiguous", "say category/name")
