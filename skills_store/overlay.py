"""The files as some changes that have not landed yet would leave them."""

from collections import defaultdict

from skills_store.change import PLAIN, Change
from skills_store.files import Files, OnDisk


class Overlay(Files):
    """Reads like the folder, with the changes laid over it."""

    def __init__(self, files: Files) -> None:
        super().__init__(files.root)
        self.laid: dict[str, OnDisk | None] = {}
        self.inner: dict[str, set[str]] = defaultdict(set)
        """What lies directly in each folder that was touched: files and folders."""

    def lay(self, change: Change) -> None:
        """From now on, as if the change had landed."""
        for edit in change.edits:
            before = self.read(edit.path)
            mode = edit.mode or (PLAIN if before is None else before.mode)
            self.laid[edit.path] = None if edit.after is None else OnDisk(edit.after, mode)
            below = edit.path
            while below:
                above = below.rpartition("/")[0]
                self.inner[above].add(below)
                below = above

    def read(self, path: str) -> OnDisk | None:
        """The file as it would be."""
        return self.laid[path] if path in self.laid else super().read(path)

    def exists(self, path: str) -> bool:
        """Something would lie there."""
        if path in self.laid:
            return self.laid[path] is not None
        return bool(self.under(path)) if path in self.inner else super().exists(path)

    def folders(self, below: str) -> set[str]:
        """The folders that would be there, and those that would be empty."""
        names = (path.rpartition("/")[2] for path in self.inner.get(below, ()) if path in self.inner)
        return super().folders(below) | {name for name in names if name[0] != "."}

    def under(self, folder: str) -> dict[str, OnDisk]:
        """Every file that would be in the folder."""
        found = super().under(folder)
        waiting = [folder]
        while waiting:
            for path in self.inner.get(waiting.pop(), ()):
                waiting.append(path)
                if laid := self.laid.get(path):
                    found[path] = laid
                elif path in self.laid:
                    found.pop(path, None)
        return found
