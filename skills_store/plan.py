"""From a wish and a skill's files to a change.  Pure: nothing here touches a disk or a clock."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from skills_store import document, match, sidecar
from skills_store.change import EXECUTABLE, Change, FileEdit, as_text, blob_hash
from skills_store.errors import StoreError
from skills_store.names import ARCHIVE, DEFAULT_CATEGORY, SIDECAR, SKILL_FILE
from skills_store.sidecar import Sidecar
from skills_store.skill import Skill
from skills_store.values import Actor, Cause, Owner


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants done to a skill, as asked for."""

    action: str
    name: str
    category: str = ""
    content: str | None = None
    old_string: str | None = None
    new_string: str | None = None
    replace_all: bool = False
    file_path: str = ""
    file_content: str | None = None
    absorbed_into: str | None = None
    new_name: str = ""
    pin: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A wish with all that planning it needs: the skill now (None: there is none), who asks, when."""

    wish: Wish
    skill: Skill | None
    cause: Cause
    now: str
    taken: bool = False
    """Something lies already where the skill is to go."""

    @property
    def there(self) -> Skill:
        """The skill, or the refusal to go on without one."""
        if self.skill is None:
            raise StoreError(f"there is no skill {self.wish.name!r}", "not_found", "look it up with skills_list")
        return self.skill


def plan(case: Case) -> Change:
    """The change that fulfils a wish; StoreError says why there is none."""
    planner = PLANNERS.get(case.wish.action)
    if planner is None:
        raise StoreError(f"unknown action {case.wish.action!r}; use one of {', '.join(PLANNERS)}", "invalid")
    return planner(case)


def create(case: Case) -> Change:
    """A new skill."""
    if case.skill is not None:
        raise StoreError(
            f"the skill {case.skill.name!r} exists already, in {case.skill.folder}", "exists", "view it, then patch it"
        )
    wish = case.wish
    content = wanted(wish.content, "content", "create")
    folder = f"{wish.category or DEFAULT_CATEGORY}/{wish.name.rpartition('/')[2]}"
    known = sidecar.made_by(case.cause.actor, case.now)
    edits = (
        FileEdit(f"{folder}/{SKILL_FILE}", None, content.encode()),
        FileEdit(f"{folder}/{SIDECAR}", None, known.write()),
    )
    category, _, name = folder.partition("/")
    return Change(name, category, "create", edits, case.cause, known.owner, "create", (folder,))


def edit(case: Case) -> Change:
    """The whole of SKILL.md anew, with the line ends it has."""
    old = case.there.data() or b""
    text = wanted(case.wish.content, "content", "edit")
    return of_files(case, {SKILL_FILE: document.encode(text, document.read(old))}, "rewrite SKILL.md")


def patch(case: Case) -> Change:
    """One place of a file."""
    path = case.wish.file_path or SKILL_FILE
    data = case.there.data(path)
    if data is None:
        raise no_file(case.there, path)
    like = document.read(data) if path == SKILL_FILE else None
    text = like.text if like else as_text(data)
    if text is None:
        raise StoreError(f"{path} is not text and cannot be patched", "invalid", "write it anew with write_file")
    wish = case.wish
    strict = case.cause.actor is not Actor.YOU
    found = match.replace(text, wish.old_string, wish.new_string, all=wish.replace_all, strict=strict)
    match found:
        case match.Replaced(new, how, _count):
            after = document.encode(new, like) if like else new.encode()
            return replace(of_files(case, {path: after}, f"patch {path}"), strategy=how)
        case match.Ambiguous(message, places):
            raise StoreError(
                f"{message}:\n" + "\n".join(places), "ambiguous", "give more of the lines around the place"
            )
        case match.AlreadyApplied(message):
            raise StoreError(message, "no_match", "nothing is left to do")
        case match.NoMatch(message, nearest):
            near = f"\nThe nearest place:\n{nearest}" if nearest else ""
            raise StoreError(message + near, "no_match", "view the file and copy the exact text")


def write_file(case: Case) -> Change:
    """A support file, new or whole anew; a script that names its interpreter can be run."""
    text = wanted(case.wish.file_content, "file_content", "write_file")
    path = wanted(case.wish.file_path, "file_path", "write_file")
    script = path.startswith("scripts/") and text.startswith("#!") and path not in case.there.files
    change = of_files(case, {path: text.encode()}, f"write {path}")
    edits = tuple(replace(edit, mode=EXECUTABLE) if script else edit for edit in change.edits)
    return replace(change, edits=edits)


def remove_file(case: Case) -> Change:
    """A support file less."""
    path = wanted(case.wish.file_path, "file_path", "remove_file")
    if path not in case.there.files:
        raise no_file(case.there, path)
    return of_files(case, {path: None}, f"remove {path}")


def delete(case: Case) -> Change:
    """The whole skill; review and curator put it into the archive, with the skill that took it in."""
    if case.cause.actor.automatic:
        return archive(case)
    skill = case.there
    edits = tuple(FileEdit(at(skill, path), found.blob, None) for path, found in skill.files.items())
    return about(case, edits, "delete")


def archive(case: Case) -> Change:
    """The skill goes where no index looks; it can come back."""
    skill = case.there
    known = replace(readable(skill), state="archived", absorbed_into=case.wish.absorbed_into or "")
    goal = f"{ARCHIVE}/{skill.folder}"
    return about(case, moved(skill, free(goal, case), known), f"to {goal}", (skill.folder,))


def restore(case: Case) -> Change:
    """Back from the archive, into its category."""
    skill = case.there
    goal = skill.folder.removeprefix(f"{ARCHIVE}/")
    if case.taken:
        raise StoreError(f"a skill lies in {goal} already", "exists", "rename or archive that one first")
    known = replace(readable(skill), state="active", absorbed_into="")
    return about(case, moved(skill, goal, known), f"to {goal}", (skill.folder, goal))


def rename(case: Case) -> Change:
    """Another name, another category, or both; the header follows."""
    skill, wish = case.there, case.wish
    goal = f"{wish.category or skill.category or DEFAULT_CATEGORY}/{wish.new_name or skill.name}"
    if case.taken or goal == skill.folder:
        raise StoreError(f"a skill lies in {goal} already", "exists", "choose another name")
    head = document.with_field(skill.data() or b"", "name", wish.new_name or skill.name)
    edits = moved(skill, goal, readable(skill), {SKILL_FILE: head})
    change = about(case, edits, f"from {skill.folder}", (skill.folder, goal))
    return replace(change, name=goal.rpartition("/")[2], category=goal.partition("/")[0])


def marking(subject: str, fact: Callable[[Sidecar, Wish], Sidecar]) -> Callable[[Case], Change]:
    """A planner that changes one fact in the sidecar."""

    def planner(case: Case) -> Change:
        skill = case.there
        known = readable(skill)
        after = fact(known, case.wish)
        if after == known:
            raise StoreError(f"{skill.name} is so already; nothing to change", "no_match")
        old = skill.files.get(SIDECAR)
        edit = FileEdit(at(skill, SIDECAR), None if old is None else old.blob, after.write())
        return replace(about(case, (edit,), subject), owner=after.owner)

    return planner


def consent(known: Sidecar, _wish: Wish) -> Sidecar:
    """Review and curator may change the skill."""
    if known.owner not in (Owner.YOU, Owner.AGENT):
        said = f"a skill that is {known.owner.value} follows its source and cannot be adopted"
        raise StoreError(said, "ownership", "copy it instead")
    return replace(known, owner=Owner.AGENT, adopted=True)


def of_files(case: Case, after: Mapping[str, bytes | None], subject: str) -> Change:
    """A change of some of a skill's files; one that changes nothing is refused."""
    skill = case.there
    edits = []
    for path, data in after.items():
        old = skill.files.get(path)
        before = None if old is None else old.blob
        if data is None or before != blob_hash(data):
            edits.append(FileEdit(at(skill, path), before, data))
    if not edits:
        raise StoreError("the file has that very content already; nothing to change", "no_match")
    return about(case, tuple(edits), subject)


