"""The last look at a folder, kept in a file, so that another process need not read every skill again.

The file is a help and never a source: one that is damaged, old or missing costs time and nothing else.
"""

import json
import os
from pathlib import Path
from typing import Any

from skills_store.entry import Entry
from skills_store.index_values import NOTHING, Shelf, Snapshot, assemble

VERSION = 2
FILE = "assistant-index.json"


def cache_file(root: Path) -> Path | None:
    """Where the look at a folder is kept: inside its repository, never in the work tree; None without a repository."""
    return root / ".git" / FILE if (root / ".git").is_dir() else None


def load(file: Path) -> Snapshot:
    """The look that was kept, or an empty one."""
    try:
        version, generation, shelves = json.loads(file.read_bytes())
        if version != VERSION:
            return NOTHING
        return assemble(tuple((category, _shelf(*rest)) for category, *rest in shelves), str(generation))
    except (OSError, ValueError, TypeError, IndexError, RecursionError):
        return NOTHING


def save(file: Path, snapshot: Snapshot) -> str:
    """Keep a look, whole or not at all; why it could not be kept, or an empty text."""
    data = json.dumps([VERSION, snapshot.generation, [[name, *shelf] for name, shelf in snapshot.shelves]])
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        draft.write_text(data, "utf-8")
        os.replace(draft, file)
    except OSError as wrong:
        draft.unlink(missing_ok=True)
        return f"the index is not kept and will be built anew: {wrong.strerror}"
    return ""


def _shelf(listing: list[str], rows: list[list[Any]], *rest: Any) -> Shelf:
    entries = [Entry._make((*row[:9], tuple(row[9]), row[10], tuple(row[11]), row[12])) for row in rows]
    shelf = Shelf(listing, entries, *rest)
    if not len(entries) == len(shelf.stamps) == len(shelf.sides):
        raise ValueError("the columns of the kept index differ in length")
    return shelf
