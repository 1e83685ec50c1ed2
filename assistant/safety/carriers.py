"""Programs that run another command: what they carry decides."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from assistant.safety.pieces import Piece, Word
from assistant.safety.tables import SHELLS, words

LATER = Word("(from its input)", plain=False)
"""An argument that is known only when the command runs."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What a carrier runs: a command, a text for a shell, or something that cannot be known."""

    piece: Piece | None = None
    script: Word | None = None
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A program that runs the words after its own."""

    values: frozenset[str] = frozenset()
    """Options that take the next word."""
    operands: int = 0
    """Words of its own before the command."""
    adds: bool = False
    """Whether it adds arguments that are known only then."""
    scripts: frozenset[str] = frozenset()
    """Options whose value is a text for a shell."""
    optional: bool = True
    """Whether it does nothing worth asking about when no command follows."""


PREFIXES: Mapping[str, Prefix] = {
    "nohup": Prefix(),
    "time": Prefix(words("-f -o --format --output")),
    "gtime": Prefix(words("-f -o --format --output")),
    "timeout": Prefix(words("-k -s --kill-after --signal"), operands=1),
    "gtimeout": Prefix(words("-k -s --kill-after --signal"), operands=1),
    "nice": Prefix(words("-n --adjustment")),
    "ionice": Prefix(words("-c -n --class --classdata")),
    "chrt": Prefix(operands=1),
    "taskset": Prefix(operands=1),
    "stdbuf": Prefix(words("-i -o -e --input --output --error")),
    "setsid": Prefix(),
    "builtin": Prefix(),
    "exec": Prefix(words("-a")),
    "coproc": Prefix(),
    "noglob": Prefix(),
    "caffeinate": Prefix(words("-t -w")),
    "unbuffer": Prefix(),
    "env": Prefix(words("-u --unset -C --chdir -P"), scripts=words("-S --split-string")),
    "xargs": Prefix(
        words(
            "-I -n -P -L -d -a -E -s -l --max-args --max-procs --max-lines --delimiter --arg-file --replace --max-chars"
        ),
        adds=True,
    ),
    "flock": Prefix(words("-w -E --timeout --conflict-exit-code"), operands=1, scripts=words("-c --command")),
    "sudo": Prefix(words("-u -g -h -p -C -T -D -R -r -t -U --user --group --host --prompt --chdir"), optional=False),
    "doas": Prefix(words("-u -C"), optional=False),
    "pkexec": Prefix(words("--user"), optional=False),
    "su": Prefix(words("-s -g -G -w --shell --group"), 10_000, scripts=words("-c --command"), optional=False),
    "runuser": Prefix(words("-u -s -g -G"), scripts=words("-c --command"), optional=False),
    "script": Prefix(words("-I -O -B -T"), 10_000, scripts=words("-c --command"), optional=False),
    "watch": Prefix(words("-n --interval")),
    "strace": Prefix(words("-e -o -p -s -u -E -P -a"), optional=False),
    "ltrace": Prefix(words("-e -o -p -s -u"), optional=False),
    "busybox": Prefix(),
    "toybox": Prefix(),
    "dbus-run-session": Prefix(),
    "xvfb-run": Prefix(words("-n -s -e -f")),
}
ELEVATED = words("sudo doas pkexec su runuser")
SHELL_VALUES = words("-O +O -o +o --rcfile --init-file")


def carried(piece: Piece, program: str) -> tuple[Carried, ...] | None:
    """What a command runs besides itself; None when it is no carrier."""
    if program in SPECIAL:
        return SPECIAL[program](piece)
    if program in SHELLS:
        return by_shell(piece)
    prefix = PREFIXES.get(program)
    return None if prefix is None else by_prefix(piece, program, prefix)


def by_prefix(piece: Piece, program: str, prefix: Prefix) -> tuple[Carried, ...]:
    """The words after a carrier's own options and operands."""
    left = list(piece.arguments)
    found: list[Carried] = []
    settings = list(piece.settings)
    operands = prefix.operands
    while left:
        word = left[0].text
        name, sign, value = word.partition("=")
        script = script_option(word, prefix)
        if script is not None:
            text = Word(script, left[0].plain) if script else (left[1] if len(left) > 1 else Word("", plain=False))
            rest = left[1:] if script else left[2:]
            found.append(Carried(script=replace(text, text=" ".join([text.text, *(w.text for w in rest)]))))
            return tuple(found)
        if word.startswith("-") and word != "-":
            del left[: 2 if word in prefix.values else 1]
        elif program == "env" and sign and name.isidentifier():
            settings.append((name, replace(left.pop(0), text=value)))
        elif operands:
            operands -= 1
            left.pop(0)
        else:
            break
    if left:
        more = (LATER,) if prefix.adds else ()
        inner = Piece((*left, *more), tuple(settings), (), piece.folders, piece.piped, piece.fed)
        found.append(Carried(piece=inner))
    elif not prefix.optional:
        found.append(Carried(unknown=f"{program} opens a shell or needs a person"))
    elif settings:
        found.append(Carried(piece=Piece(settings=tuple(settings), folders=piece.folders)))
    return tuple(found)


