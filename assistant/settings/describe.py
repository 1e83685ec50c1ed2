"""The tree as a table (name, default, meaning) and as the text of a fresh `config.yaml`."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import getdoc
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from assistant.settings import tree
from assistant.settings.yaml12 import read

PLAIN = re.compile(r"[\w./-]+")
HEAD = """# The settings of your assistant, each at its default.
# `assistant config set NAME VALUE` changes one and keeps the comments; `assistant config edit` opens this file and
# checks it.  YAML 1.2: only true and false are booleans.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One setting."""

    key: str
    default: str
    """As it stands in the file."""
    meaning: str


def describe() -> tuple[Row, ...]:
    """All settings, in the order of the file."""
    return _rows(tree.Settings, "", _meanings())


def template_text() -> str:
    """What `config.yaml` of a fresh home says."""
    parts = [HEAD]
    for name, field in tree.Settings.model_fields.items():
        rows = [row for row in describe() if row.key.split(".")[0] == name]
        if isinstance(field.default, BaseModel):
            parts.append(f"\n# {getdoc(type(field.default))}\n{name}:\n{_lines(rows, '  ')}")
        else:
            parts.append("\n" + _lines(rows, ""))
    return "".join(parts)


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


def _lines(rows: list[Row], indent: str) -> str:
    """One line a setting, comments under each other."""
    heads = [f"{indent}{row.key.rpartition('.')[2]}: {row.default}" for row in rows]
    width = max(len(head) for head in heads)
    return "".join(f"{head:<{width}}  # {row.meaning}\n" for head, row in zip(heads, rows, strict=True))


def _rows(group: type[BaseModel], at: str, meanings: Mapping[str, str]) -> tuple[Row, ...]:
    """The settings of a group and of the groups below it."""
    rows: list[Row] = []
    for name, field in group.model_fields.items():
        if isinstance(field.default, BaseModel):
            rows += _rows(type(field.default), f"{at}{name}.", meanings)
        else:
            default = field.get_default(call_default_factory=True)
            rows.append(Row(f"{at}{name}", as_yaml(default), meanings[f"{group.__name__}.{name}"]))
    return tuple(rows)


def _meanings() -> dict[str, str]:
    """The text under each field, by class and field; read from the source, so that a start does not pay for it."""
    source = ast.parse(Path(tree.__file__).read_text(encoding="utf-8"))
    found = {}
    for group in (node for node in source.body if isinstance(node, ast.ClassDef)):
        for field, text in pairwise(group.body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found[f"{group.name}.{ast.unparse(field.target)}"] = str(ast.literal_eval(text.value))
    return found
