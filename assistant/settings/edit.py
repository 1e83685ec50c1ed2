"""Showing and changing `config.yaml`: comments are kept, nothing is written before it was checked."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from assistant.errors import AssistantError, BadSetting, PersonMustAct
from assistant.home.files import write_whole
from assistant.home.first_start import unwritable
from assistant.settings.describe import as_yaml, describe
from assistant.settings.read import load, nearest, parse, read_text, values_of
from assistant.settings.tree import McpServer, Settings, leaves
from assistant.settings.yaml12 import read

NEW_START = "It holds for everything that starts from now on; a running server keeps its settings until assistant down."
TAKES_EFFECT: Mapping[str, str] = {
    "server": "It holds when the server starts next.",
    "timezone": NEW_START,
    "memory": NEW_START + " An open session keeps the prompt it has.",
    "skills": NEW_START + " An open session keeps the prompt it has.",
}
VARIABLES = {"model.name": ("ASSISTANT_MODEL", True), "model.base_url": ("OPENAI_BASE_URL", False)}
"""Variables of the environment that stand for a setting: over the file, or only where the file says nothing."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting as it holds now."""

    key: str
    value: str
    origin: str
    """default, file or environment."""
    meaning: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A setting was changed."""

    key: str
    before: str
    after: str
    takes_effect: str


def show(path: Path, environ: Mapping[str, str]) -> tuple[Shown, ...]:
    """Every setting with its value and where the value comes from; secrets of servers are not shown."""
    settings, defaults = load(path), leaves()
    rows = []
    for row in describe():
        value = _value(settings, row.key)
        origin = "default" if value == defaults[row.key] else "file"
        variable, wins = VARIABLES.get(row.key, ("", False))
        if environ.get(variable) and (wins or not value):
            value, origin = environ[variable], f"environment ({variable})"
        rows.append(Shown(row.key, as_yaml(_masked(value)), origin, row.meaning))
    return tuple(rows)


def get(path: Path, environ: Mapping[str, str], key: str) -> Shown:
    """One setting; BadSetting with the nearest name when there is none like it."""
    _known(key)
    return next(shown for shown in show(path, environ) if shown.key == key)


def set_value(path: Path, key: str, text: str) -> Changed:
    """Change one setting in the file.  Text that fits only as a word needs no quotes."""
    _known(key)
    old, source = read_text(path), str(path)
    given = values_of(old, source)
    before = parse(given, source)
    value = _meant(key, text, given)
    new = _written(old, key, value)
    after = parse(values_of(new, source), source)
    if after != parse(_with(given, key, value), source):
        raise BadSetting(f"{path} is laid out in a way that cannot be changed here; use assistant config edit.")
    if new != old:
        _save(path, new)
    group = key.split(".")[0]
    was, now = (as_yaml(_masked(_value(settings, key))) for settings in (before, after))
    return Changed(key, was, now, TAKES_EFFECT.get(group, NEW_START))


def edit(path: Path, run_editor: Callable[[Path], None], again: Callable[[str], bool]) -> bool:
    """Let the person edit a copy; it replaces the file once it is right.  Says whether anything changed.

    `again` is told what is wrong and says whether to open the editor once more.  A refused text stays beside the file.
    """
    old = read_text(path)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f"{path.stem}-draft-", suffix=path.suffix, delete=False
    ) as file:
        file.write(old.encode())
    draft = Path(file.name)
    try:
        while fault := _fault_after(run_editor, draft):
            if not again(fault):
                raise BadSetting(f"{fault}\n{path} is unchanged.")
        if read_text(path) != old:
            raise PersonMustAct(f"{path} was changed by somebody else meanwhile, and was left alone.")
    except AssistantError as fault:
        raise type(fault)(f"{fault}{_kept(draft, old)}") from None
    new = read_text(draft)
    if new != old:
        _save(path, new)
    draft.unlink()
    return new != old


def _save(path: Path, text: str) -> None:
    """Write the whole file, or say why not."""
    try:
        write_whole(path, text.encode())
    except OSError as fault:
        raise unwritable(path, fault) from None


def _kept(draft: Path, old: str) -> str:
    """Where the person's text is; a copy that nobody changed is taken away."""
    if draft.read_bytes() == old.encode():
        draft.unlink()
        return ""
    return f" Your text is in {draft}."


def _fault_after(run_editor: Callable[[Path], None], draft: Path) -> str:
    """What is wrong with the draft once the editor was closed."""
    run_editor(draft)
    try:
        load(draft)
    except BadSetting as fault:
        return str(fault)
    return ""


def _known(key: str) -> None:
    """A name of the tree."""
    if key not in leaves():
        near = nearest(key)
        raise BadSetting(f"there is no setting {key}" + (f"; did you mean {near}?" if near else "."))


def _meant(key: str, text: str, given: Mapping[str, Any]) -> Any:
    """The first reading of a text that the setting accepts."""
    try:
        readings = [read(text), text]
    except yaml.YAMLError:
        readings = [text]
    faults = []
    for reading in readings:
        try:
            parse(_with(given, key, reading), "config set")
        except BadSetting as fault:
            faults.append(fault)
        else:
            return reading
    raise faults[0]


def _with(given: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The same plain values with one setting changed."""
    group, _, leaf = key.rpartition(".")
    if not group:
        return {**given, key: value}
    return {**given, group: {**given.get(group, {}), leaf: value}}


def _written(text: str, key: str, value: Any) -> str:
    """The text with one value changed and all else as it was."""
    from ruamel.yaml import YAML  # 20 ms, needed by `config set` alone

    writer = YAML()
    writer.preserve_quotes = True
    writer.width = 4096
    writer.indent(mapping=2, sequence=4, offset=2)
    tree = writer.load(text.replace("\r\n", "\n")) or writer.map()
    group, _, leaf = key.rpartition(".")
    if group and tree.get(group) is None:
        tree[group] = writer.map()
    # A list or map from text is written as it was read: on one line, so that no comment moves.
    (tree[group] if group else tree)[leaf] = writer.load(as_yaml(value)) if isinstance(value, list | dict) else value
    out = StringIO()
    writer.dump(tree, out)
    return out.getvalue().replace("\n", "\r\n") if "\r\n" in text else out.getvalue()


def _value(settings: Settings, key: str) -> Any:
    """The value of a dotted name."""
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def _masked(value: Any) -> Any:
    """A value without what may be a secret."""
    if isinstance(value, McpServer):
        hidden = {"env": dict.fromkeys(value.env, "…"), "headers": dict.fromkeys(value.headers, "…")}
        return value.model_copy(update=hidden)
    if isinstance(value, Mapping):
        return {name: _masked(item) for name, item in value.items()}
    return value