def script_option(word: str, prefix: Prefix) -> str | None:
    """The text attached to a script option; empty when it is the next word, None when the option is another one."""
    for option in prefix.scripts:
        if word == option:
            return ""
        if option.startswith("--") and word.startswith(f"{option}="):
            return word[len(option) + 1 :]
        if not option.startswith("--") and word.startswith(option) and not word.startswith("--"):
            return word[2:]
    return None


def by_shell(piece: Piece) -> tuple[Carried, ...]:
    """`sh -c text`, a text fed to it, or something that nobody has read."""
    left = list(piece.arguments)
    while left and left[0].text.startswith(("-", "+")) and left[0].text not in ("-", "--"):
        option = left.pop(0)
        if option.text in ("--version", "--help"):
            return ()
        if "c" in option.text and not option.text.startswith("--"):
            script = next((word for word in left if not word.text.startswith("-")), Word("", plain=False))
            return (Carried(script=script),)
        if option.text in SHELL_VALUES and left:
            left.pop(0)
    if left and left[0].text not in ("-", "--"):
        return (Carried(unknown=f"it runs the script {left[0].text}, which nobody has read here"),)
    if piece.fed is not None:
        return (Carried(script=piece.fed),)
    what = "what another command prints" if piece.piped else "whatever is typed into it"
    return (Carried(unknown=f"the shell runs {what}, which cannot be read beforehand"),)


def by_eval(piece: Piece) -> tuple[Carried, ...]:
    """All words together are a command."""
    text = " ".join(word.text for word in piece.arguments)
    return (Carried(script=Word(text, all(word.plain for word in piece.arguments))),)


def by_trap(piece: Piece) -> tuple[Carried, ...]:
    """The first word is a command for later."""
    first = next((word for word in piece.arguments if not word.text.startswith("-")), None)
    return () if first is None else (Carried(script=first),)


def by_find(piece: Piece) -> tuple[Carried, ...]:
    """`-exec` and its kin run the words up to `;` or `+`."""
    found = []
    left = list(piece.arguments)
    while left:
        if left.pop(0).text not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        inner = []
        while left and left[0].text not in (";", "+"):
            word = left.pop(0)
            inner.append(LATER if "{}" in word.text else word)
        found.append(Carried(piece=Piece(tuple(inner), (), (), piece.folders)))
    return tuple(found)


def by_fd(piece: Piece) -> tuple[Carried, ...] | None:
    """Everything after `-x` is a command."""
    places = [at for at, word in enumerate(piece.words) if word.text in ("-x", "-X", "--exec", "--exec-batch")]
    if not places:
        return None
    return (Carried(piece=Piece((*piece.words[places[0] + 1 :], LATER), (), (), piece.folders)),)


def by_python(piece: Piece) -> tuple[Carried, ...] | None:
    """`python -m tool` is the tool; other uses run code."""
    first, *rest = piece.arguments or (Word(""),)
    if first.text != "-m" or not rest:
        return None
    return (Carried(piece=replace(piece, words=tuple(rest))),)


def by_command(piece: Piece) -> tuple[Carried, ...]:
    """`command -v x` only tells where x is."""
    first = piece.arguments[0].text if piece.arguments else ""
    return () if first in ("-v", "-V") else by_prefix(piece, "command", Prefix())


SPECIAL: Mapping[str, Callable[[Piece], tuple[Carried, ...] | None]] = {
    "eval": by_eval,
    "trap": by_trap,
    "find": by_find,
    "fd": by_fd,
    "command": by_command,
    "python": by_python,
    "python3": by_python,
}
