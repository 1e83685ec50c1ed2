"""The shape of the code is a promise, so it has tests.  The tables are the law of DESIGN 2."""

import ast
from graphlib import TopologicalSorter

import pytest

from tests.style.code import Source, below, caught, length, sources

PACKAGES = {
    "prompts": set(),
    "skills_store": set(),
    "curator": {"skills_store", "prompts"},
}
"""What each package may import of ours, beside itself."""

ASSISTANT = {
    ("errors",): set(),
    ("core",): {"skills_store.values"},
    ("settings", "home"): set(),
    ("safety",): set(),
    ("llm",): set(),
    ("store",): {"skills_store"},
    ("tools",): {"skills_store"},
    ("runtime",): {"skills_store", "curator", "prompts"},
    ("server",): {"skills_store"},
    ("client",): set(),
    ("doctor", "backup"): {"skills_store"},
    ("wiring",): {"skills_store", "curator", "prompts"},
    ("demo",): {"skills_store"},
    ("cli", "__main__"): {"skills_store"},
}
"""The lines of `assistant`, lowest first: each may import those above it in this table, and the packages named."""

CLIENT_SEES = ("errors", "core", "settings", "home")
"""The faces know less than their line would allow."""

ONLY_IN = {
    "openai": ("assistant/llm",),
    "git": ("skills_store/vault.py",),
    "sqlite_utils": ("assistant/store", "skills_store/usage.py"),
    "sqlite3": ("assistant/store", "skills_store/usage.py"),
    "starlette": ("assistant/server",),
    "uvicorn": ("assistant/server",),
    "asyncio": ("assistant/server", "assistant/client/webui_pipe", "assistant/tools/mcp"),
    "anyio": ("assistant/server", "assistant/client/webui_pipe", "assistant/tools/mcp"),
}
"""Packages that have one door."""

THREADS_START_IN = (
    "assistant/runtime",
    "assistant/server",
    "assistant/tools/processes",
    "assistant/tools/mcp",
    "assistant/client/input",
)
ASYNC_IN = ("assistant/server", "assistant/client/webui_pipe", "assistant/tools/mcp")
STARTS_THREADS = {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "Pool", "start_new_thread"}

LATE = {
    ("prompts/__init__.py", "jinja2"): 37,
    ("prompts/__init__.py", "frontmatter"): 17,
    ("skills_store/fuzzy.py", "rapidfuzz"): 14,
    ("skills_store/scan.py", "detect_secrets"): 75,
    ("skills_store/links.py", "markdown_it"): 23,
    ("skills_store/vault.py", "git"): 50,
    ("assistant/home/lock.py", "filelock"): 35,
    ("assistant/settings/edit.py", "ruamel"): 19,
    ("assistant/safety/shell.py", "tree_sitter"): 21,
    ("assistant/safety/shell.py", "tree_sitter_bash"): 1,
    ("assistant/llm/local_server.py", "xllamacpp"): 50,
    ("assistant/llm/late.py", "openai"): 280,
    ("assistant/llm/late.py", "httpx2"): 56,
    ("assistant/client/paint.py", "assistant.client.markdown"): 67,
    ("assistant/client/attach.py", "filelock"): 35,
    ("assistant/server/heartbeat.py", "schedule"): 10,
    ("assistant/__main__.py", "assistant.cli"): 90,
    ("assistant/store/database.py", "sqlite_utils"): 85,
    ("assistant/store/database.py", "assistant.store.schema"): 85,
}
"""Imports inside functions: (file, module) and the milliseconds that the start would pay for it otherwise."""

LATE_IN_COMMANDS = ("assistant", "skills_store")
"""What `cli` imports inside its commands, so that `--help` and `--version` stay quick."""

SEAMS = {
    "tool": "assistant/runtime/dispatch.py",
    "provider": "assistant/runtime/engine.py",
    "job": "assistant/runtime/workers.py",
    "http": "assistant/server/app.py",
}
"""The four places that may catch everything; each says `seam: <name>` on its line."""

BROAD = {"everything", "Exception", "BaseException"}
FILE_LIMIT, FUNCTION_LIMIT = 400, 60

each_file = pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)


def allowed(module: str) -> set[str]:
    """The modules and packages of ours that a module may import."""
    package, _, rest = module.partition(".")
    if package != "assistant":
        return PACKAGES[package] | {package}
    if not rest:
        return set()
    own = rest.partition(".")[0]
    below_own: list[str] = []
    for line, packages in ASSISTANT.items():
        below_own += line
        if own in line:
            seen = (*CLIENT_SEES, "client") if own == "client" else below_own
            return {f"assistant.{name}" for name in seen} | packages
    raise AssertionError(f"assistant.{own} is on no line of the table in {__name__}")


