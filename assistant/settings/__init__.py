"""Every setting, its default and its meaning.  Entry: `load`; the tree itself is in `tree`."""

from assistant.settings.read import load, load_tolerant, parse
from assistant.settings.tree import Settings

__all__ = ["Settings", "load", "load_tolerant", "parse"]
