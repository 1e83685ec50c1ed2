"""What the README has to say about commands and settings, read from the code itself."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from typing import Any

from assistant.settings import tree
from tests.style.code import ROOT

README = ROOT / "README.md"
CLI = "assistant.cli.app"


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def has_commands() -> bool:
    """Whether there is a command tree to compare with."""
    return importlib.util.find_spec("assistant.cli") is not None and importlib.util.find_spec(CLI) is not None


def commands() -> dict[str, str]:
    """Every command by its whole name, with the first line of its help, in the order of `--help`."""
    from typer.main import get_command

    module: Any = importlib.import_module(CLI)
    return dict(under(get_command(module.app), "assistant"))


def under(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """A command's own line, or those of the commands below it."""
    below = getattr(command, "commands", {})
    for word, child in below.items():
        if not child.hidden:
            yield from under(child, f"{name} {word}")
    if not below:
        yield name, (command.help or "").strip().split("\n")[0]


def meanings() -> dict[str, str]:
    """The text under each field of the settings tree, by class and field."""
    module = ast.parse((ROOT / "assistant/settings/tree.py").read_text(encoding="utf-8"))
    found = {}
    for group in (node for node in module.body if isinstance(node, ast.ClassDef)):
        for field, text in zip(group.body, group.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found[f"{group.name}.{ast.unparse(field.target)}"] = str(ast.literal_eval(text.value))
    return found


def settings() -> list[tuple[str, Any, str]]:
    """Every setting: dotted name, default, meaning."""
    said = meanings()
    rows = []
    for name, default in tree.leaves().items():
        group, _, field = name.rpartition(".")
        owner = type(getattr(tree.Settings(), group)) if group else tree.Settings
        rows.append((name, default, said[f"{owner.__name__}.{field}"]))
    return rows


def command_table() -> str:
    """One row a command."""
    rows = [f"| `{name}` | {cell(text)} |" for name, text in commands().items()]
    return "\n".join(["| command | does |", "|---|---|", *rows, ""])


def setting_table() -> str:
    """One row a setting."""
    rows = [f"| `{name}` | {shown(default)} | {cell(text)} |" for name, default, text in settings()]
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows, ""])


def cell(text: str) -> str:
    """A text that may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def shown(value: Any) -> str:
    """A default as `config.yaml` writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[]"
    if isinstance(value, dict):
        return "{}"
    return f"`{value}`" if value != "" else "empty"


def table(kind: str) -> str:
    """The table that the README has now."""
    return between(kind).search(README.read_text(encoding="utf-8"))[2]  # type: ignore[index]


def between(kind: str) -> re.Pattern[str]:
    """The place of a table: after its comment, before the next `end`."""
    return re.compile(rf"(<!-- {kind}: [^\n]*-->\n)(.*?)(<!-- end -->)", re.DOTALL)
