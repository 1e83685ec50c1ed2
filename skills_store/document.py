"""A SKILL.md as a value: read from any bytes, never dumped anew.

Reading is forgiving and honest: what can be read is read, each repair is a warning with its line, and what cannot be
repaired is a broken document that says why.  Writing edits the text and leaves every other byte alone.
"""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal

from skills_store.header import Header, UnreadableHeaderError, quoted_value, read_header
from skills_store.problems import Problem, error, warning

MAX_BYTES = 1_048_576

Newline = Literal["\n", "\r\n"]

_OPENING = re.compile(r"(?P<before>(?:[ \t]*\n)*)---[ \t]*(?:\n|\Z)")
_HEADER = re.compile(rf"{_OPENING.pattern}(?P<header>(?:(?!---[ \t]*(?:\n|\Z)).*\n)*)---[ \t]*(?:\n|\Z)")
_FENCE = re.compile(r"---[ \t]*")
_KEY = re.compile(r"(?P<key>[^\s:#][^:\n]*?)[ \t]*:(?=[ \t\r\n]|$)")
_SEPARATORS = re.compile(r"[\s,]+(?![^(]*\))")
_LISTS = ("platforms", "allowed-tools", "tags", "related_skills", "required_environment_variables")
_PLATFORM_NAMES = {"darwin": "macos", "mac": "macos", "osx": "macos", "win32": "windows", "wsl": "linux"}


@dataclass(frozen=True)
class Document:
    """One SKILL.md: what its header says, its body, and how its bytes are written."""

    name: str = ""
    description: str = ""
    header: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    text: str = ""
    newline: Newline = "\n"
    bom: bool = False
    warnings: tuple[Problem, ...] = ()
    broken: Problem | None = None
    platforms: tuple[str, ...] = ()
    body_line: int = 1
    data: bytes = field(default=b"", repr=False)

    def line_of(self, key: str) -> int:
        """The line of the file that a header key stands on; the first one when it is absent."""
        return self.lines.get(key, 1)


def read(data: bytes) -> Document:
    """Any bytes as a document.  Never raises, never takes longer than its size allows."""
    if len(data) > MAX_BYTES:
        return Document(data=data, broken=error(1, f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"))
    text, bom, wrong = _decoded(data)
    windows = text.count("\r\n")
    newline: Newline = "\r\n" if windows * 2 > text.count("\n") else "\n"
    text = text.replace("\r\n", "\n") if windows else text
    found = _HEADER.match(text)
    body = text[found.end() :] if found else text
    parts: dict[str, Any] = {"body": body, "text": text, "newline": newline, "bom": bom, "data": data}
    if found is None:
        return Document(**parts, broken=wrong or _no_header(text))
    first = found["before"].count("\n") + 2
    remarks = (warning(1, "blank lines stand before the header; remove them"),) if first > 2 else ()
    parts["body_line"] = first + found["header"].count("\n") + 1
    try:
        header = read_header(found["header"].removesuffix("\n"))
    except UnreadableHeaderError as unreadable:
        fault = error(first + unreadable.line - 1, unreadable.message)
        return Document(**parts, broken=wrong or fault, warnings=remarks)
    return Document(**parts, **_understood(header, first, wrong, remarks))


def with_field(data: bytes, key: str, value: str) -> bytes:
    """The file with one header field set to a text; every byte outside that field stays.

    Raises ValueError with a sentence when there is no header to edit.
    """
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip("\ufeff \t\r")), 0)
    fences = [at for at in range(start, len(lines)) if _FENCE.fullmatch(lines[at].lstrip("\ufeff").rstrip("\r"))]
    if len(fences) < 2 or fences[0] != start:
        raise ValueError("SKILL.md has no header between two lines of `---`; add one before changing a field of it")
    first, last = fences[0] + 1, fences[1]
    ending = "\r" if lines[fences[0]].endswith("\r") else ""
    new = f"{key}: {quoted_value(value)}{ending}"
    at = next((i for i in range(first, last) if (k := _KEY.match(lines[i])) and k["key"].strip("'\"") == key), None)
    if at is None:
        lines.insert(first, new)
    else:
        after = next((i for i in range(at + 1, last) if not _continues(lines[i])), last)
        lines[at:after] = [new]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def encode(text: str, like: Document) -> bytes:
    """A text with `\\n` line ends as bytes, with the mark and the line ends of the document it comes from.

    Lines that a document with mixed line ends already had keep the ends they had.
    """
    old = like.data.decode("utf-8", "replace").removeprefix("\ufeff")
    if like.newline == "\r\n" and old.count("\n") == old.count("\r\n"):
        text = text.replace("\n", "\r\n")
    elif "\r\n" in old:
        text = _mixed(text, old, like.newline)
    return (codecs.BOM_UTF8 if like.bom else b"") + text.encode("utf-8", "surrogatepass")


