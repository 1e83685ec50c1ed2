"""Finding files by what is in them or by their names."""

import fnmatch
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from assistant.core.messages import Effect
from assistant.errors import ModelCanFix
from assistant.safety.paths import is_secret
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool
from assistant.tools.limits import shorten
from assistant.tools.places import origin_of, place, shown

SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache"})
LONGEST_LINE = 300
LOOKED_AT = 20_000
"""Most hits or files gone through for one question."""
LARGEST = 5_000_000


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for, and where."""

    pattern: str
    root: Path
    glob: str
    home: Path
    program: str | None
    """Ripgrep, if it is there."""


@tool(Effect.READ, preview="pattern")
def search_files(  # noqa: PLR0913 - its parameters are its schema
    context: Context,
    pattern: Annotated[str, Field(description="Regular expression; for names a glob such as *.py")],
    path: str = ".",
    target: Literal["content", "names"] = "content",
    glob: Annotated[str, Field(description="Only files named so")] = "",
    limit: Annotated[int, Field(ge=1, le=500)] = 50,
    offset: Annotated[int, Field(ge=0, description="Hits to skip")] = 0,
) -> Result:
    """Find lines in files, or files by name, below a folder. Files that git ignores are left out."""
    where = place(context, path)
    if not where.exists():
        raise ModelCanFix(f"there is no file or folder {where}")
    program = shutil.which("rg", path=context.environment.get("PATH", os.defpath))
    question = Question(pattern, where, glob, context.home, program)
    found = names(question) if target == "names" else contents(question)
    hits = [relative(hit, context) for hit in first(found, offset + limit + 1)]
    some = hits[offset : offset + limit]
    more = len(hits) > offset + limit
    tail = [f"[more than {offset + limit}; go on with offset={offset + limit}]"] if more else []
    text = "\n".join([*some, *tail]) or "Nothing found."
    return Result(text, origin_of(context, where), preview=f"{shorten(pattern, 40)} in {shown(context, where)}")


def first(found: Iterator[str], count: int) -> list[str]:
    """So many of them; the rest is not looked for."""
    hits = []
    for hit in found:
        hits.append(hit)
        if len(hits) >= count:
            break
    return hits


def relative(hit: str, context: Context) -> str:
    """Short paths inside the working folder."""
    return hit.removeprefix(f"{context.workdir()}/")


def names(question: Question) -> Iterator[str]:
    """Files whose name, or path below the root, fits a glob."""
    wanted = question.pattern if any(sign in question.pattern for sign in "*?[") else f"*{question.pattern}*"
    for path in files(question):
        below = str(path.relative_to(question.root)) if path != question.root else path.name
        if fnmatch.fnmatch(below if "/" in wanted else path.name, wanted):
            yield str(path)


def contents(question: Question) -> Iterator[str]:
    """`path:line:text` of each line that fits."""
    return with_ripgrep(question, question.program) if question.program else by_hand(question)


def files(question: Question) -> Iterator[Path]:
    """Every file below the root, in order, but for what git ignores (if ripgrep is there) and what is secret."""
    listing = [question.program, "--files", *common(question)] if question.program else []
    listed = lines_of(listing) if listing else walked(question.root)
    for line in listed:
        path = Path(line)
        if not is_secret(path, question.home) and fnmatch.fnmatch(path.name, question.glob or "*"):
            yield path


def walked(root: Path) -> Iterator[str]:
    """Every file below a folder, without ripgrep."""
    if root.is_file():
        yield str(root)
    for folder, below, found in os.walk(root):
        below[:] = sorted(name for name in below if name not in SKIPPED)
        yield from (os.path.join(folder, name) for name in sorted(found))


def common(question: Question) -> list[str]:
    """What every call of ripgrep says."""
    skipped = [word for name in sorted(SKIPPED) for word in ("--glob", f"!{name}")]
    return [
        "--no-config",
        "--hidden",
        "--color=never",
        "--no-messages",
        "--sort=path",
        *skipped,
        "--",
        str(question.root),
    ]


def with_ripgrep(question: Question, program: str) -> Iterator[str]:
    """Matching lines as ripgrep finds them."""
    named = ["--glob", question.glob] if question.glob else []
    shape = ["--no-heading", "--with-filename", "--line-number", "--null", "--regexp", question.pattern, *named]
    for line in lines_of([program, *shape, *common(question)]):
        name, _, rest = line.partition("\0")
        if not is_secret(Path(name), question.home):
            yield f"{name}:{shorten_line(rest)}"


def by_hand(question: Question) -> Iterator[str]:
    """Matching lines, found slowly."""
    try:
        wanted = re.compile(question.pattern)
    except re.error as problem:
        raise ModelCanFix(f"pattern is not a regular expression: {problem}; escape signs meant literally") from problem
    for path in files(question):
        for number, line in enumerate(readable_lines(path), 1):
            if wanted.search(line):
                yield f"{path}:{number}:{shorten_line(line)}"


def readable_lines(path: Path) -> list[str]:
    """The lines of a text file; none of anything else."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return []
        data = path.read_bytes()
    except OSError:
        return []
    return [] if b"\0" in data[:8192] else data.decode("utf-8", "replace").splitlines()


def shorten_line(line: str) -> str:
    """A line as long as a screen allows."""
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…"


def lines_of(arguments: list[str]) -> Iterator[str]:
    """The lines a program prints, as it prints them; it is ended when nobody reads on."""
    running = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert running.stdout is not None
    assert running.stderr is not None
    with running:
        try:
            for count, line in enumerate(running.stdout):
                if count >= LOOKED_AT:
                    return
                yield line.decode("utf-8", "replace").rstrip("\r\n")
            said = running.stderr.read().decode("utf-8", "replace").strip()
            if running.wait() == 2 and said:
                raise ModelCanFix(f"the search failed: {said}; escape signs meant literally")
        finally:
            running.kill()
