"""What the branch is, read from git's own files without starting git."""

import re
from pathlib import Path

from skills_store.errors import StoreBrokenError, StoreError

ID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
SHA = re.compile(r"^[0-9a-f]{40}$")
UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


def read_ref(git_dir: Path, name: str) -> str:
    """The commit a ref names, or nothing."""
    try:
        text = (git_dir / name).read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return packed(git_dir).get(name, "")
    return text if SHA.match(text) else ""


def packed(git_dir: Path) -> dict[str, str]:
    """The refs that git keeps together in one file."""
    try:
        text = (git_dir / "packed-refs").read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    pairs = (line.split(" ", 1) for line in text.splitlines() if line[:1] not in ("#", "^", ""))
    return {name: sha for sha, name in pairs}


def branch(git_dir: Path) -> str:
    """The full name of the branch that HEAD is on; empty when HEAD is detached or there is no repository."""
    try:
        text = (git_dir / "HEAD").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return text.removeprefix("ref:").strip() if text.startswith("ref:") else ""


def head(git_dir: Path) -> str:
    """The commit that HEAD stands for; empty before the first."""
    if name := branch(git_dir):
        return read_ref(git_dir, name)
    try:
        text = (git_dir / "HEAD").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return text if SHA.match(text) else ""


def must_be_quiet(git_dir: Path) -> None:
    """StoreBrokenError when the person's own git is in the middle of something that a commit of ours would disturb."""
    for mark, what in UNFINISHED.items():
        if (git_dir / mark).exists():
            raise StoreBrokenError(
                f"{git_dir.parent} is in the middle of {what}",
                f"finish or abort it with git in {git_dir.parent}; nothing was changed",
            )
    if not branch(git_dir):
        raise StoreBrokenError(
            f"{git_dir.parent} is on no branch (detached HEAD)",
            f"go back with: git -C {git_dir.parent} switch -   (or name a branch); nothing was changed",
        )


def checked_id(text: str) -> str:
    """The id, if it is one; no other text reaches a ref or a path."""
    if not ID.match(text):
        raise StoreError(f"{text[:80]!r} is not an id", "not_found", "list the ids with: assistant inbox list")
    return text
