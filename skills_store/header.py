"""The YAML header of a skill as plain text values: bounded, never guessed into booleans or dates, mended line by line.

Every scalar stays as it is spelled, so `yes`, `1.50` and `2024-01-01` survive.  Tags build nothing, copies of anchors
are counted, and depth and size have a limit, so that no header can cost more than it is long.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from frontmatter import parse as split_and_load
from frontmatter.default_handlers import YAMLHandler

from skills_store.problems import Problem, warning

MAX_HEADER = 65_536
MAX_DEPTH = 16
MAX_NODES = 5_000
MAX_REPAIRS = 32

_KEY_LINE = re.compile(r"(?P<key> *(?:- )?[A-Za-z_][\w.-]*)(?P<colon>[ \t]*:[ \t]+)(?P<value>\S.*?)[ \t]*")
_TOP_KEY = re.compile(r"[A-Za-z_][\w.-]*[ \t]*:")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]{0,2}([ \t]+#.*)?")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLAIN_END = r"\w.)!?"
_SIMPLE = re.compile(
    r"([a-z][a-z0-9_-]*): "
    r"(?:\"([^\"\\\t\r\x85\u2028\u2029]*)\"|'([^'\t\r\x85\u2028\u2029]*)'"
    rf"|([^\W\d_](?:[ ,(/'\"&;*+=@%{_PLAIN_END}-]*[{_PLAIN_END}])?))"
)
_NULLS = frozenset({"null", "Null", "NULL"})
_EMPTY = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True)
class Header:
    """What a header says: its values, the line each key stands on (1 is the first line below the fence), remarks."""

    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    remarks: tuple[Problem, ...] = ()


class UnreadableHeaderError(Exception):
    """A header that cannot be understood; carries the line below the fence and a sentence."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def read_header(text: str) -> Header:
    """The values of a header without its fences, repaired one line at a time where that is enough.

    Raises UnreadableHeaderError with the line and the reason otherwise.
    """
    if len(text) > MAX_HEADER:
        raise UnreadableHeaderError(1, f"the header has {len(text):,} characters; at most {MAX_HEADER:,} are read")
    if bad := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, bad.start()) + 1
        raise UnreadableHeaderError(line, f"the header holds the control character U+{ord(bad[0]):04X}; remove it")
    lines, remarks = text.split("\n"), list[Problem]()
    if simple := _simple(lines):
        return simple
    while True:
        try:
            header = _parse("\n".join(lines))
        except _FaultError as fault:
            at = _repair(lines, fault.places, remarks) if len(remarks) < MAX_REPAIRS else None
            if at is None:
                raise UnreadableHeaderError(min(fault.places[0], len(lines) - 1) + 1, fault.message) from fault
            remarks.append(warning(at.line, at.message))
        else:
            return Header(header.values, header.lines, (*remarks, *header.remarks))


def _simple(lines: list[str]) -> Header | None:
    """A header of nothing but `key: plain text` lines, which is most headers, read as YAML would; None for others."""
    values = dict[str, Any]()
    for line in lines:
        found = _SIMPLE.fullmatch(line)
        if found is None or found[1] in values or (found[4] or "") in _NULLS:
            return None
        values[found[1]] = found[found.lastindex or 0]
    return Header(values, {key: at for at, key in enumerate(values, 1)})


class _FaultError(Exception):
    """YAML did not parse: zero-based lines to look at, the likeliest first."""

    def __init__(self, message: str, *places: int) -> None:
        super().__init__(message)
        self.message, self.places = message, places


def _parse(text: str) -> Header:
    """One try at the text as it stands."""
    handler = _Handler()
    values, _ = split_and_load(f"---\n{text}\n---", handler=handler)
    return Header(values, handler.lines, tuple(handler.remarks))


