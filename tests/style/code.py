"""The source files as values: what each imports, defines, catches.  Read by the law and by the report."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("prompts", "skills_store", "curator", "assistant")
Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Import:
    """One module that a file imports."""

    module: str
    line: int
    late: bool
    """Inside a function."""


@dataclass(frozen=True)
class Source:
    """One file."""

    path: Path

    @property
    def name(self) -> str:
        """The path from the root, with slashes."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        """The dotted name it is imported by."""
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The text, understood."""
        return ast.parse("\n".join(self.lines), filename=self.name)

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every module imported anywhere in the file; `from package import module` names the module."""
        found: list[Import] = []
        for node, late in inside_functions(self.tree):
            if isinstance(node, ast.Import):
                found += [Import(alias.name, node.lineno, late) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = "." * node.level + (node.module or "")
                found += [Import(whole(base, alias.name), node.lineno, late) for alias in node.names]
        return tuple(dict.fromkeys(found))

    @property
    def functions(self) -> list[Function]:
        """Every function and method."""
        return [node for node in ast.walk(self.tree) if isinstance(node, FUNCTIONS)]

    @property
    def handlers(self) -> list[ast.ExceptHandler]:
        """Every `except`."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ExceptHandler)]


def sources(*packages: str) -> list[Source]:
    """Every Python file of some of our packages; of all of them when none is named."""
    return [Source(path) for package in packages or PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def inside_functions(tree: ast.AST, late: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every node below a tree, and whether it stands inside a function."""
    for node in ast.iter_child_nodes(tree):
        yield node, late
        yield from inside_functions(node, late or isinstance(node, (*FUNCTIONS, ast.Lambda)))


def whole(base: str, name: str) -> str:
    """`base.name` where that is a module of ours, else `base`."""
    path = ROOT.joinpath(*base.split("."), name)
    if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
        return f"{base}.{name}"
    return base


def below(module: str, roots: tuple[str, ...] | frozenset[str] | set[str]) -> bool:
    """Whether a module is one of some roots, or inside one."""
    return any(module == root or module.startswith(root + ".") for root in roots)


def length(node: ast.AST) -> int:
    """Lines from the first to the last of a definition."""
    return (node.end_lineno or node.lineno) - node.lineno + 1  # type: ignore[attr-defined]


def caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of what a handler catches; `everything` for a bare one."""
    if handler.type is None:
        return {"everything"}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind).rpartition(".")[2] for kind in kinds}
