"""The words we say to models.  Each file names its reader and its holes in frontmatter; `render` is the only entry.

Imports nothing of ours.  A file may include others of its folder tree; it declares their holes with its own.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment, Template

HERE = Path(__file__).parent


def render(name: str, **holes: object) -> str:
    """Fill prompts/<name>.md; too few or too many holes is an error, never an empty line."""
    template, declared = compiled(name)
    if holes.keys() != declared:
        raise KeyError(f"prompt {name} wants {sorted(declared)}, got {sorted(holes)}")
    return template.render(holes).rstrip()


@cache
def compiled(name: str) -> "tuple[Template, frozenset[str]]":
    """A prompt ready to be filled, and the holes it declares."""
    header, _ = parts(name)
    return engine().get_template(name), frozenset(header["holes"])


@cache
def parts(name: str) -> tuple[dict[str, Any], str]:
    """Frontmatter and words of prompts/<name>.md."""
    import frontmatter

    header, words = frontmatter.parse((HERE / f"{name}.md").read_text(encoding="utf-8"))
    return header, words


@cache
def engine() -> "Environment":
    """The one template engine: holes are strict, and a line that holds only a tag leaves no line."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(lambda name: parts(name)[1] + "\n"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