@pytest.mark.parametrize(
    ("importer", "imported", "may"),
    [
        ("assistant.core.loop", "assistant.errors", True),
        ("assistant.core.messages", "skills_store.values", True),
        ("assistant.core.messages", "skills_store.library", False),
        ("assistant.errors", "assistant.core.loop", False),
        ("assistant.home.place", "assistant.settings.tree", True),
        ("assistant.tools.terminal", "assistant.runtime.engine", False),
        ("assistant.client.chat", "assistant.core.ports", True),
        ("assistant.client.chat", "assistant.store.runs", False),
        ("assistant.client.chat", "assistant.runtime.engine", False),
        ("assistant.server.app", "curator.review", False),
        ("assistant.runtime.review", "curator.review", True),
        ("curator.review", "assistant.core.messages", False),
        ("skills_store.vault", "prompts", False),
        ("prompts", "skills_store.values", False),
        ("assistant.__main__", "assistant.cli.app", True),
        ("assistant", "assistant.errors", False),
    ],
)
def test_the_table_says(importer, imported, may):
    assert below(imported, allowed(importer)) == may


@each_file
def test_imports_point_down(source):
    ours = {item for item in source.imports if item.module.partition(".")[0] in {*PACKAGES, "assistant"}}
    wrong = [
        f"line {item.line}: {item.module}"
        for item in ours
        if item.module != "assistant" and not below(item.module, allowed(source.module))
    ]
    assert wrong == []
    assert [item for item in source.imports if item.module.startswith((".", "tests"))] == []


@each_file
def test_a_package_with_one_door_is_imported_nowhere_else(source):
    wrong = [
        f"line {item.line}: {item.module}"
        for item in source.imports
        if not source.name.startswith(ONLY_IN.get(item.module.partition(".")[0], ("",)))
    ]
    assert wrong == []


@each_file
def test_files_and_functions_stay_small(source):
    assert len(source.lines) <= FILE_LIMIT
    assert {f.name: length(f) for f in source.functions if length(f) > FUNCTION_LIMIT} == {}


def test_no_module_imports_itself_in_a_circle():
    known = {source.module: source for source in sources()}
    graph = {
        name: {item.module for item in source.imports if item.module in known and item.module != name}
        for name, source in known.items()
    }
    assert list(TopologicalSorter(graph).static_order())


@each_file
def test_imports_stand_at_the_top_unless_they_are_listed_with_their_cost(source):
    in_commands = source.name.startswith("assistant/cli/")
    wrong = [
        f"line {item.line}: {item.module}"
        for item in source.imports
        if item.late and not listed(source, item.module) and not (in_commands and below(item.module, LATE_IN_COMMANDS))
    ]
    assert wrong == []


def listed(source: Source, module: str) -> bool:
    """Whether a late import has its line, for itself or for the package it is part of."""
    return any(name == source.name and below(module, {root}) for name, root in LATE)


def test_the_list_of_late_imports_names_nothing_that_is_gone():
    late = {(source.name, item.module) for source in sources() for item in source.imports if item.late}
    gone = [entry for entry in LATE if not any(name == entry[0] and below(module, {entry[1]}) for name, module in late)]
    assert gone == []


@each_file
def test_only_a_named_seam_catches_everything(source):
    wrong = [
        f"line {handler.lineno}"
        for handler in source.handlers
        if caught(handler) & BROAD and not raises_again(handler) and not at_its_seam(source, handler)
    ]
    wrong += [
        f"line {node.lineno}: suppress"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("suppress")
        and {ast.unparse(kind) for kind in node.args} & BROAD
    ]
    assert wrong == []


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Clean-up on the way out: the handler ends by raising what it caught."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def at_its_seam(source: Source, handler: ast.ExceptHandler) -> bool:
    """Whether the handler names a seam, and stands where that seam is."""
    _, _, seam = source.lines[handler.lineno - 1].partition("seam: ")
    return SEAMS.get(seam.split(" ")[0]) == source.name


def test_each_seam_is_one_place():
    text = "\n".join(line for source in sources() for line in source.lines)
    assert {seam: text.count(f"seam: {seam}") for seam in SEAMS if text.count(f"seam: {seam}") > 1} == {}


@each_file
def test_no_handler_is_silent(source):
    silent = [
        f"line {handler.lineno}"
        for handler in source.handlers
        if all(isinstance(node, ast.Pass | ast.Continue) or is_ellipsis(node) for node in handler.body)
    ]
    assert silent == []


def is_ellipsis(node: ast.stmt) -> bool:
    """A body of three dots."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


@each_file
def test_no_function_changes_a_global(source):
    assert [f"line {node.lineno}" for node in ast.walk(source.tree) if isinstance(node, ast.Global)] == []


@each_file
def test_only_wiring_reads_the_environment(source):
    reads = {
        f"line {node.lineno}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv", "os.environb"}
    }
    if not source.module.startswith("assistant.wiring"):
        assert reads == set()


@each_file
def test_threads_start_only_where_the_design_says(source):
    starts = [
        f"line {node.lineno}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in STARTS_THREADS
    ]
    assert source.name.startswith(THREADS_START_IN) or starts == []


@each_file
def test_the_code_is_synchronous_except_where_the_design_says(source):
    coloured = [
        f"line {node.lineno}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
    ]
    assert source.name.startswith(ASYNC_IN) or coloured == []
