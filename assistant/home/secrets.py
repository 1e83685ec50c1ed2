"""The `.env` file: NAME=value lines that fill in what the environment does not set."""

import re
from collections.abc import Mapping
from pathlib import Path

from assistant.errors import BadSetting
from assistant.home.files import write_whole

LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)", re.DOTALL)
QUOTED = re.compile(r"""(?:'(?P<plain>[^']*)'|"(?P<escaped>(?:\\.|[^"\\])*)")\s*(?:\#.*)?""")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$"}


def filled(environ: Mapping[str, str], path: Path) -> dict[str, str]:
    """The environment with the file's values where it has none."""
    return {**read_secrets(path), **environ}


def read_secrets(path: Path) -> dict[str, str]:
    """The names and values of a file; no file means none.  Faults never show what stands in the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise BadSetting(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    except OSError as fault:
        raise BadSetting(f"{path} cannot be read: {fault.strerror}. Make it a file that you may read.") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            name, value = _pair(text, f"{path} line {number}")
            found[name] = value
    return found


def write_secret(path: Path, name: str, value: str) -> None:
    """Set one name in the file and leave every other line as it is; only the person may read it."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        lines = []
    kept = [line for line in lines if not ((found := LINE.fullmatch(line.strip())) and found["name"] == name)]
    write_whole(path, "".join(f"{line}\n" for line in [*kept, f"{name}={quoted(value)}"]).encode(), 0o600)


def quoted(value: str) -> str:
    """A value as `read_secrets` gives it back."""
    if "'" not in value and "\n" not in value:
        return f"'{value}'"
    escapes = {char: f"\\{letter}" for letter, char in ESCAPES.items()}
    return '"' + "".join(escapes.get(char, char) for char in value) + '"'


def _pair(text: str, place: str) -> tuple[str, str]:
    """One line's name and value."""
    line = LINE.fullmatch(text)
    if line is None:
        raise BadSetting(f"{place} must read NAME=value.")
    value = line["value"]
    if value[:1] not in ("'", '"'):
        return line["name"], re.split(r"(?:^|\s)#", value, maxsplit=1)[0].rstrip()
    quoted = QUOTED.fullmatch(value)
    if quoted is None:
        raise BadSetting(f"{place} has a quote that is not closed.")
    if quoted["plain"] is not None:
        return line["name"], quoted["plain"]
    return line["name"], re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[0]), quoted["escaped"])
