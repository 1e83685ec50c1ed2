"""Which model answers: from the settings, the environment, or what setup stored."""

import atexit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assistant.core.interrupt import Interrupt
from assistant.core.ports import Model
from assistant.errors import PersonMustAct
from assistant.llm.client import Endpoint
from assistant.llm.local import LocalModel
from assistant.llm.provider import OpenAIModel
from assistant.llm.retry import Fallback, Retrying
from assistant.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-5-mini"
"""What is asked for when the environment names a key and nothing else."""
ANY_MODEL = "default"
"""What is asked for at an address of the person's own; single-model servers ignore it."""
BUILTIN = "builtin"
NO_MODEL = """no model is configured. Any of these will do:
  assistant setup                        asks what you have and stores it
  export OPENAI_API_KEY=…                a key for OpenAI, with OPENAI_BASE_URL for another service
  assistant config set model.base_url http://127.0.0.1:11434/v1     a server of your own
  assistant setup --local                the small built-in model, no account"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A model and where it answers."""

    name: str
    url: str
    key: str


def chosen(settings: Settings, environ: Mapping[str, str], name: str = "") -> Choice:
    """The model for an empty name, or another one at the same address; PersonMustAct when nothing is configured."""
    model = settings.model
    key = environ.get(model.api_key_env, "")
    url = model.base_url or environ.get("OPENAI_BASE_URL", "")
    wanted = name or environ.get("ASSISTANT_MODEL", "") or model.name
    if wanted == BUILTIN:
        return Choice(BUILTIN, "", "")
    if not (url or key):
        raise PersonMustAct(NO_MODEL)
    return Choice(wanted or (ANY_MODEL if url else OPENAI_MODEL), url or OPENAI_URL, key or "none")


def models_of(
    settings: Settings,
    environ: Mapping[str, str],
    wait: Callable[[Interrupt, float], bool],
    builtin: Callable[[], Model],
) -> Callable[[str], Model]:
    """The port `Models`: one adapter a model, built when it is first asked for."""

    @cache
    def build(name: str) -> Model:
        choice = chosen(settings, environ, name)
        if choice.name == BUILTIN:
            return builtin()
        endpoint = Endpoint(choice.url, choice.key)
        return Retrying(OpenAIModel(choice.name, endpoint, settings.model.context_window), wait)

    def models(name: str) -> Model:
        first = build("" if name == "hermes-agent" else name)
        if not settings.model.fallback or name:
            return first
        return Fallback(first, build(settings.model.fallback))

    return models


def builtin_of(cache: Path, wait: Callable[[Interrupt, float], bool]) -> Callable[[], Model]:
    """The built-in model; its process begins when it is first asked."""

    def build() -> Model:
        model = LocalModel(cache)
        atexit.register(model.close)
        return Retrying(model, wait)

    return build
