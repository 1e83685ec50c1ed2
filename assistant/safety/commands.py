"""May this shell command run?  Every part of it is judged, also what it carries; the strictest verdict wins."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assistant.safety import tables
from assistant.safety.carriers import ELEVATED, Carried, carried
from assistant.safety.git import judge_git
from assistant.safety.paths import Places
from assistant.safety.pieces import Person, Piece, Script, Word
from assistant.safety.programs import ALONE, files_of, judge_reader, judge_words, judge_writer, vital
from assistant.safety.shell import take_apart
from assistant.safety.verdicts import Allow, Ask, Deny, Verdict, strictest

DEEPEST = 6
BINARIES = re.compile(r"/(usr/(local/)?)?s?bin/[^/]+|/opt/homebrew/bin/[^/]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A simple command as it is judged: found in the text, or inside another command."""

    piece: Piece
    program: str
    """The name of its program without the folder; empty when there is none or it cannot be known."""
    unknown: str = ""
    """Why it cannot be judged."""
    own: bool = False
    """Whether it calls a function that the text defines."""


def parts(text: str, person: Person) -> tuple[Part, ...]:
    """Every simple command of a text and all that they carry."""
    return tuple(of_script(take_apart(text, person), person, 0))


def of_script(script: Script, person: Person, depth: int) -> Iterator[Part]:
    """The commands of a script, and what they carry."""
    if not script.understood:
        yield Part(Piece(), "", "it cannot be understood as a whole")
    if script.multiplies:
        yield Part(Piece((Word("fork bomb"),)), "fork bomb")
    for piece in script.pieces:
        own = bool(piece.words) and piece.program.text in script.functions
        yield from [Part(piece, "", own=True)] if own else of_piece(piece, person, depth)


def of_piece(piece: Piece, person: Person, depth: int) -> Iterator[Part]:
    """A command and what it carries."""
    if not piece.words:
        yield Part(piece, "")
        return
    if not piece.program.plain or not piece.program.text:
        yield Part(piece, "", "the name of the program is put together when it runs")
        return
    program = program_of(piece)
    yield Part(piece, program)
    for inner in carried(piece, program) or ():
        yield from inside(inner, piece, person, depth + 1)


def inside(inner: Carried, piece: Piece, person: Person, depth: int) -> Iterator[Part]:
    """What a carrier runs."""
    if inner.unknown or depth > DEEPEST:
        yield Part(Piece(folders=piece.folders), "", inner.unknown or "commands are nested too deeply to be judged")
    elif inner.piece is not None:
        yield from of_piece(inner.piece, person, depth)
    elif inner.script is not None:
        if not inner.script.plain:
            yield Part(Piece(folders=piece.folders), "", "a shell runs a text that is known only then")
        yield from of_script(take_apart(inner.script.text, person, piece.folders), person, depth)


def program_of(piece: Piece) -> str:
    """A program by its name, if it is one of the machine's; a path for a program that lies elsewhere."""
    text = piece.program.text
    return text.rpartition("/")[2] if BINARIES.fullmatch(text) else text


def judge_part(part: Part, places: Places) -> Verdict:
    """One simple command: its variables, its redirections, its program."""
    verdicts = [judge_settings(part.piece), judge_redirects(part.piece, places)]
    if part.piece.mentions:
        verdicts.append(judge_words(part.piece, part.piece.mentions, False, places))
    if part.unknown:
        verdicts.append(Ask(part.unknown, "not understood"))
    elif part.program and not part.own:
        verdicts.append(judge_program(part.piece, part.program, places))
    return strictest(verdicts)


def judge_settings(piece: Piece) -> Verdict:
    """Variables that change what a command does."""
    for name, _value in piece.settings:
        if name in tables.SETTINGS or name.startswith(tables.SETTING_FAMILIES):
            return Ask(f"it sets {name}, which changes what commands do", "variable")
    return Allow()


def judge_redirects(piece: Piece, places: Places) -> Verdict:
    """Files that a command's output goes to or its input comes from."""
    verdicts = [judge_words(piece, (redirect.target,), redirect.writes, places) for redirect in piece.redirects]
    return strictest(verdicts)


def judge_program(piece: Piece, program: str, places: Places) -> Verdict:
    """By the tables: the first that knows the program speaks."""
    fatal = judge_fatal(piece, program, places)
    if isinstance(fatal, Deny):
        return fatal
    if program == "git":
        return judge_git(piece, places)
    if program in ALONE:
        return ALONE[program](piece, places)
    if program in tables.SPEAKERS | tables.READERS:
        return judge_reader(piece, program, places)
    if program in tables.TARGETS_LAST | tables.TARGETS_ALL:
        return judge_writer(piece, program, places)
    if program in tables.PROJECT:
        return Allow()
    if program in tables.SUBCOMMANDS:
        return judge_subcommand(piece, program)
    return judge_carrier(piece, program, places)


def judge_fatal(piece: Piece, program: str, places: Places) -> Verdict:
    """What is never run."""
    stem = program.partition(".")[0]
    if program == "fork bomb":
        return Deny("it starts itself again and again until nothing works any more", "fatal")
    if stem in tables.FATAL_PROGRAMS:
        return Deny(f"{program}: {tables.FATAL_PROGRAMS[stem]}", "fatal")
    if any(word.text in tables.FATAL_SUBCOMMANDS.get(program, ()) for word in piece.arguments):
        return Deny(f"{program}: it turns the machine off or erases a disk", "fatal")
    if program == "shred":
        return vital(piece, files_of(piece), places)
    return Allow()


def judge_subcommand(piece: Piece, program: str) -> Verdict:
    """Some subcommands are harmless."""
    first = next((w for w in piece.arguments if not w.text.startswith("+")), Word(""))
    if first.plain and first.text in tables.SUBCOMMANDS[program]:
        return Allow()
    if first.text in ("--version", "--help", "-V"):
        return Allow()
    return Ask(f"{program} {first.text} is not among its harmless subcommands", "subcommand")


def judge_carrier(piece: Piece, program: str, places: Places) -> Verdict:
    """Carriers are judged by their payload, which is a part of its own; all else asks."""
    if program in ELEVATED:
        return Ask(f"{program}: it acts as another user", "elevated")
    if carried(piece, program) is not None:
        return judge_words(piece, files_of(piece), False, places)
    only_asks = [word.text for word in piece.arguments] in (["--version"], ["-V"], ["--help"], ["-v"], ["version"])
    if program in tables.INTERPRETERS:
        return Allow() if only_asks else Ask(f"{program} runs a program that nobody has read here", "interpreter")
    if "/" in program:
        return Ask(f"{program} is a program outside the machine's own folders", "local program")
    if program in tables.NETWORK:
        return Allow() if only_asks else Ask(f"{program} talks to other machines", "network")
    return Ask(f"{program}: {tables.RISKY.get(program, 'it is not among the commands that run unasked')}", "unknown")
