"""Everything that is wrong with a skill, as sentences with their lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skills_store.document import MAX_BYTES, Document, read
from skills_store.links import dead_links
from skills_store.names import SIDECAR, SKILL_FILE, SKIPPED_FOLDERS, category_problem, file_path_problem, name_problem
from skills_store.problems import Problem, error, warning
from skills_store.text import cells, hidden_in_prose

MAX_DESCRIPTION = 1_024
NEW_DESCRIPTION_CELLS = 60
MAX_CHARACTERS = 100_000
MAX_COMPATIBILITY = 500
KNOWN_KEYS = frozenset(
    {"name", "description", "license", "compatibility", "metadata", "allowed-tools", "platforms"}
    | {"required_environment_variables", "required_commands", "required_files", "version", "author", "tags"}
)
PLATFORMS = frozenset({"linux", "macos", "windows"})

Files = Mapping[str, bytes] | Sequence[str]


@dataclass(frozen=True)
class _Skill:
    document: Document
    name: str
    category: str
    files: Files
    new: bool


def problems(
    document: Document, name: str = "", category: str = "", files: Files = (), new: bool = False
) -> tuple[Problem, ...]:
    """What is wrong with a document that is, or is to be, the skill of this name; `new` is stricter."""
    if document.broken:
        return (document.broken, *document.warnings)
    skill = _Skill(document, name, category, files, new)
    return (*document.warnings, *(problem for check in _CHECKS for problem in check(skill)))


def validate_folder(path: Path) -> tuple[Problem, ...]:
    """What is wrong with a skill, given its folder or its SKILL.md, or with every skill below a folder."""
    folder = path.parent if path.name == SKILL_FILE and path.is_file() else path
    if (folder / SKILL_FILE).is_file():
        return _validate_skill(folder, "")
    if not folder.is_dir():
        return (error(1, f"{path} does not exist; give the folder of a skill", str(path)),)
    below = sorted(file.parent for file in folder.glob("**/" + SKILL_FILE) if not _passed_over(file, folder))
    if not below:
        return (error(1, f"{folder} holds no {SKILL_FILE}, and neither does a folder in it", str(path)),)
    return tuple(p for one in below for p in _validate_skill(one, f"{one.relative_to(folder).as_posix()}/"))


def _validate_skill(folder: Path, prefix: str) -> tuple[Problem, ...]:
    files = {
        file.relative_to(folder).as_posix(): _start_of(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in (SKILL_FILE, SIDECAR) and not _passed_over(file, folder)
    }
    found = problems(read(_start_of(folder / SKILL_FILE)), folder.resolve().name, files=files)
    return tuple(Problem(one.severity, one.line, one.message, prefix + one.file) for one in found)


def _start_of(file: Path) -> bytes:
    """A file's bytes, one more than may be read at most, so that a huge file is told and not loaded."""
    with file.open("rb") as opened:
        return opened.read(MAX_BYTES + 1)


def _passed_over(file: Path, root: Path) -> bool:
    return any(part.startswith(".") or part in SKIPPED_FOLDERS for part in file.relative_to(root).parts)


def _name(skill: _Skill) -> Iterator[Problem]:
    document, line = skill.document, skill.document.line_of("name")
    if not document.name:
        yield error(line, f"the header needs a `name`{f'; it is {skill.name!r}' if skill.name else ''}")
        return
    if wrong := name_problem(document.name):
        yield error(line, wrong)
    elif "." in document.name or "_" in document.name or "--" in document.name or document.name.endswith("-"):
        yield warning(line, f"the open format allows letters, digits and single hyphens only, not {document.name!r}")
    if skill.name and document.name != skill.name:
        said = f"the header says `name: {document.name}` but the folder is called {skill.name!r}; make them agree"
        yield error(line, said)


def _category(skill: _Skill) -> Iterator[Problem]:
    if wrong := category_problem(skill.category):
        yield error(1, wrong)


def _description(skill: _Skill) -> Iterator[Problem]:
    text, line = skill.document.description, skill.document.line_of("description")
    if len(text) > MAX_DESCRIPTION:
        yield error(line, f"the description has {len(text):,} characters; at most {MAX_DESCRIPTION:,} are allowed")
    elif cells(text) > NEW_DESCRIPTION_CELLS:
        said = (
            f"the description is {cells(text)} cells wide; "
            f"a new one has at most {NEW_DESCRIPTION_CELLS}: keep the trigger and move the rest into the body"
        )
        yield error(line, said) if skill.new else warning(line, said)
    if hidden := hidden_in_prose(text):
        yield error(line, f"the description holds the invisible character {hidden}; leave it out")
    if text.isascii() and not text.lower().startswith("use "):
        yield warning(line, "begin the description with the trigger: `Use when …`")


def _body(skill: _Skill) -> Iterator[Problem]:
    document = skill.document
    if not document.body.strip():
        yield error(document.body_line, "the body is empty; say below the header how the work is done")
    if len(document.text) > MAX_CHARACTERS:
        said = f"the file has {len(document.text):,} characters; at most {MAX_CHARACTERS:,} are allowed"
        yield error(document.body_line, f"{said}: move material to references/")


def _fields(skill: _Skill) -> Iterator[Problem]:
    header, line = skill.document.header, skill.document.line_of
    for key in header:
        if key not in KNOWN_KEYS:
            yield warning(line(key), f"the key `{key}` is not known; it is kept and has no effect")
    if not isinstance(header.get("license", ""), str):
        yield warning(line("license"), "`license` should be one text")
    compatibility = header.get("compatibility", "")
    if not isinstance(compatibility, str) or len(compatibility) > MAX_COMPATIBILITY:
        said = f"`compatibility` should be one text of at most {MAX_COMPATIBILITY} characters"
        yield warning(line("compatibility"), said)
    metadata = header.get("metadata", {})
    if metadata != "" and not _texts(metadata):
        yield warning(line("metadata"), "the open format wants `metadata` to be a mapping of texts to texts")
    for platform in skill.document.platforms:
        if platform not in PLATFORMS:
            yield warning(line("platforms"), f"{platform!r} is no platform; known are {', '.join(sorted(PLATFORMS))}")


def _texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())


def _links(skill: _Skill) -> Iterator[Problem]:
    for link in dead_links(skill.document.body, tuple(skill.files)):
        what = "names" if link.mention else "links to"
        yield warning(skill.document.body_line + link.line - 1, f"this line {what} {link.target!r}, which is not there")


def _files(skill: _Skill) -> Iterator[Problem]:
    for path in skill.files:
        if wrong := file_path_problem(path):
            yield warning(1, wrong, path)
    if isinstance(skill.files, Mapping):
        for path, data in skill.files.items():
            yield from file_size_problems(path, data)


def file_size_problems(path: str, data: bytes) -> Iterator[Problem]:
    """Is a support file too large to be kept?"""
    characters = len(data.decode("utf-8", "replace")) if len(data) > MAX_CHARACTERS else 0
    if len(data) > MAX_BYTES:
        yield error(1, f"the file has more than {MAX_BYTES:,} bytes, which is the most a support file may have", path)
    elif characters > MAX_CHARACTERS:
        yield error(1, f"the file has {characters:,} characters; at most {MAX_CHARACTERS:,} are allowed", path)


_CHECKS: tuple[Callable[[_Skill], Iterator[Problem]], ...] = (
    _name,
    _category,
    _description,
    _body,
    _fields,
    _links,
    _files,
)
