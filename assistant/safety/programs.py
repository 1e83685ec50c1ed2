"""What one simple command does to files, by its program and its words."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from assistant.safety import tables
from assistant.safety.paths import Places, is_vital, judge_path, pattern_secret
from assistant.safety.pieces import Piece, Word
from assistant.safety.verdicts import Allow, Ask, Deny, Verdict, strictest

PLACE = r"(\d+|\$|/[^/]*/I?)"
PART = r"((?!(?P=a))[^\\\n]|\\.)*(?P=a)"
DOING = rf"([pdqQ=lDGhHgxnN]|s(?P<a>[/|#,@:!]){PART}{PART}[gpiI0-9]*|y/[^/]*/[^/]*/)"
QUIET_SED = re.compile(rf"\s*(({PLACE}(\s*[,~]\s*[+~]?{PLACE})?)?\s*!?\s*{DOING}\s*(;|\n|$)\s*)+")
"""Editing scripts that only print: places, and what is done there."""
LOUD_AWK = re.compile(r"system|getline|print.*>|(?<!\|)\|(?!\|)|@|ENVIRON|fflush|close", re.DOTALL)
"""What writes, runs or loads; elsewhere `>` and `||` compare."""


def options(piece: Piece) -> Iterator[str]:
    """The words that begin with a dash, up to `--`."""
    for word in piece.arguments:
        if word.text == "--":
            return
        if word.text.startswith("-") and word.text != "-":
            yield word.text


def operands(piece: Piece) -> tuple[Word, ...]:
    """The words that are no options."""
    found: list[Word] = []
    only = False
    for word in piece.arguments:
        if word.text == "--" and not only:
            only = True
        elif only or word.text == "-" or not word.text.startswith("-"):
            found.append(word)
    return tuple(found)


def has_option(piece: Piece, wanted: tuple[str, ...]) -> str:
    """The first of some options that a command uses: alone, shortened, with a value, or in a bundle of letters."""
    valued = tables.VALUED.get(piece.program.text.rpartition("/")[2], "")
    for word in options(piece):
        for option in wanted:
            if word.startswith("--"):
                used = len(word) > 2 and option.startswith(word.partition("=")[0])
            else:
                used = word == option or (len(option) == 2 and option[1] in bundle(word, valued))
            if used:
                return option
    return ""


def bundle(word: str, valued: str) -> str:
    """The letters of a word that are options: the first, and more up to one that takes the rest as its value."""
    letters = word[1:]
    end = next((at for at, sign in enumerate(letters) if sign in valued or not sign.isalpha()), len(letters))
    return letters[: max(1, end)]


def paths(word: Word, folders: tuple[Path, ...]) -> Iterator[Path]:
    """Where a word may lead; a pattern that matches all of a folder leads to the folder."""
    text = word.text
    while word.glob and text.rpartition("/")[2] in ("*", ".*", "{*,.*}", "**", "?*", ".[!.]*", ".??*"):
        head, slash, _ = text.rpartition("/")
        text = head or ("/" if slash else ".")
    for folder in folders:
        yield folder / text


def judge_words(piece: Piece, chosen: tuple[Word, ...], write: bool, places: Places) -> Verdict:
    """The strictest verdict on some words as files to write or read."""
    verdicts: list[Verdict] = []
    for word in chosen:
        if not word.plain and write:
            verdicts.append(Ask(f"what it writes to, {word.text}, is known only when it runs", "unknown target"))
        elif word.plain:
            verdicts.extend(judge_path(path, write, places) for path in paths(word, piece.folders))
            if word.glob and not write:
                verdicts.extend(pattern_secret(folder / word.text, places) for folder in piece.folders)
    return strictest(verdicts)


def files_of(piece: Piece, program: str = "") -> tuple[Word, ...]:
    """Words that may be files, also those behind `--option=`."""
    if program == "find":
        return starts(piece)
    if program in tables.NAMES_ONLY:
        return ()
    behind = tuple(
        Word(word.text.partition("=")[2], word.plain, word.glob) for word in piece.arguments if "=" in word.text
    )
    given = operands(piece)
    if program in tables.PATTERN_FIRST and not has_option(piece, ("-e", "-f", "--regexp", "--file", "--expression")):
        given = given[1:]
    return () if program in tables.SPEAKERS else given + tuple(word for word in behind if word.text)


def judge_reader(piece: Piece, program: str, places: Places) -> Verdict:
    """A program that prints what it reads, unless its options say otherwise."""
    loud = has_option(piece, tables.RUNNING_OPTIONS.get(program, ()))
    files = files_of(piece, program)
    verdicts = [judge_words(piece, files, False, places)]
    if has_option(piece, ("-r", "-R", "--recursive")) and isinstance(vital(piece, files, places), Deny):
        verdicts.append(Ask(f"{program} reads everything below a folder that holds secrets", "secret"))
    if loud and not (program == "sed" and loud in ("-i", "--in-place")):
        verdicts.append(Ask(f"{program} {loud} runs something or writes a file", "running option"))
    if program in LOUD:
        verdicts.append(LOUD[program](piece, places))
    if program in tables.SECOND_IS_OUTPUT and len(operands(piece)) > 1:
        verdicts.append(judge_words(piece, operands(piece)[1:], True, places))
    return strictest(verdicts)


def judge_find(piece: Piece, places: Places) -> Verdict:
    """Looking is quiet; deleting and running are not."""
    said = {word.text for word in piece.arguments}
    loud = said & {"-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls", "-fprint0"}
    if not loud:
        return Allow()
    roots = starts(piece)
    if "-delete" in said or removes(piece):
        return strictest(
            [vital(piece, roots, places), judge_words(piece, roots, True, places), Ask("find deletes files", "find")]
        )
    if loud <= {"-exec", "-execdir"}:
        return Allow()
    return Ask(f"find {min(loud)} writes files or runs a command", "find")


def starts(piece: Piece) -> tuple[Word, ...]:
    """Where find begins to look."""
    found: list[Word] = []
    for word in piece.arguments:
        if word.text[:1] in ("-", "(", "!"):
            break
        found.append(word)
    return tuple(found) or (Word("."),)


def removes(piece: Piece) -> bool:
    """Whether find hands what it finds to a program that deletes."""
    return any(word.text.rpartition("/")[2] in ("rm", "unlink", "shred", "rmdir") for word in piece.arguments)


def judge_sed(piece: Piece, places: Places) -> Verdict:
    """Simple editing scripts are quiet; others may write files or run commands."""
    scripts, rest = sed_scripts(piece)
    verdicts: list[Verdict] = []
    if has_option(piece, ("-i", "--in-place")):
        verdicts.append(judge_words(piece, rest, True, places))
    if not all(script.plain and QUIET_SED.fullmatch(script.text) for script in scripts):
        verdicts.append(Ask("the sed script may write files or run commands", "sed"))
    return strictest(verdicts)


def sed_scripts(piece: Piece) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The scripts of a sed call, and its files."""
    named = [piece.arguments[at + 1] for at, w in enumerate(piece.arguments[:-1]) if w.text in ("-e", "--expression")]
    files = [word for word in operands(piece) if word not in named]
    if not named and files:
        named.append(files.pop(0))
    return tuple(named), tuple(files)


