"""How far to believe what a command prints: not at all when it may have come over the network."""

import re
from pathlib import Path

from assistant.safety import tables
from assistant.safety.carriers import carried
from assistant.safety.commands import Part, parts
from assistant.safety.pieces import Person
from skills_store.values import Origin

ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://(?!/)|/dev/(tcp|udp)/", re.IGNORECASE)
UNQUIET = tables.SPEAKERS | tables.READERS | tables.PROJECT
FILES = tables.TARGETS_ALL | frozenset(tables.RISKY) | tables.words("cp install ln")

UNKNOWN = Person(Path("/nowhere"), Path("/nowhere"))
QUIET = tables.SPEAKERS | tables.READERS | tables.PROJECT
FILES = tables.TARGETS_ALL | frozenset(tables.RISKY) | tables.words("cp install ln")


def origin_of_command(command: str, network: bool = True) -> Origin:
    """Untrusted when a command names an address, a program that talks to the network, or cannot be understood."""
    if not network:
        return Origin.TRUSTED
    if ADDRESS.search(command) or any(may_talk(part) for part in parts(command, UNKNOWN)):
        return Origin.UNTRUSTED
    return Origin.TRUSTED


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
