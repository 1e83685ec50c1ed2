"""Looking through files before they are published: secrets, instructions that mislead, scripts that do harm.

A finding names the rule, the file and the line, and never repeats what it found: a secret must not reach a log.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from skills_store.scan_rules import RULES, WARNS_AGAINST, Rule, Severity
from skills_store.text import hidden_in_prose

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

MAX_LINE = 4_000
MAX_FINDINGS = 50
_PROGRAMS = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe")
_MORE_SECRETS = re.compile(
    r"\b(?:sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{32,}|AIza[A-Za-z0-9_-]{35}|hf_[A-Za-z0-9]{30,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|github_pat_[A-Za-z0-9_]{50,}|xapp-[A-Za-z0-9-]{40,}|AGE-SECRET-KEY-1[A-Z0-9]{50,})"
)
_PLACEHOLDER = re.compile(
    r"^\$|\$[({]|[<>{}]|\*{3}|%\w+%|\.\.\.|…|your|example|placeholder|changeme|change-me|dummy|sample|redacted|secret_?here|fake|x{4,}|0{6,}"
    r"|123456|os\.environ|getenv|process\.env|^(?:none|null|true|false|pass|password|passwd|secret|token|string|required)$",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"(?i)(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|pwd|credential)[\w-]{0,20}[\"']?\s*[:=]\s*[\"'`]?([^\s\"'`,;]{8,})"
)


_GUESSING = {
    *("Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector", "IPPublicDetector"),
    *("CloudantDetector", "IbmCloudIamDetector", "IbmCosHmacDetector", "SoftlayerDetector"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found where; `block` keeps an automatic change from being published, `warn` is told."""

    rule: str
    file: str
    line: int
    message: str
    severity: Severity

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message} ({self.rule})"


def scan(files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """What is suspicious in some files, by file and line; at most 50 findings a file."""
    return tuple(finding for file, data in sorted(files.items()) for finding in _scan_file(file, data))


def _scan_file(file: str, data: bytes) -> list[Finding]:
    if data.startswith(_PROGRAMS):
        return [Finding("program", file, 1, "is a compiled program, which nobody can read", "block")]
    if b"\0" in data[:8_192]:
        return []
    found = dict[tuple[str, int], Finding]()
    for number, line in _lines(data.decode("utf-8", "replace")):
        for rule, message, severity in _scan_line(line):
            found.setdefault((rule, number), Finding(rule, file, number, message, severity))
        if len(found) >= MAX_FINDINGS:
            break
    return list(found.values())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, those that a backslash continues joined, overlong ones in overlapping pieces."""
    held, start = "", 0
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        start = start or number
        held += line
        if line.endswith("\\") and len(held) < MAX_LINE:
            held = held[:-1] + " "
            continue
        yield from ((start, held[at : at + MAX_LINE]) for at in range(0, max(1, len(held)), MAX_LINE // 2))
        held, start = "", 0
    if held:
        yield start, held[:MAX_LINE]


def _scan_line(line: str) -> Iterator[tuple[str, str, Severity]]:
    if not line.strip():
        return
    if hidden := hidden_in_prose(line.replace("\t", " ").rstrip("\r")):
        what = "holds a control character" if hidden < "U+00A0" and len(hidden) == 6 else "holds an invisible character"
        yield "hidden", f"{what}, {hidden}", "warn" if hidden == "U+FEFF" else "block"
    plain = line if line.isascii() else _visible(line)
    for rule in RULES:
        if match := rule.pattern.search(plain):
            yield rule.name, rule.message, _severity(rule, plain, match.start())
    if _holds_secret(line):
        yield "secret", "holds what looks like a password or a key; name the variable that holds it instead", "block"


def _severity(rule: Rule, line: str, at: int) -> Severity:
    """A line that warns against something before naming it is advice, not the thing itself."""
    return "warn" if rule.quotable and WARNS_AGAINST.search(line, 0, at) else rule.severity


def _visible(line: str) -> str:
    """A line as a reader takes it: look-alike widths made one, what cannot be seen left out."""
    return "".join(c for c in unicodedata.normalize("NFKC", line) if unicodedata.category(c) != "Cf")


def _holds_secret(line: str) -> bool:
    found = [value for plugin in _detectors() for value in plugin.analyze_string(line)]
    found += _MORE_SECRETS.findall(line)
    if any(not _PLACEHOLDER.search(value) for value in found):
        return True
    return any(_like_a_secret(value) for value in _ASSIGNED.findall(line))


def _like_a_secret(value: str) -> bool:
    """Is an assigned value a real one: no placeholder, no call, no plain word?"""
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^\w.()/-]"))
    path = "/" in value and len(value) < 32
    return kinds >= 3 and not path and not _PLACEHOLDER.search(value) and not re.search(r"[()\[\]]", value)


@cache
def _detectors() -> "tuple[BasePlugin, ...]":
    """Every plugin for keys of a known shape; those that guess by chance or by the word before it are left out."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    known: Any = get_mapping_from_secret_type_to_class()
    return tuple(plugin() for plugin in known.values() if plugin.__name__ not in _GUESSING)