def judge_awk(piece: Piece, _places: Places) -> Verdict:
    """A program that only computes and prints is quiet."""
    program = next(iter(operands(piece)), Word(""))
    if program.plain and not LOUD_AWK.search(program.text):
        return Allow()
    return Ask("the awk program may write files or run commands", "awk")


LOUD: Mapping[str, Callable[[Piece, Places], Verdict]] = {
    "find": judge_find,
    "sed": judge_sed,
    "awk": judge_awk,
    "gawk": judge_awk,
    "mawk": judge_awk,
    "nawk": judge_awk,
}


def judge_writer(piece: Piece, program: str, places: Places) -> Verdict:
    """A program whose files are written."""
    given = operands(piece)
    targets: tuple[Word, ...] = given
    sources: tuple[Word, ...] = ()
    folder = target_folder(piece)
    if program in tables.TARGETS_LAST:
        targets, sources = (folder, given) if folder else (given[-1:], given[:-1])
    linked = program == "ln" or bool(has_option(piece, ("-l", "-s", "--link", "--symbolic-link")))
    verdicts = [judge_words(piece, targets, True, places), judge_words(piece, sources, linked, places)]
    first = next((word.text for word in piece.arguments), "")
    loud = has_option(piece, tables.RUNNING_OPTIONS.get(program, ()))
    if loud or not re.fullmatch(tables.FREE_WRITERS.get(program, "(?!)"), first, re.DOTALL):
        verdicts.append(Ask(f"{program}: {tables.RISKY.get(program, 'it changes files')}", program))
    if program == "mv" or has_option(piece, ("-R", "-r", "--recursive")):
        verdicts.append(vital(piece, given if program not in tables.TARGETS_LAST else targets, places))
    return strictest(verdicts)


def target_folder(piece: Piece) -> tuple[Word, ...]:
    """The folder named by `-t`, in any of its spellings."""
    found: list[Word] = []
    for place, word in enumerate(piece.arguments):
        if word.text in ("-t", "--target-directory"):
            found.extend(piece.arguments[place + 1 : place + 2])
        elif word.text.startswith("--target-directory="):
            found.append(Word(word.text.partition("=")[2], word.plain, word.glob))
        elif word.text.startswith("-t"):
            found.append(Word(word.text[2:], word.plain, word.glob))
    return tuple(found)


def vital(piece: Piece, chosen: tuple[Word, ...], places: Places) -> Verdict:
    """Deny for what nobody wants to lose as a whole."""
    for word in chosen:
        for path in paths(word, piece.folders) if word.plain else ():
            if is_vital(path, places):
                return Deny(f"it would destroy {path}, and with it what nobody can bring back", "fatal")
    return Allow()


def judge_dd(piece: Piece, places: Places) -> Verdict:
    """Raw copies ask; onto a disk never."""
    targets = tuple(Word(w.text[3:], w.plain, w.glob) for w in piece.arguments if w.text.startswith("of="))
    return strictest([judge_words(piece, targets, True, places), Ask(f"dd: {tables.RISKY['dd']}", "dd")])


def judge_kill(piece: Piece, _places: Places) -> Verdict:
    """Ending everything at once is fatal."""
    if any(word.text in ("-1", "1", "0") for word in operands_of_kill(piece)):
        return Deny("it would end every program, or the machine itself", "fatal")
    return Ask(f"kill: {tables.RISKY['kill']}", "kill")


def operands_of_kill(piece: Piece) -> tuple[Word, ...]:
    """The processes of a kill; the first word with a dash is the signal."""
    words = [word for word in piece.arguments if word.text != "--"]
    return tuple(words[1:] if words and words[0].text.startswith("-") and len(words) > 1 else words)


ALONE: Mapping[str, Callable[[Piece, Places], Verdict]] = {"dd": judge_dd, "kill": judge_kill}
"""Programs with a judgement of their own."""
