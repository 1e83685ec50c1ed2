"""`make shape`: the numbers of STYLE part 3 for the tree as it is.  Printed, not enforced."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from tests.style.code import FUNCTIONS, ROOT, Function, Source, caught, length, sources

BRANCHES = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.match_case, ast.BoolOp)
NESTS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
BROAD = {"everything", "Exception", "BaseException"}


@dataclass(frozen=True)
class Row:
    """One measure beside what it should be and what it must not pass."""

    measure: str
    value: str
    target: str
    red: str


def main() -> None:
    """Print the table, then the longest files and functions."""
    ours, tests = sources(), sources("tests")
    for row in [*sizes(ours), *shapes(ours), *words(ours), *habits(ours, tests)]:
        print(f"{row.measure:<42}{row.value:>18}   target {row.target:<18} red line {row.red}")
    print("\nlongest files:", ", ".join(f"{s.name} {len(s.lines)}" for s in largest(ours)[:8]))
    longest = sorted(((length(f), s.name, f.name) for s in ours for f in s.functions), reverse=True)
    print("longest functions:", ", ".join(f"{file}:{name} {lines}" for lines, file, name in longest[:8]))


def largest(files: list[Source]) -> list[Source]:
    """The longest files first."""
    return sorted(files, key=lambda source: -len(source.lines))


def sizes(ours: list[Source]) -> Iterator[Row]:
    """How long files and functions are."""
    written = [len(source.lines) for source in ours if source.path.name != "__init__.py"]
    yield Row("file median / p90 / max", three(written), "120 / 220 / 300", "150 / 300 / 400")
    yield Row("production lines", str(sum(len(s.lines) for s in ours)), "as few as can be", "28000")
    yield Row(
        "function median / p90 / max", three(length(f) for _, f in functions(ours)), "8 / 25 / 45", "12 / 35 / 60"
    )
    loop = next((source for source in ours if source.name == "assistant/core/loop.py"), None)
    if loop:
        run = max(length(f) for f in loop.functions if f.name == "run_turn")
        yield Row("loop file / loop function", f"{len(loop.lines)} / {run}", "90 / 15", "120 / 25")


def shapes(ours: list[Source]) -> Iterator[Row]:
    """How functions are built."""
    every = [f for _, f in functions(ours)]
    deep = sum(depth(f) > 3 for f in every)
    yield Row("branches max", str(max(map(branches, every))), "8", "10")
    yield Row("functions nested deeper than 3", f"{100 * deep / len(every):.1f} %", "0 %", "1 %")
    yield Row("parameters max (commands apart)", str(most_parameters(ours)), "5", "6")
    late = sum(item.late for source in ours for item in source.imports)
    yield Row("late imports", str(late), "heavy packages", "each listed")
    handlers = [h for source in ours for h in source.handlers]
    broad = [h for h in handlers if caught(h) & BROAD]
    again = sum(isinstance(h.body[-1], ast.Raise) for h in broad)
    yield Row("broad handlers / of them re-raising", f"{len(broad)} / {again}", "4 seams", "6")
    silent = sum(all(isinstance(node, ast.Pass | ast.Continue) for node in h.body) for h in handlers)
    yield Row("silent handlers", str(silent), "0", "0")


def words(ours: list[Source]) -> Iterator[Row]:
    """Docstrings, comments, types."""
    nodes = [node for source in ours for node in ast.walk(source.tree)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    public = [f for _, f in functions(ours) if not f.name.startswith("_")]
    said = " / ".join(f"{documented(group):.0f}" for group in ([s.tree for s in ours], classes, public))
    yield Row("docstrings: module / class / function %", said, "100 / 100 / 95", "100 / 95 / 90")
    total = sum(len(source.lines) for source in ours)
    comments = sum(comment_lines(source) for source in ours)
    yield Row("comment lines", f"{100 * comments / total:.1f} %", "1-4 %", "6 %")
    asked = [a for _, f in functions(ours) for a in parameters(f)]
    typed = sum(a.annotation is not None for a in asked)
    returns = sum(f.returns is not None or f.name == "__init__" for _, f in functions(ours))
    share = f"{100 * typed / max(1, len(asked)):.0f} / {100 * returns / max(1, len(list(functions(ours)))):.0f}"
    yield Row("typed parameters / returns %", share, "100 / 100", "100 / 100")
    anys = sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes)
    yield Row("Any per 1,000 lines", f"{1000 * anys / total:.1f}", "4", "8")
    ignores = sum(bool(re.search(r"# (noqa|type: ignore)", line)) for source in ours for line in source.lines)
    yield Row("ignores per 1,000 lines", f"{1000 * ignores / total:.1f}", "1", "2")


def habits(ours: list[Source], tests: list[Source]) -> Iterator[Row]:
    """Tests and commits."""
    code = sum(len(source.lines) for source in ours)
    yield Row("tests : code", f"{sum(len(s.lines) for s in tests) / code:.2f}", "1.5", "1.0")
    stories = [f for _, f in functions(tests) if f.name.startswith("test_")]
    yield Row("test median lines", str(int(median(map(length, stories)))), "10", "14")
    text = "\n".join(line for source in tests for line in source.lines if source.path.parent.name != "style")
    mocks = len(re.findall(r"\b(?:Mock|MagicMock|mock\.patch|monkeypatch)\b", text))
    yield Row("mocks per 100 tests", f"{100 * mocks / max(1, len(stories)):.1f}", "1", "3")
    yield Row("sleeps in tests", str(len(re.findall(r"\btime\.sleep\(", text))), "0", "0")
    yield Row("median lines a commit", str(int(median(commit_sizes() or [0]))), "40", "100")


def functions(files: list[Source]) -> Iterator[tuple[Source, Function]]:
    """Every function with its file."""
    for source in files:
        for function in source.functions:
            yield source, function


def three(numbers: Iterable[int]) -> str:
    """Median, ninth tenth, most."""
    ordered = sorted(numbers)
    return f"{int(median(ordered))} / {ordered[int(0.9 * (len(ordered) - 1))]} / {ordered[-1]}"


def branches(function: Function) -> int:
    """One, and one more for every place where the way forks."""
    return 1 + sum(isinstance(node, BRANCHES) for node in ast.walk(function))


def depth(node: ast.AST) -> int:
    """How deep blocks stand in blocks; inner functions count for themselves."""
    inner = [depth(child) for child in ast.iter_child_nodes(node) if not isinstance(child, FUNCTIONS)]
    elif_chain = isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    return max(inner, default=0) + (isinstance(node, NESTS) and not elif_chain)


def parameters(function: Function) -> list[ast.arg]:
    """What a caller hands over; `self` and `cls` are no parameters."""
    asked = function.args
    found = [*asked.posonlyargs, *asked.args, *asked.kwonlyargs]
    return [argument for argument in found if argument.arg not in {"self", "cls"}]


def most_parameters(ours: list[Source]) -> int:
    """The most that any function asks; a command's options and a tool's schema are no parameters."""
    free = [
        len(parameters(function))
        for source, function in functions(ours)
        if not source.name.startswith("assistant/cli")
        and not any("tool" in ast.unparse(decorator) for decorator in function.decorator_list)
    ]
    return max(free)


def documented(nodes: Iterable[ast.Module | ast.ClassDef | Function]) -> float:
    """Per cent that say what they are for."""
    said = [bool(ast.get_docstring(node)) for node in nodes]
    return 100 * sum(said) / max(1, len(said))


def comment_lines(source: Source) -> int:
    """Lines that hold a comment."""
    tokens = tokenize.generate_tokens(io.StringIO("\n".join(source.lines) + "\n").readline)
    return len({token.start[0] for token in tokens if token.type == tokenize.COMMENT})


def commit_sizes() -> list[int]:
    """Lines added and removed, commit by commit."""
    log = subprocess.run(
        ["git", "log", "--no-merges", "--shortstat", "--format="], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [sum(map(int, re.findall(r"(\d+) (?:insertion|deletion)", line))) for line in log.stdout.split("\n") if line]


if __name__ == "__main__":
    main()
