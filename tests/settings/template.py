"""What `config.yaml` of a fresh home says, written from the settings tree."""

from inspect import getdoc

from pydantic import BaseModel

from assistant.settings import tree
from assistant.settings.describe import Row, describe

HEAD = """# The settings of your assistant, each at its default.
# `assistant config set NAME VALUE` changes one and keeps the comments; `assistant config edit` opens this file and
# checks it.  YAML 1.2: only true and false are booleans.
"""


def template_text() -> str:
    """What `config.yaml` of a fresh home says."""
    parts = [HEAD]
    for name, field in tree.Settings.model_fields.items():
        rows = [row for row in describe() if row.key.split(".")[0] == name]
        if isinstance(field.default, BaseModel):
            parts.append(f"\n# {getdoc(type(field.default))}\n{name}:\n{lines(rows, '  ')}")
        else:
            parts.append("\n" + lines(rows, ""))
    return "".join(parts)


def lines(rows: list[Row], indent: str) -> str:
    """One line a setting, comments under each other."""
    heads = [f"{indent}{row.key.rpartition('.')[2]}: {row.default}" for row in rows]
    width = max(len(head) for head in heads)
    return "".join(f"{head:<{width}}  # {row.meaning}\n" for head, row in zip(heads, rows, strict=True))
