"""The files as some changes that have not landed yet would leave them."""

from collections import defaultdict

from skills_store.change import PLAIN, Change
from skills_store.files import Files, OnDisk


class Overlay(Files):
    """Reads like the folder, with the changes laid over it."""

    def __init__(self, files: Files) -> None:
        super().__init__(files.root)
        self.laid: dict[str, OnDisk | None] = {}
        self.below: dict[str, set[str]] = defaultdict(set)
        """The laid files of each folder, at any depth."""

    def lay(self, change: Change) -> None:
        """From now on, as if the change had landed."""
        for edit in change.edits:
            before = self.read(edit.path)
            mode = edit.mode or (PLAIN if before is None else before.mode)
            self.laid[edit.path] = None if edit.after is None else OnDisk(edit.after, mode)
            parts = edit.path.split("/")
            for depth in range(len(parts)):
                self.below["/".join(parts[:depth])].add(edit.path)

    def read(self, path: str) -> OnDisk | None:
        """The file as it would be."""
        return self.laid[path] if path in self.laid else super().read(path)

    def exists(self, path: str) -> bool:
        """Something would lie there."""
        if path in self.laid:
            return self.laid[path] is not None
        return bool(self.under(path)) if path in self.below else super().exists(path)

    def folders(self, below: str) -> set[str]:
        """The folders that would be there, and those that would be empty."""
        start = f"{below}/" if below else ""
        laid = {path[len(start) :].partition("/")[0] for path in self.below.get(below, ()) if self.laid[path]}
        return super().folders(below) | {name for name in laid if name[0] != "."}

    def under(self, folder: str) -> dict[str, OnDisk]:
        """Every file that would be in the folder."""
        merged = super().under(folder) | {path: self.laid[path] for path in self.below.get(folder, ())}
        return {path: found for path, found in merged.items() if found is not None}
