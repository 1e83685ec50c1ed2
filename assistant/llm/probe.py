"""Model servers on this machine, looked for only when the person asks, at the ports where they usually are."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

USUAL = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080}
SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answers, and its models."""

    program: str
    base_url: str
    models: tuple[str, ...]


def probe(ports: Mapping[str, int] | None = None) -> tuple[Found, ...]:
    """The servers that list at least one model; sends them nothing but that question."""
    found = []
    for program, port in (USUAL if ports is None else ports).items():
        if models := models_at(port):
            found.append(Found(program, f"http://127.0.0.1:{port}/v1", models))
    return tuple(found)


def models_at(port: int) -> tuple[str, ...]:
    """The names that `/v1/models` gives on a loopback port; none when nobody there speaks our language."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", "/v1/models")
        return names_in(json.loads(connection.getresponse().read(1_000_000)))
    except (OSError, http.client.HTTPException, ValueError):
        return ()
    finally:
        connection.close()


def names_in(listing: Any) -> tuple[str, ...]:
    """The ids of a model list."""
    data = listing.get("data") if isinstance(listing, Mapping) else None
    models = data if isinstance(data, list) else []
    return tuple(m["id"] for m in models if isinstance(m, Mapping) and isinstance(m.get("id"), str))
