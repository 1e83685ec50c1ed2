"""The question asked once, when no model is set: which one?  A dialogue and its answer; storing it is the caller's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.client.text import one_line

OPENAI = "https://api.openai.com/v1"
FIRST = "No model is set yet. Which one should answer? `assistant setup` changes it later.\n"
Ask = Callable[[str], str | None]
"""Shows a prompt and gives the line typed; None when there is nobody to type."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server that answers on this machine; offered, never used unasked."""

    name: str
    base_url: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an OpenAI-compatible address; the key may be empty where none is asked for."""

    base_url: str
    model: str
    api_key: str = ""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The small model that runs in a process of our own."""


Choice = Endpoint | BuiltIn


class FirstRun:
    """The dialogue."""

    def __init__(self, tell: Callable[[str], None], ask: Ask, ask_secret: Ask) -> None:
        self._tell = tell
        self._ask = ask
        self._ask_secret = ask_secret

    def choose(self, servers: Sequence[LocalServer], now: str = "") -> Choice | None:
        """Ask until there is a choice; None when the person does not want to make one.  `now`: what answers already."""
        offers: list[tuple[str, Callable[[], Choice | None]]] = [
            ("an API key, for OpenAI or any endpoint that speaks its language", self._endpoint),
            *((_described(server), lambda server=server: self._local(server)) for server in servers),
            ("the built-in model: needs no account; small, knows little, uses no tools", BuiltIn),
        ]
        self._tell(f"Now {now} answers. Which model should?\n" if now else FIRST)
        for number, (words, _) in enumerate(offers, 1):
            self._tell(f"  {number}  {words}")
        number = self._number("\nNumber (Enter: as it is): " if now else "\nNumber (Enter: not now): ", len(offers))
        return offers[number - 1][1]() if number else None

    def _endpoint(self) -> Choice | None:
        base_url = self._address()
        if base_url is None:
            return None
        key = self._ask_secret("API key (not shown; Enter if none is needed): ")
        model = None if key is None else self._needed("Model name, as the endpoint spells it: ")
        return None if key is None or model is None else Endpoint(base_url, model, key.strip())

    def _address(self) -> str | None:
        while (said := self._ask(f"Address (Enter: {OPENAI}): ")) is not None:
            address = said.strip().rstrip("/") or OPENAI
            if address.startswith(("http://", "https://")):
                return address
            self._tell(f"An address begins with https:// (or http:// on this machine), unlike {one_line(address)!r}.")
        return None

    def _local(self, server: LocalServer) -> Choice | None:
        if len(server.models) == 1:
            return Endpoint(server.base_url, server.models[0])
        if not server.models:
            model = self._needed(f"Which model of {one_line(server.name)}? Its name: ")
            return None if model is None else Endpoint(server.base_url, model)
        for number, model in enumerate(server.models, 1):
            self._tell(f"  {number}  {one_line(model)}")
        chosen = self._number("Number (Enter: not now): ", len(server.models))
        return Endpoint(server.base_url, server.models[chosen - 1]) if chosen else None

    def _needed(self, prompt: str) -> str | None:
        while (said := self._ask(prompt)) is not None:
            if said.strip():
                return said.strip()
            self._tell("It cannot be empty.")
        return None

    def _number(self, prompt: str, most: int) -> int:
        while said := (self._ask(prompt) or "").strip():
            if said.isascii() and said.isdecimal() and 1 <= int(said) <= most:
                return int(said)
            self._tell(f"Please type a number from 1 to {most}.")
        return 0


def _described(server: LocalServer) -> str:
    count = len(server.models)
    models = f", {count} model{'s' if count > 1 else ''}" if count else ""
    return f"{one_line(server.name)}, which answers at {one_line(server.base_url)}{models}"
