"""Which variables of the environment stand for a setting."""

from collections.abc import Mapping
from dataclasses import dataclass

from assistant.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable and the setting it stands for."""

    name: str
    group: str
    field: str
    wins: bool
    """True: over the file; false: only where the file says nothing."""


VARIABLES = (
    Variable("ASSISTANT_MODEL", "model", "name", wins=True),
    Variable("OPENAI_BASE_URL", "model", "base_url", wins=False),
)


def with_environment(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings as the environment has them."""
    for variable in from_environment(settings, environ):
        group = getattr(settings, variable.group)
        changed = group.model_copy(update={variable.field: environ[variable.name]})
        settings = settings.model_copy(update={variable.group: changed})
    return settings


def from_environment(settings: Settings, environ: Mapping[str, str]) -> tuple[Variable, ...]:
    """The variables that decide something."""
    return tuple(
        variable
        for variable in VARIABLES
        if environ.get(variable.name)
        and (variable.wins or not getattr(getattr(settings, variable.group), variable.field))
    )
