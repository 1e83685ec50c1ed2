"""Takes over what another program's `config.yaml` says in our words."""

from pathlib import Path

from assistant.errors import BadSetting
from assistant.settings.describe import as_yaml
from assistant.settings.edit import set_value
from assistant.settings.read import load_tolerant
from assistant.settings.tree import leaves


def carry_over(theirs: Path, ours: Path) -> tuple[str, ...]:
    """Write each setting that means the same here into our file; the names of those that do not."""
    try:
        settings, unused = load_tolerant(theirs)
    except BadSetting as fault:
        return (f"all of config.yaml: {fault}",)
    for key, default in leaves().items():
        group, _, leaf = key.rpartition(".")
        value = getattr(getattr(settings, group) if group else settings, leaf)
        if value != default:
            set_value(ours, key, as_yaml(value))
    return unused
