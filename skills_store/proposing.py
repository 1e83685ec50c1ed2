"""From a wish to a judged proposal: finds the skill, plans, gathers the facts, asks the guards."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from skills_store import document
from skills_store.alike import nearest
from skills_store.change import Change, FileEdit, as_text, blob_hash, diff_of
from skills_store.entry import Entry
from skills_store.errors import StoreError
from skills_store.files import Files
from skills_store.guards import READ_FIRST, Facts, Likeness, Refusal, Stage, judge, wish_problem
from skills_store.names import ARCHIVE, DEFAULT_CATEGORY, SIDECAR, SKILL_FILE
from skills_store.overlay import Overlay
from skills_store.plan import Case, Wish, plan
from skills_store.reading import Reading
from skills_store.scan import Finding, scan
from skills_store.skill import Shelves, Skill
from skills_store.values import Actor, Cause, Owner
from skills_store.vault import Vault

Seen = Callable[[str], str | None]
MAX_DIFF = 20_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that the guards let through, at once or with the person's yes."""

    change: Change
    facts: Facts
    ask: str = ""
    """Why the person is asked; empty when nobody need be."""
    warnings: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        """What the change does to the texts, bounded."""
        before = rooted(self.facts.folder, self.facts.files)
        gone = {edit.before for edit in self.change.edits if edit.after is None}
        new = {blob_hash(edit.after) for edit in self.change.edits if edit.after is not None and edit.before is None}
        text = diff_of(
            (edit.path, before.get(edit.path), edit.after)
            for edit in self.change.edits
            if not (edit.after is None and edit.before in new) and not (edit.after and blob_hash(edit.after) in gone)
        )
        return text if len(text) <= MAX_DIFF else f"{text[:MAX_DIFF]}\n… cut; the whole: assistant skills diff COMMIT\n"


class Proposing:
    """Everything between a wish and the vault."""

    def __init__(self, vault: Vault, shelves: Shelves, reading: Reading) -> None:
        self.vault = vault
        self.shelves = shelves
        self.reading = reading
        self.settings = reading.settings

    def after(self, files: Files) -> "Proposing":
        """The same, over files as they would be."""
        return Proposing(self.vault, Shelves(files, self.reading.elsewhere), self.reading)

    def wished(self, wish: Wish, cause: Cause, seen: Seen) -> Proposal:
        """Plan a wish on today's files and judge it; StoreError when a guard says no."""
        if problem := wish_problem(wish, cause.actor):
            raise refused(problem)
        skill = self.shelves.find(wish.name, archived=wish.action == "restore")
        if skill is None and (place := self.reading.elsewhere(wish.name)):
            raise not_ours(wish, place)
        if skill is None and wish.action in READ_FIRST and (beside := self.with_waiting(wish.name)):
            proposal = beside.wished(wish, cause, seen)
            return replace(proposal, ask=proposal.ask or f"{wish.name} itself still waits for the person")
        change = plan(Case(wish, skill, cause, stamp(self.vault.clock()), self.taken(wish, skill)))
        facts = replace(self.facts(change, skill, seen), absorbed_into=wish.absorbed_into)
        return self.judged(change, facts)

    def judged(self, change: Change, facts: Facts, ask: bool = True) -> Proposal:
        """Ask the guards; with `ask` off the person has said yes already."""
        verdict = judge(change, facts)
        if isinstance(verdict, Refusal):
            raise refused(verdict)
        why = verdict.why if isinstance(verdict, Stage) and ask else ""
        return Proposal(change, facts, why, self.advice(change, facts))

    def advice(self, change: Change, facts: Facts) -> tuple[str, ...]:
        """What the guards would stop in an automatic writer, told to everybody else."""
        if change.cause.actor.automatic or change.action not in ("create", "edit", "patch", "write_file", "import"):
            return ()
        near = facts.alike() if change.action == "create" else ()
        return (*(f"like {item.name}: {item.why}" for item in near[:3]), *(str(item) for item in facts.findings()[:5]))

    def facts(self, change: Change, skill: Skill | None, seen: Seen = lambda _path: None) -> Facts:
        """What the guards may look at; costly facts are found when asked for."""
        files = {} if skill is None else {path: found.data for path, found in skill.files.items() if not found.link}
        folder = change.folders[0] if skill is None and change.folders else "" if skill is None else skill.folder
        facts = Facts(
            folder=folder,
            files=files,
            approval=self.settings.write_approval,
            prune_builtins=self.settings.prune_builtins,
            seen=seen,
            exists=lambda name: bool(self.shelves.folders(name)),
            turned_down=lambda: self.vault.inbox.turned_down(change, rooted(folder, files)),
            alike=lambda: self.alike(change),
            findings=lambda: findings(change, rooted(folder, files)) if self.settings.scan else (),
            your_lines=lambda: self.your_lines(change.edits),
        )
        return facts if skill is None else replace(facts, sidecar=skill.sidecar)

    def with_waiting(self, name: str) -> "Proposing | None":
        """The same, as if the new skill of this name that waits for the person were there; None when none does."""
        for item in self.vault.inbox.waiting():
            if item.commit.action == "create" and item.commit.name == name.rpartition("/")[2]:
                overlay = Overlay(self.vault.files)
                overlay.lay(Change(name, "", "create", self.vault.edits_again(item.commit.touched), Cause(Actor.YOU)))
                beside = self.after(overlay)
                return beside if beside.shelves.find(name) else None
        return None

    def alike(self, change: Change) -> Sequence[Likeness]:
        """Skills that a new one resembles, the closest first."""
        text = next((edit.after for edit in change.edits if edit.path.endswith(f"/{SKILL_FILE}") and edit.after), None)
        if text is None:
            return ()
        said = document.read(text)
        new = Entry(change.name, change.category, said.description, "")
        others = [entry for entry in self.reading.entries("files") if entry.name != change.name]
        found = nearest(new, said.body, others, self.reading.text)
        return [Likeness(item.entry.name, item.why, is_open(item.entry)) for item in found]

    def your_lines(self, edits: Sequence[FileEdit]) -> list[str]:
        """Lines last written by the person that the edits remove or alter."""
        found = []
        for edit in edits:
            kept = self.vault.files.read(edit.path)
            old = as_text(kept.data) if kept is not None else None
            if old is None or edit.path.endswith(SIDECAR):
                continue
            if lost := lost_lines(old, as_text(edit.after) or ""):
                blame = self.vault.history.blame(edit.path)
                found += [f"{edit.path}:{n}" for n in lost if n <= len(blame) and blame[n - 1].actor == Actor.YOU]
        return found

    def taken(self, wish: Wish, skill: Skill | None) -> bool:
        """Whether something lies where the wish wants to put the skill."""
        if skill is None:
            return False
        if wish.action in ("archive", "delete"):
            return self.shelves.files.exists(f"{ARCHIVE}/{skill.folder}")
        if wish.action == "restore":
            return bool(self.shelves.folders(skill.name))
        if wish.action == "rename":
            goal = f"{wish.category or skill.category or DEFAULT_CATEGORY}/{wish.new_name or skill.name}"
            others = self.shelves.folders(wish.new_name) if wish.new_name and wish.new_name != skill.name else []
            return self.shelves.files.exists(goal) or bool(others)
        return False