class _Handler(YAMLHandler):
    """Hands python-frontmatter the whole header and reads it with libyaml's events instead of its object builder."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
        self.remarks: list[Problem] = []

    def split(self, text: str) -> tuple[str, str]:
        """The header between the two fences that `_parse` put around it."""
        return text[4:-4], ""

    def load(self, fm: str, **_: object) -> dict[str, Any]:
        """The header as text, tuples of values, and dictionaries."""
        try:
            return _Builder(self.lines, self.remarks).document(yaml.parse(fm, Loader=_LOADER))
        except yaml.MarkedYAMLError as wrong:
            marks = [mark.line for mark in (wrong.problem_mark, wrong.context_mark) if mark is not None]
            said = _PLAINER.get(str(wrong.problem), f"the header is not YAML: {wrong.problem}")
            raise _FaultError(said, *marks or [0]) from wrong
        except yaml.YAMLError as wrong:
            raise _FaultError(f"the header is not YAML: {wrong}", 0) from wrong


_PLAINER = {
    "could not find expected ':'": "this header line is no `key: value`; indent a line that continues the one above",
    "mapping values are not allowed in this context": "this header line has a colon inside a value; quote that value",
    "did not find expected key": "this header line does not fit the lines above; check its indentation and quotes",
}
_LOADER = getattr(yaml.cyaml, "CParser", yaml.BaseLoader) if yaml.__with_libyaml__ else yaml.BaseLoader


class _Builder:
    """Builds values from events with a stack of its own, so nesting cannot exhaust the interpreter's."""

    def __init__(self, lines: dict[str, int], remarks: list[Problem]) -> None:
        self.lines, self.remarks = lines, remarks
        self.open: list[tuple[Any, str | None]] = []  # containers being filled, each with its pending key
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.anchored: list[tuple[str | None, int]] = []
        self.nodes = 0
        self.root: Any = None

    def document(self, events: Iterator[Any]) -> dict[str, Any]:
        """The one mapping that the events describe; an empty header is an empty mapping."""
        for event in events:
            step = _STEPS.get(type(event))
            if step is not None:
                step(self, event)
        if self.root is None or self.root == "":
            return {}
        if not isinstance(self.root, dict):
            raise _FaultError("the header is not a list of `key: value` lines", 0)
        return self.root

    def scalar(self, event: Any) -> None:
        """A text, exactly as spelled; an unquoted null is an empty text."""
        value = "" if event.implicit[0] and event.value in _EMPTY else event.value
        self._count(1, event)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self._place(value, event)

    def start(self, event: Any) -> None:
        """A list or mapping begins."""
        self._count(1, event)
        if len(self.open) >= MAX_DEPTH:
            raise _FaultError(f"the header is nested deeper than {MAX_DEPTH} levels", event.start_mark.line)
        self.anchored.append((event.anchor, self.nodes))
        self.open.append(([] if isinstance(event, yaml.SequenceStartEvent) else {}, None))

    def end(self, event: Any) -> None:
        """A list or mapping is complete."""
        value, _ = self.open.pop()
        anchor, before = self.anchored.pop()
        value = tuple(value) if isinstance(value, list) else value
        if anchor:
            self.anchors[anchor] = (value, self.nodes - before + 1)
        self._place(value, event)

    def alias(self, event: Any) -> None:
        """A copy of something named before; counted at its full size."""
        if event.anchor not in self.anchors:
            raise _FaultError(
                f"the header refers to *{event.anchor}, which is not defined before", event.start_mark.line
            )
        value, size = self.anchors[event.anchor]
        self._count(size, event)
        self._place(value, event)

    def _count(self, nodes: int, event: Any) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise _FaultError(f"the header holds more than {MAX_NODES:,} values", event.start_mark.line)

    def _place(self, value: Any, event: Any) -> None:
        if not self.open:
            if self.root is not None:
                raise _FaultError("the header holds more than one YAML document", event.start_mark.line)
            self.root = value
            return
        container, key = self.open[-1]
        if isinstance(container, list):
            container.append(value)
        elif key is None:
            self._key(value, event)
        else:
            container.setdefault(key, value)
            self.open[-1] = (container, None)

    def _key(self, key: Any, event: Any) -> None:
        line = event.start_mark.line
        if not isinstance(key, str):
            raise _FaultError("a key of the header is a list or a mapping", line)
        container, _ = self.open[-1]
        if key in container:
            first = f", first on line {self.lines[key] + 1}" if len(self.open) == 1 else ""
            self.remarks.append(warning(line + 1, f"the key `{key}` stands here again{first}; the first one counts"))
        elif len(self.open) == 1:
            self.lines[key] = line + 1
        self.open[-1] = (container, key)


_STEPS = {
    yaml.ScalarEvent: _Builder.scalar,
    yaml.SequenceStartEvent: _Builder.start,
    yaml.MappingStartEvent: _Builder.start,
    yaml.SequenceEndEvent: _Builder.end,
    yaml.MappingEndEvent: _Builder.end,
    yaml.AliasEvent: _Builder.alias,
}


def _repair(lines: list[str], places: tuple[int, ...], done: list[Problem]) -> Problem | None:
    """Mend the broken line at a fault, or above it up to the key it belongs to, in place; what was done, or None.

    No line is mended twice in the same way, so mending ends.
    """
    for place in places:
        for at in range(min(place, len(lines) - 1), -1, -1):
            for mend, said in _REPAIRS:
                remark = warning(at + 1, said)
                if remark not in done and (mended := mend(lines[at])) is not None:
                    lines[at] = mended
                    return remark
            if _TOP_KEY.match(lines[at]):
                break
    return None


def _without_tabs(line: str) -> str | None:
    """A line whose indentation uses tabs, with two spaces for each."""
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    return indent.replace("\t", "  ") + line[len(indent) :] if "\t" in indent else None


def _quoted(line: str) -> str | None:
    """A `key: prose` line that YAML cannot take even alone, with the prose quoted."""
    found = _KEY_LINE.fullmatch(line)
    if found is None or _BLOCK_SCALAR.fullmatch(found["value"]) or _is_yaml(line.lstrip(" ")):
        return None
    return f"{found['key']}{found['colon']}{quoted_value(found['value'])}"


def _is_yaml(line: str) -> bool:
    """Does this line parse when nothing stands around it?"""
    try:
        return len(list(yaml.parse(line, Loader=_LOADER))) > 0
    except yaml.YAMLError:
        return False


_REPAIRS = (
    (_without_tabs, "tabs indent this line of the header; they are read as two spaces each"),
    (_quoted, "this value needs quotes; it is read as plain text to the end of the line"),
)


def quoted_value(value: str) -> str:
    """A text as a YAML value on one line: as it is where that is safe, in quotes otherwise."""
    plain = re.fullmatch(r"[A-Za-z가-힣][\w가-힣 ./()-]*", value) and value not in _EMPTY and value == value.strip()
    if plain:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]", lambda c: f"\\u{ord(c[0]):04x}", escaped) + '"'
