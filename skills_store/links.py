"""Headings and links of a Markdown body, found by a Markdown parser and not by guessing."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from posixpath import normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from skills_store.names import SUPPORT_FOLDERS

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_BRACKETS = 2_000
"""More would make the parser's time grow with their square."""

_SIMPLE_LINK = re.compile(r"\]\(<?([^()\s<>]{1,500})")
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/|~", re.IGNORECASE)
_MENTION = re.compile(rf"(?:{'|'.join(SUPPORT_FOLDERS)})/[\w./-]*\w")


@dataclass(frozen=True, slots=True)
class Link:
    """Where a body points to, and on which of its lines (the first is 1); `mention` is a path in code marks."""

    target: str
    line: int
    mention: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A heading: its text, its level and the line of the body it stands on."""

    title: str
    level: int
    line: int


def links(body: str) -> tuple[Link, ...]:
    """Every link and image of a body, and every path of a support file that stands in code marks."""
    if body.count("[") > MAX_BRACKETS:
        return tuple(_links_by_sight(body))
    return tuple(link for token in _tokens(body) if token.type == "inline" for link in _links_of(token))


def sections(body: str) -> tuple[Section, ...]:
    """The headings of a body in order; none from inside code blocks."""
    tokens = _tokens(body)
    return tuple(
        Section(text.content, int(token.tag[1:]), (token.map or [0])[0] + 1)
        for token, text in pairwise(tokens)
        if token.type == "heading_open"
    )


def dead_links(body: str, names: Collection[str]) -> tuple[Link, ...]:
    """The links to files beside the skill that are not among its files; a link that leads out counts as dead."""
    files = frozenset(names)
    folders = {name[:at] for name in files for at, letter in enumerate(name) if letter == "/"}
    known = files | folders | {"SKILL.md", "."}
    return tuple(link for link in links(body) if (path := local_path(link.target)) and path not in known)


def local_path(target: str) -> str:
    """The file beside the skill that a link names; empty when it points elsewhere on purpose (the web, an anchor)."""
    bare = unquote(target).split("#")[0].split("?")[0].strip()
    return "" if not bare or _OUTSIDE.match(target) else normpath(bare)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 20})


def _tokens(body: str) -> "list[Token]":
    return _parser().parse(body)


def _links_by_sight(body: str) -> Iterator[Link]:
    for number, line in enumerate(body.split("\n"), 1):
        yield from (Link(target, number) for target in _SIMPLE_LINK.findall(line))


def _links_of(token: "Token") -> Iterator[Link]:
    line = (token.map or [0])[0] + 1
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            line += 1
        elif child.type in ("link_open", "image"):
            yield Link(str(child.attrs.get("href" if child.type == "link_open" else "src", "")), line)
        elif child.type == "code_inline" and _MENTION.fullmatch(child.content):
            yield Link(child.content, line, mention=True)
