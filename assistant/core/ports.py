"""What the loop needs from outside, and what a face needs from the loop's owner.  Nobody here knows who answers."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from assistant.core.events import Decision, Event
from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Chunk, Message, Request
from assistant.core.turn import Turn

Clock = Callable[[], datetime]
"""Now, in UTC, with its zone."""
Mode = Literal["steer", "queue"]


class Model(Protocol):
    """Answers one request, piece by piece.

    Ends quietly when interrupted.  Raises PersonMustAct or TryLater once its own retries are spent.
    """

    name: str
    window: int
    """Tokens that a request and its reply may have together."""
    tools_supported: bool

    def stream(self, request: Request, interrupt: Interrupt) -> Iterator[Chunk]:
        """The reply's pieces, calls whole, usage last."""
        ...


class Tools(Protocol):
    """Answers the calls of one reply: events while they run, then one result a call, in call order.  Never raises."""

    def answer(self, turn: Turn, calls: tuple[Call, ...]) -> Generator[Event, None, tuple[Message, ...]]:
        """Run what may run; every call gets exactly one result, whatever happens."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """The loop's whole outside world."""

    model: Model
    tools: Tools
    interrupt: Interrupt
    arrivals: Callable[[Turn], Generator[Event, None, Turn]]
    """Before each step: steering, compaction.  A turn goes in, a turn comes out."""


@dataclass(frozen=True, slots=True)
class Start:
    """A wish for a run."""

    input: str
    session_id: str = ""
    """Empty: a new session."""
    model: str = ""
    instructions: str = ""
    idempotency_key: str = ""
    workdir: str = ""
    """Where commands of a new session start; empty: where the owner of the loop was started."""


@dataclass(frozen=True, slots=True)
class Started:
    """The run is written down; nothing can be lost any more."""

    run_id: str
    session_id: str
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """An event with its place in the run: numbers start at 1 and have no gaps."""

    seq: int
    at: datetime
    event: Event


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of words for a session that works: they enter the running turn, or wait as a turn of their own."""

    mode: Mode
    run_id: str
    """The run that has the words."""


class Runs(Protocol):
    """All that a face (terminal, HTTP, pipe) may ask of the owner of the loop."""

    def start(self, wish: Start) -> Started:
        """Write a run down and let it begin; NotFound for an unknown session, Conflict for a reused key."""
        ...

    def events(self, run_id: str, after: int = 0) -> Iterator[Told]:
        """Every event past number `after`, waiting for more until the run ends; NotFound for an unknown run."""
        ...

    def steer(self, run_id: str, text: str, mode: Mode = "steer") -> Accepted:
        """Words for a running turn or the next; a run that is over makes them the next turn of its session."""
        ...

    def stop(self, run_id: str) -> None:
        """End a run soon; what was said is kept.  Stopping an ended run does nothing."""
        ...

    def decide(self, run_id: str, decision: Decision, approval_id: str = "", feedback: str = "") -> None:
        """Answer an approval, once; Conflict when several are open and none is named, or it was answered already."""
        ...

    def answer(self, run_id: str, answer: str, question_id: str = "") -> None:
        """Answer a question of the model; errors as for `decide`."""
        ...
