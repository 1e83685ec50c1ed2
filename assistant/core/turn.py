"""A turn as a value: what has been said so far and how much may still be spent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from assistant.core.messages import Call, Message, Request
from skills_store.values import Origin, worst


class Stop(Enum):
    """Why a turn ended."""

    ANSWERED = "answered"
    OUT_OF_STEPS = "out of steps"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Turn:
    """Goes into the loop, comes out longer."""

    system: str
    tools: tuple[Mapping[str, Any], ...]
    messages: tuple[Message, ...]
    max_steps: int
    steps: int = 0
    origin: Origin = Origin.OWN
    """As untrusted as the worst result before it in this turn."""

    def must_stop(self, interrupted: bool) -> Stop | None:
        """Why no further request may be made, if so."""
        if interrupted:
            return Stop.INTERRUPTED
        return Stop.OUT_OF_STEPS if self.steps >= self.max_steps else None

    def unanswered(self) -> tuple[Call, ...]:
        """The calls of the last reply that have no result: all of them, or what a dead process left."""
        last = next((m for m in reversed(self.messages) if m.role != "tool"), None)
        if last is None or not last.calls:
            return ()
        answered = {m.answers for m in self.messages if m.role == "tool"}
        return tuple(call for call in last.calls if call.id not in answered)

    def stuck_on(self, call: Call) -> bool:
        """Whether the two replies before this one made this very call and nothing else, and it failed both times."""
        begin = max((i for i, m in enumerate(self.messages) if m.role == "user"), default=-1) + 1
        since = self.messages[begin:]
        failed = {m.answers for m in since if m.failed}
        before = [m.calls for m in since if m.role == "assistant"][-3:-1]
        return len(before) == 2 and all(
            [(c.name, c.arguments, c.id in failed) for c in calls] == [(call.name, call.arguments, True)]
            for calls in before
        )

    def request(self) -> Request:
        """The next request: the whole of the last one, and what came since."""
        return Request(self.system, self.tools, self.messages)

    def adding(self, *messages: Message) -> "Turn":
        """The turn with more said; results make it as untrusted as they are."""
        heard = [m.origin for m in messages if m.role == "tool"]
        return replace(
            self,
            messages=self.messages + messages,
            origin=worst([self.origin, *(o for o in heard if o is Origin.UNTRUSTED)]),
        )

    def spending(self) -> "Turn":
        """The turn after one more step."""
        return replace(self, steps=self.steps + 1)
