"""The `openai` package, imported when a model is first asked, and without the parts we do not use."""

import importlib.util
import sys
from importlib.machinery import PathFinder
from threading import Lock
from types import ModuleType
from typing import Any

SLOW_PARTS = ("types", "types.shared", "types.chat", "types.responses")
"""Packages of `openai` with hundreds of models; each is loaded whole once somebody asks for one of its names."""
loading = Lock()


def http() -> ModuleType:
    """The `httpx2` package, on which `openai` stands."""
    import httpx2

    return httpx2


def library() -> ModuleType:
    """The `openai` package."""
    with loading:
        if "openai" not in sys.modules and (found := importlib.util.find_spec("openai")):
            for part in SLOW_PARTS:
                defer("openai", part, (found.submodule_search_locations or [""])[0])
        import openai
    return openai


def defer(package: str, part: str, root: str) -> None:
    """Stand an empty package in for `part`, which fills itself when a name in it is missed."""
    above = "/".join([root, *part.split(".")[:-1]])
    spec = PathFinder.find_spec(f"{package}.{part}", [above])
    if spec is None or spec.loader is None:
        return
    module, load = importlib.util.module_from_spec(spec), spec.loader.exec_module

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        del module.__dict__["__getattr__"]
        load(module)
        return getattr(module, name)

    module.__dict__["__getattr__"] = missing
    sys.modules[spec.name] = module
