"""A tool is a typed function: its name, docstring and annotations are the whole schema."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from assistant.core.messages import Effect
from assistant.errors import ModelCanFix
from skills_store.values import Origin


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answers: text for the model, a few words for the screen, and how far to believe it."""

    text: str
    origin: Origin = Origin.TRUSTED
    failed: bool = False
    preview: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect
    run: Callable[..., Result]
    arguments: type[BaseModel]
    preview: str
    """The parameter that stands for the call on the screen (a path, a command)."""

    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI request names it."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def read(self, arguments: str) -> dict[str, Any]:
        """The checked arguments of a call; ModelCanFix says which one is wrong and how."""
        try:
            return dict(self.arguments.model_validate(json.loads(arguments)))
        except ValidationError as problem:
            raise ModelCanFix(f"{self.name}: {in_words(problem)}") from problem


def tool(effect: Effect, preview: str = "") -> Callable[[Callable[..., Result]], Tool]:
    """Declare a tool; its first parameter is the Context and hidden from the model."""

    def declare(run: Callable[..., Result]) -> Tool:
        _context, *asked = inspect.signature(run, eval_str=True).parameters.values()
        wanted: dict[str, Any] = {p.name: (p.annotation, ... if p.default is p.empty else p.default) for p in asked}
        model = create_model(run.__name__, __config__=ConfigDict(extra="forbid"), **wanted)
        name = run.__name__
        return Tool(name, inspect.getdoc(run) or "", slim(model.model_json_schema()), effect, run, model, preview)

    return declare


def slim(schema: Any) -> Any:
    """A JSON schema without what models do not need: titles, null alternatives, null defaults."""
    if isinstance(schema, list):
        return [slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        k: v for k, v in schema.items() if not (k == "title" and isinstance(v, str)) and (k, v) != ("default", None)
    }
    real = [kind for kind in kept.get("anyOf", []) if kind != {"type": "null"}]
    if len(real) == 1:
        kept = {k: v for k, v in kept.items() if k != "anyOf"} | real[0]
    return {k: slim(v) for k, v in kept.items()}


def in_words(problem: ValidationError) -> str:
    """Every complaint of pydantic in one sentence the model can act on."""
    said = []
    for fault in problem.errors():
        where = ".".join(str(part) for part in fault["loc"]) or "arguments"
        if fault["type"] == "extra_forbidden":
            said.append(f"there is no parameter {where!r}")
        elif fault["type"] == "missing":
            said.append(f"{where} is required")
        else:
            got = repr(fault["input"])
            said.append(f"{where}: {fault['msg']}, not {got if len(got) <= 80 else got[:80] + '…'}")
    return "; ".join(said)
