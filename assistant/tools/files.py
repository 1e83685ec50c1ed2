"""Reading, writing and patching files."""

import difflib
import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import Field

from assistant.core.messages import Effect
from assistant.errors import ModelCanFix
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool
from assistant.tools.places import origin_of, place, shown
from assistant.tools.whole import Text, bytes_of, text_of, write
from skills_store.match import AlreadyApplied, Replaced, replace

PAGE = 90_000
"""Characters of one page of a file."""
LONGEST_LINE = 2_000
DIFF = 4_000


@tool(Effect.READ, preview="path")
def read_file(
    context: Context,
    path: str,
    offset: Annotated[int, Field(ge=1, description="First line")] = 1,
    limit: Annotated[int, Field(ge=1, le=2000, description="Lines")] = 500,
) -> Result:
    """Read a text file; each line comes as NUMBER|text."""
    where = place(context, path)
    data = bytes_of(where)
    lines = text_of(where, data).text.encode("utf-8", "replace").decode().splitlines()
    context.marks.mark(str(where), digest(data))
    return Result(page(lines, offset, limit), origin_of(context, where), preview=shown(context, where))


def page(lines: list[str], offset: int, limit: int) -> str:
    """Some numbered lines, and what is left out before and after them."""
    if not lines:
        return "[the file is empty]"
    if offset > len(lines):
        raise ModelCanFix(f"the file has {len(lines)} lines; offset {offset} is past its end")
    said: list[str] = []
    size = 0
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], offset):
        cut = "" if len(line) <= LONGEST_LINE else f"[… {len(line) - LONGEST_LINE:,} more characters in this line]"
        size += len(line[:LONGEST_LINE]) + 8
        if size > PAGE and said:
            break
        said.append(f"{number}|{line[:LONGEST_LINE]}{cut}")
    last = offset + len(said) - 1
    if last < len(lines):
        said.append(f"[lines {offset} to {last} of {len(lines)}; go on with offset={last + 1}]")
    return "\n".join(said)


@tool(Effect.WORLD, preview="path")
def write_file(context: Context, path: str, content: Annotated[str, Field(description="The whole file")]) -> Result:
    """Create a file or replace all of it. To change a part, use patch."""
    where = place(context, path)
    stale = "; it had changed since it was last read in this run" if changed_since_read(context, where) else ""
    data = content.encode("utf-8", "replace")
    new = write(where, data)
    context.marks.mark(str(where), digest(data))
    lines = len(content.splitlines())
    done = f"{'Created' if new else 'Overwrote'} {where} ({lines} lines, {len(data):,} bytes)"
    return Result(f"{done}{stale}.", preview=shown(context, where))


def changed_since_read(context: Context, path: Path) -> bool:
    """Whether somebody else wrote a file after this run read it."""
    seen = context.marks.seen(str(path))
    return bool(seen) and path.is_file() and digest(path.read_bytes()) != seen


@tool(Effect.WORLD, preview="path")
def patch(
    context: Context,
    path: str,
    old_string: Annotated[str, Field(description="Text that stands in the file once")],
    new_string: str,
    replace_all: bool = False,
) -> Result:
    """Replace a part of a file."""
    where = place(context, path)
    data = bytes_of(where)
    before = text_of(where, data)
    if not old_string.strip():
        raise ModelCanFix("old_string is empty; read the file and copy the exact text that is to be replaced")
    match replace(before.text, old_string, new_string, all=replace_all, strict=True):
        case Replaced() as done:
            return patched(context, where, before, done)
        case AlreadyApplied(message):
            return Result(f"Nothing to do: {message}", preview=shown(context, where))
        case refused:
            return Result(told(refused), failed=True, preview=shown(context, where))


def patched(context: Context, path: Path, before: Text, done: Replaced) -> Result:
    """Write the new text and show what changed."""
    data = before.encode(done.text)
    write(path, data)
    context.marks.mark(str(path), digest(data))
    how = "" if done.how == "exact" else f" (matched by {done.how})"
    times = "" if done.count == 1 else f", {done.count} places"
    return Result(f"Patched {path}{times}{how}\n{difference(before.text, done.text)}", preview=shown(context, path))


def difference(before: str, after: str) -> str:
    """The changed lines with a little around them, bounded."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", n=2, lineterm="")
    text = "\n".join(list(lines)[2:])
    return text if len(text) <= DIFF else f"{text[:DIFF]}\n[… the rest of the difference is left out]"


def told(refused: object) -> str:
    """A refusal of the matcher in words."""
    message = str(getattr(refused, "message", ""))
    nearest = str(getattr(refused, "nearest", "") or "")
    return f"{message}\nNearest:\n{nearest}" if nearest and nearest not in message else message


def digest(data: bytes) -> str:
    """A short name of the bytes."""
    return hashlib.sha256(data).hexdigest()
