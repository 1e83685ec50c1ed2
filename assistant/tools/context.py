"""What a tool may touch: everything of one call, handed in as its first argument."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from assistant.core.events import Event
from assistant.core.interrupt import Interrupt
from skills_store.values import Actor, Origin


class Sessions(Protocol):
    """Earlier conversations."""

    def search(self, words: str, limit: int, not_session: str = "") -> Sequence[Any]:
        """Hits with `session_id message_id when role excerpt title`, best first."""
        ...


class Todos(Protocol):
    """The plan of a session."""

    def read(self, session_id: str) -> tuple[Mapping[str, str], ...]:
        """The list, in order."""
        ...

    def write(self, session_id: str, items: Sequence[Mapping[str, str]]) -> None:
        """Replace the list."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """One call's surroundings.  Whose rights it has is the dispatcher's matter, not the tool's."""

    run_id: str
    session_id: str
    call_id: str
    actor: Actor
    heard: Origin
    """How far the reply that made this call is to be believed; goes into a change's Cause."""
    interrupt: Interrupt
    home: Path
    root: Path
    """The workspace: all that a confined command may write."""
    workdir: Callable[[], Path]
    """The session's working folder, where relative paths start."""
    change_workdir: Callable[[Path], None]
    tell: Callable[[Event], None]
    """Tell an event while the call runs; from any thread."""
    started_group: Callable[[int], None]
    """Record the process group of a command in the call's intent before it does anything."""
    goes_on: Callable[[int], Callable[[], None]]
    """The same for a command that outlives its call; what it gives is called when the command ends."""
    ask: Callable[[str, tuple[str, ...]], str]
    """Ask the person and wait; raises ModelCanFix when nobody is there to answer."""
    spill: Callable[[str], Path]
    """Keep a long text in a file that the model may read; its path."""
    environment: Mapping[str, str]
    """What commands may see."""
    settings: Any
    """`assistant.settings.Settings`"""
    sessions: Sessions
    todos: Todos
    library: Any
    """`skills_store.library.Library`"""
    memory: Any
    """`assistant.store.memory.MemoryFiles`"""
    marks: Any
    """The read marks of this run: `seen(path) -> hash`, `mark(path, hash)`."""
    quotes: Callable[[Sequence[str]], Any]
    """Find quotes in the session: a tuple of `skills_store.values.Evidence`; ModelCanFix names the ones not found."""
    background: Any
    """`assistant.tools.background.Background`; None where nothing may outlive its call."""
