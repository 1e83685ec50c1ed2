"""May this change be made?  An ordered table of pure functions; each answers with a sentence or not at all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from skills_store import document, validate
from skills_store.change import Change
from skills_store.names import SIDECAR, SKILL_FILE, category_problem, file_path_problem, name_problem
from skills_store.plan import Wish
from skills_store.problems import Problem, introduced
from skills_store.scan import Finding
from skills_store.sidecar import PINS, Sidecar
from skills_store.values import Actor, Origin, Owner

READ_FIRST = {"edit", "patch", "write_file", "remove_file"}
WRITES_TEXT = {"create", "edit", "patch", "write_file", "import", "undo", "rename"}
YOURS_ONLY = {"pin", "unpin", "adopt", "release", "rename"}
PAST = {"delete": "deleted", "archive": "archived"}
TAKES_AWAY = PAST.keys()
UPKEEP = {"archive", "stale", "activate"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """No, and why; `code` is one of the contract's."""

    code: str
    error: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """Only with the person's yes."""

    why: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """A skill that the new one resembles."""

    name: str
    why: str
    open: bool = True
    """Review and curator may extend it."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What guards may look at besides the change.  The costly ones are asked for only by the guards that need them."""

    folder: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The skill's files before, by path below its folder."""
    sidecar: Sidecar = field(default_factory=Sidecar)
    absorbed_into: str | None = None
    approval: str = "false"
    prune_builtins: bool = False
    seen: Callable[[str], str | None] = lambda _path: None
    exists: Callable[[str], bool] = lambda _name: True
    turned_down: Callable[[], str] = lambda: ""
    alike: Callable[[], Sequence[Likeness]] = lambda: ()
    findings: Callable[[], Sequence[Finding]] = lambda: ()
    your_lines: Callable[[], Sequence[str]] = lambda: ()


Verdict = Refusal | Stage | None
Guard = Callable[[Change, Facts], Verdict]


def wish_problem(wish: Wish, actor: Actor) -> Refusal | None:
    """Names and paths of a wish, before anything is looked up with them; and what nobody but the person may wish."""
    if wish.action in YOURS_ONLY and actor is not Actor.YOU:
        return Refusal("ownership", f"only the person may {wish.action} a skill")
    category, _, name = wish.name.rpartition("/")
    problem = name_problem(name) or category_problem(category) or category_problem(wish.category)
    if not problem and wish.new_name:
        problem = name_problem(wish.new_name)
    if not problem and wish.file_path and wish.action in ("write_file", "remove_file", "patch"):
        problem = None if wish.action == "patch" and wish.file_path == SKILL_FILE else file_path_problem(wish.file_path)
    if not problem and wish.pin not in PINS:
        problem = f"{wish.pin!r} is no kind of pin; use frozen or keep"
    return Refusal("invalid", problem) if problem else None


def places(change: Change, facts: Facts) -> Verdict:
    """Every file lies inside the skill, and none of ours is written as a support file."""
    for path in change.paths:
        inner = path.removeprefix(f"{facts.folder}/") if facts.folder else path.split("/", 2)[-1]
        if change.action in READ_FIRST and inner not in (SKILL_FILE, SIDECAR) and (why := file_path_problem(inner)):
            return Refusal("invalid", why)
    return None


def ownership(change: Change, facts: Facts) -> Verdict:
    """Automatic writers change what they own; pins and the person's own switches are the person's."""
    actor, known = change.cause.actor, facts.sidecar
    if known.pin and (change.action in TAKES_AWAY or (actor.automatic and known.pin == "frozen")):
        return Refusal(
            "pinned",
            f"{change.name} is pinned ({known.pin}): it may not be {PAST.get(change.action, 'changed by itself')}",
            f"the person can take the pin off: assistant skills unpin {change.name}",
        )
    if not actor.automatic or change.action == "create":
        return None
    if known.damaged:
        return Refusal("ownership", f"whose {change.name} is cannot be told: {known.damaged}", "leave it alone")
    upkeep = facts.prune_builtins and known.owner is Owner.BUNDLED and change.action in UPKEEP
    if known.owner is not Owner.AGENT and not upkeep:
        return Refusal(
            "ownership",
            f"{change.name} belongs to {'the person' if known.owner is Owner.YOU else known.owner.value}; "
            f"{actor.value} may not change it, now or when asked again",
            f"write into a skill of your own instead; the person can allow it: assistant skills adopt {change.name}",
        )
    return None


def absorbed(change: Change, facts: Facts) -> Verdict:
    """A review or a merge takes a skill away only when another one holds its content now."""
    into = facts.absorbed_into
    if into and into.rpartition("/")[2] == change.name:
        return Refusal("invalid", f"{change.name} cannot be absorbed into itself", "name the skill that took it in")
    if into and not facts.exists(into):
        return Refusal("not_found", f"absorbed_into names {into!r}, and there is no such skill", "create it first")
    if change.action == "archive" and change.cause.actor is Actor.REVIEW and not into:
        return Refusal("invalid", "a review deletes a skill only when another took it in", "name it in absorbed_into")
    return None


