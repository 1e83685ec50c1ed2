"""Whether what a command prints may have come over the network."""

import re
from pathlib import Path

from assistant.safety import tables
from assistant.safety.carriers import carried
from assistant.safety.commands import Part, parts
from assistant.safety.pieces import Person

ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://(?!/)|/dev/(tcp|udp)/", re.IGNORECASE)
UNKNOWN = Person(Path("/nowhere"), Path("/nowhere"))
QUIET = tables.SPEAKERS | tables.READERS | tables.PROJECT
FILES = tables.TARGETS_ALL | frozenset(tables.RISKY) | tables.words("cp install ln")


def brings_text_in(command: str) -> bool:
    """Whether a command names an address, a program that talks to the network, or cannot be understood."""
    return bool(ADDRESS.search(command)) or any(may_talk(part) for part in parts(command, UNKNOWN))


def may_talk(part: Part) -> bool:
    """Whether one part may bring in text from other machines."""
    if part.unknown:
        return True
    if not part.piece.words or part.own:
        return False
    if part.program == "git":
        return any(word.text in tables.GIT_NETWORK for word in part.piece.arguments)
    if part.program in tables.NETWORK and part.program in tables.SUBCOMMANDS:
        return not any(word.text in tables.SUBCOMMANDS[part.program] for word in part.piece.arguments[:1])
    if part.program in tables.NETWORK:
        return True
    return part.program not in QUIET | FILES and carried(part.piece, part.program) is None