def listed(value: Any) -> tuple[str, ...] | None:
    """A list of texts from a list, from words with commas or blanks between them, or None for anything else."""
    if isinstance(value, str):
        return tuple(part for part in _SEPARATORS.split(value.strip()) if part)
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return tuple(item for item in value if item)
    return None


def _decoded(data: bytes) -> tuple[str, bool, Problem | None]:
    """The text without its mark, whether it had one, and what is wrong with its encoding."""
    bom = data.startswith(codecs.BOM_UTF8)
    payload = data[3:] if bom else data
    try:
        return payload.decode("utf-8"), bom, None
    except UnicodeDecodeError as wrong:
        line = payload.count(b"\n", 0, wrong.start) + 1
        said = f"byte 0x{payload[wrong.start]:02X} is not UTF-8; save the file as UTF-8"
        return payload.decode("utf-8", "replace"), bom, error(line, said)


def _no_header(text: str) -> Problem:
    if opened := _OPENING.match(text):
        line = opened["before"].count("\n") + 1
        return error(line, f"the header opened on line {line} is never closed; add a line with --- below it")
    return error(1, "the file does not start with a header; put name and description between two lines of ---")


def _understood(header: Header, first: int, wrong: Problem | None, remarks: tuple[Problem, ...]) -> dict[str, Any]:
    """The fields that matter taken out of a header, each of the type it is meant to have."""
    values = dict(header.values)
    lines = {key: first + line - 1 for key, line in header.lines.items()}
    for key in _LISTS:
        if key in values and (items := listed(values[key])) is not None:
            values[key] = items
    platforms = values.get("platforms", ())
    usable = isinstance(platforms, tuple) and all(isinstance(item, str) for item in platforms)
    return {
        "name": _one_line(values.get("name")),
        "description": _one_line(values.get("description")),
        "header": values,
        "lines": lines,
        "warnings": (*remarks, *(warning(first + note.line - 1, note.message) for note in header.remarks)),
        "broken": wrong or _wrong_type(values, lines),
        "platforms": tuple(_PLATFORM_NAMES.get(p.lower(), p.lower()) for p in platforms) if usable else (),
    }


def _wrong_type(values: Mapping[str, Any], lines: Mapping[str, int]) -> Problem | None:
    """The first field whose kind of value makes the skill unusable."""
    for key in ("name", "description"):
        if not isinstance(values.get(key, ""), str):
            return error(lines[key], f"`{key}` must be one text, not a list or a mapping")
    if not isinstance(values.get("platforms", ()), tuple):
        return error(lines["platforms"], "`platforms` must be a list such as [linux, macos]")
    if not _one_line(values.get("description")):
        return error(lines.get("description", 1), "the header needs a `description` that says when to use the skill")
    return None


def _one_line(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _continues(line: str) -> bool:
    """Does this header line belong to the key above it?"""
    return line.startswith((" ", "\t")) or not line.strip()


def _mixed(text: str, old: str, newline: Newline) -> str:
    """The lines of a text, each that stood in the old one with its old end, new ones with the usual end."""
    before = old.split("\n")
    bare = [line.removesuffix("\r") for line in before]
    after = text.split("\n")
    ends = [newline] * len(after)
    for a, b, size in SequenceMatcher(None, bare, after, autojunk=False).get_matching_blocks():
        ends[b : b + size] = ["\r\n" if line.endswith("\r") else "\n" for line in before[a : a + size]]
    return "".join(line + end for line, end in zip(after[:-1], ends, strict=False)) + after[-1]