def evidence(change: Change, _facts: Facts) -> Verdict:
    """What a review writes rests on words of the session; what the curator does, on a stated reason."""
    cause = change.cause
    if cause.actor is Actor.REVIEW and not cause.evidence:
        return Refusal("no_evidence", "no quote of the conversation supports this", "give at least one in evidence")
    if cause.actor is Actor.CURATOR and not (cause.why or cause.evidence):
        return Refusal("no_evidence", "the curator gave no reason for this change", "say why")
    return None


def read_before_write(change: Change, facts: Facts) -> Verdict:
    """Automatic writers have seen the very bytes that they replace."""
    taken_in = change.action == "archive" and change.cause.actor is Actor.REVIEW
    if not change.cause.actor.automatic or not (change.action in READ_FIRST or taken_in):
        return None
    for edit in change.edits:
        name = edit.path.rpartition("/")[2]
        if edit.before is None or name == SIDECAR or (taken_in and name != SKILL_FILE):
            continue
        seen = facts.seen(edit.path)
        if seen is None:
            return Refusal("not_read", f"{edit.path} was not viewed in this run", "view it with skill_view, then retry")
        if seen != edit.before:
            return Refusal(
                "changed_since_read", f"{edit.path} changed since it was viewed", "view it again, then retry"
            )
    return None


def form(change: Change, facts: Facts) -> Verdict:
    """The skill is readable afterwards, with nothing wrong that was not wrong before."""
    if change.action not in WRITES_TEXT:
        return None
    after = files_after(change, facts)
    errors = introduced(problems_of(facts.files, change, False), problems_of(after, change, change.action == "create"))
    told = [f"{p.file} line {p.line}: {p.message}" for p in errors]
    return Refusal("invalid", "; ".join(told), "correct that and try again; nothing was written") if told else None


def problems_of(files: Mapping[str, bytes], change: Change, new: bool) -> tuple[Problem, ...]:
    """What is wrong with a skill of these files."""
    if SKILL_FILE not in files:
        return ()
    others = {path: data for path, data in files.items() if path not in (SKILL_FILE, SIDECAR)}
    return validate.problems(document.read(files[SKILL_FILE]), change.name, change.category, others, new)


def files_after(change: Change, facts: Facts) -> dict[str, bytes]:
    """The skill's files as the change leaves them, by path below its folder."""
    files, here = dict(facts.files), f"{facts.folder}/"
    for edit in change.edits:
        inside = edit.path.startswith(here)
        inner = edit.path.removeprefix(here) if inside else edit.path.split("/", 2)[-1]
        if edit.after is not None:
            files[inner] = edit.after
        elif inside and change.action != "rename":
            files.pop(inner, None)
    return files


def answered(change: Change, facts: Facts) -> Verdict:
    """What the person turned down is not asked again."""
    if change.cause.actor is Actor.YOU or not (reason := facts.turned_down()):
        return None
    return Refusal("conflict", f"the person turned this very proposal down: {reason}", "do not propose it again")


def duplicates(change: Change, facts: Facts) -> Verdict:
    """A review extends what there is before it makes something new of the same kind; what it may not, it asks about."""
    if change.action != "create" or not change.cause.actor.automatic or not (near := facts.alike()):
        return None
    told = "; ".join(f"{item.name} ({item.why})" for item in near[:3])
    goal = next((item.name for item in near if item.open), "")
    if not goal:
        return Stage(f"it is like a skill that {change.cause.actor.value} may not change: {told}")
    return Refusal("duplicate", f"there is a skill like this already: {told}", f"view {goal} and extend it instead")


def scanned(change: Change, facts: Facts) -> Verdict:
    """Nothing dangerous is written unasked."""
    if change.action not in WRITES_TEXT or not change.cause.actor.automatic:
        return None
    bad = [str(item) for item in facts.findings() if item.severity == "block"]
    hint = "leave that out; secrets and commands like these are not kept in skills"
    return Refusal("scan", "; ".join(bad[:5]), hint) if bad else None


def your_lines(change: Change, facts: Facts) -> Verdict:
    """A line that the person wrote last stays until the person says otherwise."""
    if change.action in UPKEEP or not change.cause.actor.automatic or not (lines := facts.your_lines()):
        return None
    return Stage(f"it changes {len(lines)} line(s) that you wrote: {lines[0]}")


def believed(change: Change, _facts: Facts) -> Verdict:
    """A lesson from untrusted text waits for the person."""
    untrusted = change.cause.actor is not Actor.YOU and change.cause.origin is Origin.UNTRUSTED
    return Stage("it rests on text from an untrusted source") if untrusted else None


def approval(change: Change, facts: Facts) -> Verdict:
    """The person wants to be asked."""
    actor = change.cause.actor
    asked = {"all": actor not in (Actor.YOU, Actor.SEED), "learning": actor.automatic}
    return Stage(f"skills.write_approval is {facts.approval}") if asked.get(facts.approval) else None


GUARDS: tuple[Guard, ...] = (
    places,
    ownership,
    absorbed,
    evidence,
    read_before_write,
    form,
    answered,
    duplicates,
    scanned,
    your_lines,
    believed,
    approval,
)


def judge(change: Change, facts: Facts, guards: Sequence[Guard] = GUARDS) -> Verdict:
    """The first refusal, else the first wish to ask the person, else nothing."""
    staged: Stage | None = None
    for guard in guards:
        match guard(change, facts):
            case Refusal() as refusal:
                return refusal
            case Stage() as stage:
                staged = staged or stage
    return staged
