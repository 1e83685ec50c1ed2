"""What a process brings to its end before it leaves: due reviews, and what a dead process left behind."""

from typing import TYPE_CHECKING

from assistant.cli.attach import Attached
from assistant.cli.show import Show
from assistant.core.ports import Started

if TYPE_CHECKING:
    from assistant.client.ask import Person
    from assistant.store.database import Row


def tell_recovered(at: Attached, show: Show) -> None:
    """Say what goes on again; its end is in its session."""
    for row in at.recovered:
        if row["kind"] != "review":
            session = row["session_id"]
            show.note(f"↻ going on with what was interrupted: run {row['id']} (assistant sessions show {session})")


def finish_own(at: Attached, person: "Person", show: Show, session: str | None = None) -> None:
    """Follow every run that nobody else will finish, of one session or of all; each shows one line."""
    seen: set[str] = set()
    while rows := [row for row in at.mine() if row["id"] not in seen and session in (None, row["session_id"])]:
        for row in rows:
            seen.add(row["id"])
            finish(at, row, person, show)


def finish(at: Attached, row: "Row", person: "Person", show: Show) -> None:
    """One run to its end."""
    if row["kind"] != "review":
        take_up(at, row, person, show)
        return
    if show.streams.notes.isatty():
        show.note("· looking back at the conversation (Ctrl-C leaves that to the next time)")
    line = at.reviewed(row["id"])["line"]
    if line and at.ground.settings.review.notify == "on":
        show.note(f"✎ {line}")


def take_up(at: Attached, row: "Row", person: "Person", show: Show) -> None:
    """A turn goes on among the notes, and may ask."""
    from assistant.client.ask import ask_attached
    from assistant.client.render import PlainScreen

    screen = PlainScreen(show.streams.notes, show.streams.notes, streaming=False)
    ask_attached(at.runs, Started(row["id"], row["session_id"]), screen, person)
