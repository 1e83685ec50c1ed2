"""What a benchmark yields, and how it is printed."""

import resource
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measured value beside its target; a row without a target is told for comparison."""

    name: str
    value: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def met(self) -> str:
        """Whether the target holds; every target is an upper bound."""
        if self.target is None:
            return ""
        return "yes" if self.value <= self.target else "NO"

    @property
    def ratio(self) -> str:
        """The value as a share of its target."""
        return f"{self.value / self.target:.2f}" if self.target else ""

    def cells(self) -> tuple[str, ...]:
        """The row as words."""
        target = "" if self.target is None else figure(self.target, self.unit)
        return self.name, figure(self.value, self.unit), target, self.ratio, self.met, self.note


HEAD = ("what", "value", "target", "ratio", "met", "")


def figure(value: float, unit: str) -> str:
    """A number with as many digits as mean something."""
    digits = 0 if value == int(value) or abs(value) >= 100 else 1 if abs(value) >= 10 else 3 if unit == "s" else 2
    return f"{value:,.{digits}f} {unit}".strip()


def printed(rows: Iterable[Row]) -> str:
    """The table."""
    cells = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    return "\n".join(as_line(line, widths) for line in cells) + "\n"


def as_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """One line; numbers to the right."""
    name, *numbers, met, note = cells
    right = (number.rjust(width) for number, width in zip(numbers, widths[1:-2], strict=True))
    return "  ".join((name.ljust(widths[0]), *right, met.ljust(widths[-2]), note)).rstrip()


def holds(name: str, true: bool, note: str = "") -> Row:
    """A promise as a row: 0 times broken."""
    return Row(name, 0 if true else 1, "broken", 0, note)


def p95(values: Sequence[float]) -> float:
    """The value that one in twenty exceeds."""
    return quantiles(values, n=20)[-1]


def mid(values: Iterable[float]) -> float:
    """The median."""
    return median(values)


@dataclass(frozen=True)
class Took:
    """Milliseconds that some work took, on the wall and of the processor, its child processes among them."""

    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> Took:
    """Do it and look at both clocks."""
    cpu, begun = processor(), perf_counter()
    work()
    wall = perf_counter() - begun
    return Took(wall * 1000, (processor() - cpu) * 1000)


def processor() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def typical(name: str, took: Sequence[Took], target: float | None = None, note: str = "") -> Row:
    """The median on the wall; beside it what does not depend on who else works on the machine."""
    best, cpu = min(one.wall for one in took), mid(one.cpu for one in took)
    return Row(name, mid(one.wall for one in took), "ms", target, f"best {best:.1f}, CPU {cpu:.1f}{note}")
