"""The costly questions of the guards, answered with the index and the scanner."""

from collections.abc import Callable, Mapping, Sequence

from skills_store import document
from skills_store.alike import Known, nearest
from skills_store.change import Change
from skills_store.entry import Entry
from skills_store.guards import Likeness
from skills_store.index import find
from skills_store.names import SIDECAR, SKILL_FILE
from skills_store.reading import Reading
from skills_store.scan import Finding, scan


class Checks:
    """Is there a skill like this; is anything in it that should not be kept?"""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def external(self, name: str) -> str:
        """The read-only folder that a skill of this name lies in; empty when in none."""
        entries = find(self.reading.entries(), name) if self.reading.others else ()
        return next((entry.external for entry in entries if entry.external), "")

    def alike(self, change: Change) -> Sequence[Likeness]:
        """Skills that a new one resembles, the closest first."""
        text = next((edit.after for edit in change.edits if edit.path.endswith(f"/{SKILL_FILE}") and edit.after), None)
        if text is None:
            return ()
        new = document.read(text)
        others = [self.known(entry) for entry in self.reading.entries() if entry.name != change.name]
        found = nearest(change.name, new.description, new.body, others)
        return [Likeness(item.name, item.why) for item in found]

    def known(self, entry: Entry) -> Known:
        """A skill to compare with; its text is fetched when it comes to that."""
        return Known(entry.name, entry.category, entry.description, body_of(self.reading, entry))

    def findings(self, change: Change, before: Mapping[str, bytes]) -> Sequence[Finding]:
        """What the scan finds in the new bytes and did not find in the old ones."""
        after = {edit.path: edit.after for edit in change.edits if edit.after is not None and not is_sidecar(edit.path)}
        found = scan(after)
        if not found:
            return ()
        old = {path: before[path] for path in after if path in before}
        known = {(item.rule, item.file, line_of(old[item.file], item.line)) for item in scan(old)}
        return [item for item in found if (item.rule, item.file, line_of(after[item.file], item.line)) not in known]


def is_sidecar(path: str) -> bool:
    """The store's own file, which is not scanned."""
    return path.rpartition("/")[2] == SIDECAR


def line_of(data: bytes, number: int) -> bytes:
    """A line of a file, by its number."""
    lines = data.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else b""


def body_of(reading: Reading, entry: Entry) -> Callable[[], str]:
    """Fetches a skill's text."""
    return lambda: reading.text(entry)