def about(case: Case, edits: tuple[FileEdit, ...], subject: str, folders: tuple[str, ...] = ()) -> Change:
    """The change around some edits of a skill that exists."""
    skill = case.there
    action = "archive" if case.wish.action == "delete" and case.cause.actor.automatic else case.wish.action
    owner = skill.sidecar.owner
    return Change(skill.name, skill.category, action, edits, case.cause, owner, subject, folders or (skill.folder,))


def moved(skill: Skill, goal: str, known: Sidecar, other: Mapping[str, bytes] | None = None) -> tuple[FileEdit, ...]:
    """The edits that carry every file of a skill to another folder."""
    after = {path: found.data for path, found in skill.files.items()} | {SIDECAR: known.write()} | dict(other or {})
    modes = {path: found.mode for path, found in skill.files.items()}
    there = tuple(FileEdit(f"{goal}/{path}", None, data, modes.get(path)) for path, data in after.items())
    return (*there, *(FileEdit(at(skill, path), found.blob, None) for path, found in skill.files.items()))


def free(goal: str, case: Case) -> str:
    """The archive's place for a skill; an older one of the name keeps its own."""
    return f"{goal}~{case.now[:19].replace('-', '').replace(':', '')}" if case.taken else goal


def readable(skill: Skill) -> Sidecar:
    """The sidecar, which must not be written over while it cannot be read."""
    if skill.sidecar.damaged:
        hint = f"repair {skill.folder}/{SIDECAR}, or take it from git log"
        raise StoreError(f"{skill.folder}: {skill.sidecar.damaged}", "invalid", hint)
    return skill.sidecar


def at(skill: Skill, path: str) -> str:
    """A file's path below the root."""
    return f"{skill.folder}/{path}"


def wanted(value: str | None, field: str, action: str) -> str:
    """An argument that an action cannot do without."""
    if value is None or (field == "file_path" and not value):
        raise StoreError(f"{action} needs {field}", "invalid", f"call it again with {field}")
    return value


def no_file(skill: Skill, path: str) -> StoreError:
    """The file is not there; these are."""
    told = ", ".join(path for path in skill.files if path != SIDECAR)
    return StoreError(f"{skill.name} has no file {path!r}; it has: {told}", "not_found")


PLANNERS: dict[str, Callable[[Case], Change]] = {
    "create": create,
    "edit": edit,
    "patch": patch,
    "write_file": write_file,
    "remove_file": remove_file,
    "delete": delete,
    "archive": archive,
    "restore": restore,
    "rename": rename,
    "pin": marking("pin", lambda known, wish: replace(known, pin=wish.pin or "frozen")),
    "unpin": marking("unpin", lambda known, _wish: replace(known, pin="")),
    "adopt": marking("adopt", consent),
    "release": marking("release", lambda known, _wish: replace(known, owner=Owner.YOU, adopted=False)),
    "stale": marking("mark stale", lambda known, _wish: replace(known, state="stale")),
    "activate": marking("mark active", lambda known, _wish: replace(known, state="active")),
}
