"""The tree as a table: name, default, meaning."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from assistant.settings import tree
from assistant.settings.yaml12 import read

PLAIN = re.compile(r"[\w./-]+")


@dataclass(frozen=True, slots=True)
class Row:
    """One setting."""

    key: str
    default: str
    """As it stands in the file."""
    meaning: str


def describe() -> tuple[Row, ...]:
    """All settings, in the order of the file."""
    meanings = _meanings()
    return tuple(Row(key, as_yaml(default), meanings[place]) for key, place, default in tree.settings())


def as_yaml(value: Any) -> str:
    """A value on one line, quoted only where a plain word would mean something else."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        return value if PLAIN.fullmatch(value) and read(value) == value else quoted
    if isinstance(value, BaseModel):
        return as_yaml(value.model_dump(exclude_defaults=True))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{as_yaml(key)}: {as_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(as_yaml(item) for item in value) + "]"
    return str(value)


def _meanings() -> dict[str, str]:
    """The text under each field, by class and field; read from the source, so that a start does not pay for it."""
    source = ast.parse(Path(tree.__file__).read_text(encoding="utf-8"))
    found = {}
    for group in (node for node in source.body if isinstance(node, ast.ClassDef)):
        for field, text in pairwise(group.body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found[f"{group.name}.{ast.unparse(field.target)}"] = str(ast.literal_eval(text.value))
    return found