def rooted(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """A skill's files by their path below the root."""
    return {f"{folder}/{path}": data for path, data in files.items()}


def is_open(entry: Entry) -> bool:
    """Review and curator may change the skill."""
    return entry.owner == Owner.AGENT and entry.pin != "frozen" and not entry.external


def findings(change: Change, before: Mapping[str, bytes]) -> Sequence[Finding]:
    """What the scan finds in the new bytes and did not find in the old ones."""
    after = {e.path: e.after for e in change.edits if e.after is not None and not e.path.endswith(SIDECAR)}
    found = scan(after)
    if not found:
        return ()
    old = {path: before[path] for path in after if path in before}
    known = {(item.rule, item.file, line_of(old[item.file], item.line)) for item in scan(old)}
    return [item for item in found if (item.rule, item.file, line_of(after[item.file], item.line)) not in known]


def line_of(data: bytes, number: int) -> bytes:
    """A line of a file, by its number."""
    lines = data.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else b""


def lost_lines(old: str, new: str) -> list[int]:
    """The numbers of the lines of `old` that `new` lacks or has otherwise."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    kinds = ("replace", "delete")
    return [
        line + 1 for kind, start, end, _a, _b in matcher.get_opcodes() if kind in kinds for line in range(start, end)
    ]


def not_ours(wish: Wish, place: str) -> StoreError:
    """Why a skill of another folder is not written."""
    if wish.action == "create":
        return StoreError(f"the skill {wish.name!r} exists already, in {place}", "exists", "choose another name")
    hint = "copy what is worth keeping into a skill of your own name"
    return StoreError(f"{wish.name} lies in {place}, which is read-only here", "ownership", hint)


def refused(refusal: Refusal) -> StoreError:
    """A guard's no as the error that carries it out."""
    return StoreError(refusal.error, refusal.code, refusal.hint)


def stamp(when: datetime) -> str:
    """A time as the sidecar keeps it."""
    return when.replace(microsecond=0).isoformat()
