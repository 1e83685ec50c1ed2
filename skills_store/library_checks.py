"""The costly questions of the guards, answered with the index and the scanner."""

from collections.abc import Callable, Sequence

from skills_store import document
from skills_store.alike import Known, nearest
from skills_store.change import Change
from skills_store.entry import Entry
from skills_store.guards import Likeness
from skills_store.names import SKILL_FILE
from skills_store.reading import Reading


class Checks:
    """Is there a skill like this; is anything in it that should not be kept?"""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

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

    def findings(self, change: Change) -> Sequence[str]:
        """What the scan found in the new bytes, as sentences."""
        return ()


def body_of(reading: Reading, entry: Entry) -> Callable[[], str]:
    """Fetches a skill's text."""
    return lambda: reading.text(entry)
