"""YAML 1.2 by the C parser: only true and false are booleans, so `on`, `off`, `yes` and `22:30` stay words."""

import re
from collections.abc import Hashable
from typing import Any

import yaml


class Loader(yaml.CSafeLoader):
    """The core schema of YAML 1.2; a key given twice is an error."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - extended by add_implicit_resolver

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping whose keys are all different."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a name must be one word", key.start_mark)
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _whole_number(loader: Loader, node: yaml.ScalarNode) -> int:
    """1.2 knows 0o17 and 0xff; a leading zero means nothing."""
    text = loader.construct_scalar(node)
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text, 10)


_WORDS = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
)
for _kind, _pattern, _first in _WORDS:
    Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_pattern})$"), ["" if c == "\0" else c for c in _first]
    )
Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)


def read(text: str) -> Any:
    """The value of one document."""
    return yaml.load(text, Loader)


def line_of(text: str, path: tuple[str | int, ...]) -> int:
    """The line, from 1, where the setting at `path` stands, or the nearest group around it."""
    node, line = yaml.compose(text, Loader), 1
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        line, node = found
    return line


def _child(node: Any, step: str | int) -> tuple[int, Any] | None:
    """The line and node below a mapping or list."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return item.start_mark.line + 1, item
    if isinstance(node, yaml.MappingNode):
        return next(((k.start_mark.line + 1, v) for k, v in node.value if k.value == str(step)), None)
    return None
