"""What a git command does to the person's work."""

from pathlib import Path

from assistant.safety import tables
from assistant.safety.paths import Places, judge_path
from assistant.safety.pieces import Piece, Word
from assistant.safety.programs import has_option, options
from assistant.safety.verdicts import Allow, Ask, Deny, Verdict, strictest


def judge_git(piece: Piece, places: Places) -> Verdict:
    """Reading is quiet, adding is allowed, all that can lose or run something asks."""
    folders, rest, loud = git_words(piece)
    name = rest[0].text if rest else "help"
    inner = Piece((Word(name), *rest[1:]), folders=folders)
    loud = loud or has_option(inner, tables.GIT_OPTIONS_AFTER)
    if loud:
        return Ask(f"git {loud} may run a command or write a file", "git option")
    if name in tables.GIT_READS or reads_bare(name, inner):
        return Allow()
    inside_home = strictest(judge_path(folder, True, places) for folder in folders)
    if isinstance(inside_home, Deny):
        return inside_home
    if name in tables.GIT_WORKS and rest[0].plain:
        return Allow()
    if frozenset(options(inner)) in tables.GIT_WORKS_WITH.get(name, ()) and all(word.plain for word in rest):
        return Allow()
    return Ask(f"git {name} can change or lose work, or talks to other machines", "git")


def git_words(piece: Piece) -> tuple[tuple[Path, ...], tuple[Word, ...], str]:
    """Where git works, its subcommand with the words after it, and an option before it that runs something."""
    folders, left, loud = piece.folders, list(piece.arguments), ""
    while left and left[0].text.startswith("-") and left[0].text not in ("--version", "--help"):
        option = left.pop(0).text
        name, _, value = option.partition("=")
        if option in ("-C", "--git-dir", "--work-tree", "--namespace", "-c", "--config-env") and left:
            value = left.pop(0).text
        if name in ("-C", "--git-dir", "--work-tree"):
            folders = tuple(folder / value for folder in folders)
        if name in tables.GIT_OPTIONS_BEFORE:
            loud = name
    return folders, tuple(left), loud


def reads_bare(name: str, inner: Piece) -> bool:
    """Whether a subcommand that can do both only reads here."""
    quiet = tables.GIT_READS_BARE.get(name)
    if quiet is None:
        return False
    if not inner.arguments:
        return name not in ("stash", "notes", "worktree", "bisect", "config")
    first = inner.arguments[0].text
    if name in ("branch", "tag"):
        return first in quiet and all(word in quiet for word in options(inner))
    return first in quiet
