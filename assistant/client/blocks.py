"""A reply while it arrives, cut into Markdown blocks: all but the last are finished and will never change again."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt

PARSER = MarkdownIt().enable(["strikethrough", "table"]).disable(["html_block", "html_inline"])
"""HTML is shown as the text it is."""
_MAY_END = re.compile(r"^[ \t]*(?:$|#|```|~~~)", re.MULTILINE)
_GOES_ON = re.compile(r"(?: {0,3}(?:[-*+]|\d+[.)])(?:\s|$)| {0,3}(?:```|~~~)| {4}|\s*\t)")
_FENCE = re.compile(r" {0,3}(```|~~~)[^\n]*\n")


class Draft:
    """The unfinished end of one reply."""

    def __init__(self) -> None:
        self.rest = ""
        self._looked = 0

    def add(self, text: str) -> list[str]:
        """Take in a little more; the blocks that are finished now.  A line decides nothing before it is whole."""
        self.rest += text
        end = self.rest.rfind("\n") + 1
        if end <= self._looked or not _MAY_END.search(self.rest[self._looked : end]):
            return []
        self._looked = end
        blocks = split(self.rest[:end])
        if not blocks or not _is_closed(blocks[-1]):
            blocks, last = blocks[:-1], "".join(blocks[-1:])
        else:
            blocks, last = [block.rstrip() for block in blocks], ""
        if not blocks:
            return []
        self.rest = last + self.rest[end:]
        self._looked = self.rest.rfind("\n") + 1
        return blocks

    def end(self) -> list[str]:
        """Nothing more comes: the blocks that were left."""
        blocks = split(self.rest)
        self.drop()
        return blocks

    def drop(self) -> None:
        """Forget what was not finished."""
        self.rest = ""
        self._looked = 0


def _is_closed(block: str) -> bool:
    """Whether nothing that follows can belong to it: an empty line ends all but lists and code."""
    return block.endswith("\n\n") and not _GOES_ON.match(block)


def split(source: str) -> list[str]:
    """The top-level blocks of a Markdown text, as they were written."""
    lines = source.split("\n")
    starts = [token.map[0] for token in PARSER.parse(source) if token.level == 0 and token.map and token.nesting >= 0]
    if not starts:
        return [source] if source.strip() else []
    edges = [0, *starts[1:], len(lines)]
    return ["\n".join(lines[a:b]).rstrip() if b < len(lines) else "\n".join(lines[a:b]) for a, b in pairwise(edges)]


def recent(source: str, rows: int) -> str:
    """The last `rows` lines of a block, still readable as the block they come from."""
    lines = source.split("\n")
    if len(lines) <= rows:
        return source
    fence = _FENCE.match(source)
    return (fence.group() if fence else "") + "\n".join(lines[-rows:])
