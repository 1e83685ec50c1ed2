"""Which names, categories and paths a skill may have."""

import re

from skills_store.text import invisible

MAX_NAME = 64
MAX_PART = 200
SKILL_FILE = "SKILL.md"
SIDECAR = ".provenance.json"
ARCHIVE = ".archive"
DEFAULT_CATEGORY = "general"
SUPPORT_FOLDERS = ("references", "templates", "scripts", "assets")
SKIPPED_FOLDERS = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "env", "dist", "build"})

_PLACES = ", ".join(f"{folder}/" for folder in SUPPORT_FOLDERS)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_SHAPE = "use up to 64 of a-z, 0-9, `-`, `_` and `.`, beginning with a letter or a digit"
_FORBIDDEN = re.compile(r"""[\\:*?"<>|\x00-\x1f]""")


def name_problem(name: str) -> str | None:
    """Why a skill may not be called this; None when it may."""
    return _segment_problem(name, "skill name")


def category_problem(category: str) -> str | None:
    """Why a category may not be called this; None when it may, and for no category at all."""
    return _segment_problem(category, "category") if category else None


def file_path_problem(path: str) -> str | None:
    """Why a support file may not live at this path of a skill; None when it may."""
    if hidden := invisible(path):
        return f"the file path holds the invisible character {hidden}; leave it out"
    parts = path.split("/")
    if ".." in parts or path.startswith(("/", "~")) or re.match(r"[A-Za-z]:", path) or "\\" in path:
        return f"the file path {path!r} leads out of the skill; give a path below it, such as references/notes.md"
    if parts[-1].casefold() in (SKILL_FILE.casefold(), SIDECAR):
        if parts[-1] == SIDECAR:
            return f"{path!r} is kept by the store itself and is not written by hand"
        return f"{path!r} is the skill itself, not a support file; use create, edit or patch without file_path"
    if parts[0] not in SUPPORT_FOLDERS or len(parts) < 2:
        return f"{path!r} is in none of {_PLACES}; put the file into one of these folders"
    bad = (p for p in parts if not p or p[0] == "." or p != p.strip() or len(p) > MAX_PART or _FORBIDDEN.search(p))
    wrong = next(bad, None)
    return None if wrong is None else f"{wrong!r} in the file path {path!r} is not a usable file name"


def _segment_problem(name: str, what: str) -> str | None:
    if _NAME.fullmatch(name) and len(name) <= MAX_NAME and name not in SKIPPED_FOLDERS and name[-1] != ".":
        return None
    if hidden := invisible(name):
        return f"the {what} {name!a} holds the invisible character {hidden}; leave it out"
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        return f"{name!r} is not a {what}: {_SHAPE}"
    return f"{name!r} cannot be a {what}: a folder of that name is passed over or lost; choose another"
