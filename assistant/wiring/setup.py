"""Choosing the model that answers: what is offered, and how a choice is stored so that it holds from now on."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from assistant.client.first_run import OPENAI, Ask, Choice, Endpoint, FirstRun, LocalServer
from assistant.errors import PersonMustAct
from assistant.home.place import Home, cache_folder
from assistant.home.secrets import filled, write_secret
from assistant.llm.probe import probe
from assistant.llm.weights import prepare
from assistant.settings import load
from assistant.settings.edit import set_value
from assistant.wiring.models import BUILTIN, chosen

OPENAI_KEY = "OPENAI_API_KEY"
SMALL = "It is small, knows little and uses no tools; `assistant setup` names a larger one."
Prepare = Callable[[Path, Callable[[str], None]], object]


@dataclass(frozen=True, slots=True)
class Person:
    """Who is asked, and told."""

    tell: Callable[[str], None]
    ask: Ask
    ask_secret: Ask


def choose(home: Home, environ: Mapping[str, str], person: Person, ports: Mapping[str, int] | None = None) -> bool:
    """Ask which model should answer and store it; whether there is a new choice.

    `ports`: where servers nearby are looked for, instead of where they usually are.
    """
    servers = [LocalServer(found.program, found.base_url, found.models) for found in probe(ports)]
    choice = FirstRun(person.tell, person.ask, person.ask_secret).choose(servers, now=answering(home, environ))
    if choice is None:
        person.tell("nothing was changed")
        return False
    store(choice, home, environ, person.tell)
    return True


def answering(home: Home, environ: Mapping[str, str]) -> str:
    """The model that answers now, in words; empty when there is none."""
    try:
        model = chosen(load(home.config), filled(environ, home.env_file))
    except PersonMustAct:
        return ""
    return "the built-in model" if model.name == BUILTIN else f"{model.name} at {model.url}"


def store(choice: Choice, home: Home, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Write a choice down: the key into .env, everything else into config.yaml."""
    if isinstance(choice, Endpoint):
        store_endpoint(choice, home, environ, tell)
    else:
        use_builtin(home, environ, tell)
    if named := environ.get("ASSISTANT_MODEL"):
        tell(f"warning: ASSISTANT_MODEL in your environment names {named}, which wins over what is stored now")


def store_endpoint(choice: Endpoint, home: Home, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """The variable for the key comes first: at no moment does a key belong to another address than its own."""
    variable = key_name(choice.base_url)
    if choice.api_key:
        write_secret(home.env_file, variable, choice.api_key)
    set_value(home.config, "model.api_key_env", variable)
    set_value(home.config, "model.base_url", choice.base_url)
    set_value(home.config, "model.name", choice.model)
    tell(f"{choice.model} at {choice.base_url} is set; `assistant doctor` tries it")
    if choice.api_key and environ.get(variable, choice.api_key) != choice.api_key:
        tell(f"warning: {variable} in your environment holds another key, which wins over the one stored now")


def key_name(base_url: str) -> str:
    """The variable that holds the key of an address: one for each, so that none is ever sent to another."""
    if base_url == OPENAI:
        return OPENAI_KEY
    return f"MODEL_KEY_{re.sub('[^A-Z0-9]+', '_', urlsplit(base_url).netloc.upper()).strip('_')}"


def use_builtin(
    home: Home, environ: Mapping[str, str], tell: Callable[[str], None], prepare: Prepare = prepare
) -> None:
    """Fetch the built-in model, unless it is here, and let it answer."""
    prepare(cache_folder(environ), tell)
    set_value(home.config, "model.name", BUILTIN)
    tell(f"the built-in model is set. {SMALL}")
