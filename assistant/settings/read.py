"""From `config.yaml` to the tree; every fault becomes a sentence with file, line, key and what is expected."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from assistant.errors import BadSetting
from assistant.settings.tree import Settings, leaves
from assistant.settings.yaml12 import line_of, read

Keys = tuple[str | int, ...]
EXPECTED: Mapping[str, str] = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text (in quotes, if it looks like a number)",
    "tuple_type": "a list",
    "mapping_type": "a group of `name: value` lines",
    "model_type": "a group of `name: value` lines",
    "model_attributes_type": "a group of `name: value` lines",
    "literal_error": "one of {expected}",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
}


def load(path: Path) -> Settings:
    """The settings of a file; defaults where it, or the file itself, says nothing."""
    text = read_text(path)
    return parse(values_of(text, str(path)), str(path), lambda keys: line_of(text, keys))


def load_tolerant(path: Path) -> tuple[Settings, tuple[str, ...]]:
    """The settings that another program's file gives us, and the dotted names of what we cannot use."""
    given = values_of(read_text(path), str(path))
    unused: list[str] = []
    while True:
        try:
            return Settings.model_validate(given), tuple(unused)
        except ValidationError as fault:
            for keys in {_settable(error["loc"], given) for error in fault.errors()}:
                unused.append(".".join(keys))
                given = _without(given, keys)


def read_text(path: Path) -> str:
    """The text of a settings file; none is the same as an empty one."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as fault:
        raise BadSetting(f"{path} is not UTF-8 text (byte {fault.start}). Save it as UTF-8.") from None
    except OSError as fault:
        raise BadSetting(f"{path} cannot be read: {fault.strerror}. Make it a file that you may read.") from None


def values_of(text: str, source: str) -> dict[str, Any]:
    """The plain values of a document; a group with nothing in it counts as absent."""
    try:
        given = read(text)
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        raise BadSetting(f"{source}{_where(fault)} is not valid YAML: {_problem(fault)}. Correct it.") from None
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadSetting(f"{source} must be a group of `name: value` lines, not {shown(given)}.")
    return {str(key): value for key, value in given.items() if value is not None}


def parse(given: Mapping[str, Any], source: str, line: Callable[[Keys], int] | None = None) -> Settings:
    """The tree of some plain values; all that is wrong is told at once."""
    try:
        return Settings.model_validate(given)
    except ValidationError as fault:
        told = [_sentence(error, given, source, line) for error in fault.errors()]
        raise BadSetting("\n".join(dict.fromkeys(told))) from None


def nearest(name: str) -> str:
    """The known setting that an unknown name most likely means, or nothing."""
    known = {key: key for key in [*leaves(), *Settings.model_fields]}
    group, _, leaf = name.rpartition(".")
    siblings = {key: key for key in known if key.rpartition(".")[0] == group}
    by_leaf = {key.rpartition(".")[2]: key for key in reversed(known)}
    for candidates, wanted in ((siblings, name), (by_leaf, leaf), (known, name)):
        if close := get_close_matches(wanted, candidates, n=1, cutoff=0.7):
            return candidates[close[0]]
    return ""


def shown(value: object) -> str:
    """A value as the person wrote it, shortened."""
    words = {True: "true", False: "false", None: "empty"}
    if isinstance(value, bool) or value is None:
        return words[value]
    if isinstance(value, dict):
        return "a group"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _sentence(error: Any, given: Mapping[str, Any], source: str, line: Callable[[Keys], int] | None) -> str:
    """One fault in words."""
    keys: Keys = error["loc"]
    name = ".".join(str(key) for key in keys)
    place = f"{source} line {line(keys)}" if line else source
    if error["type"] == "extra_forbidden":
        near = nearest(name)
        return f"{place}: there is no setting {name}" + (f"; did you mean {near}?" if near else ".")
    if error["type"] == "missing":
        return f"{place}: {name} is missing."
    if error["type"] == "value_error":
        return f"{place}: {name}: {error['ctx']['error']}."
    expected = EXPECTED.get(error["type"], error["msg"]).format_map(error.get("ctx", {}))
    return f"{place}: {name} is {shown(_at(given, keys))}; it must be {expected}."


def _at(given: Any, keys: Keys) -> Any:
    """The value that stands at a path, as far as the path leads."""
    try:
        for key in keys:
            given = given[key]
    except (KeyError, IndexError, TypeError):
        return None
    return given


def _settable(keys: Keys, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The part of a fault's path that names a whole setting: a list or a map is one setting."""
    path: list[str] = []
    group: type[BaseModel] | None = Settings
    for key in keys:
        path.append(str(key))
        field = group.model_fields.get(str(key)) if group else None
        if field is None or not isinstance(field.default, BaseModel):
            break
        group = type(field.default)
    return tuple(path)


def _without(given: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """The same values, one setting fewer."""
    first, rest = keys[0], keys[1:]
    if not rest:
        return {key: value for key, value in given.items() if key != first}
    return {key: _without(value, rest) if key == first else value for key, value in given.items()}


def _where(fault: Exception) -> str:
    """Line and column of a fault, when they are known."""
    mark = getattr(fault, "problem_mark", None)
    return f", line {mark.line + 1}, column {mark.column + 1}," if mark else ""


def _problem(fault: Exception) -> str:
    """The parser's own word for a fault, on one line."""
    return " ".join(str(getattr(fault, "problem", None) or getattr(fault, "reason", None) or fault).split()).rstrip(".")
