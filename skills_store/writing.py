"""Carries proposals out: lands them, stages them, or says why not."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from skills_store import sidecar
from skills_store.change import Change, FileEdit, blob_hash
from skills_store.errors import MergeConflictError, StoreBrokenError, StoreBusyError, StoreError
from skills_store.guards import READ_FIRST
from skills_store.names import SIDECAR, SKILL_FILE
from skills_store.outcome import Applied, Outcome, Refused, Staged
from skills_store.overlay import Overlay
from skills_store.plan import Wish
from skills_store.proposing import Proposal, Proposing, Seen
from skills_store.reconcile import backwards
from skills_store.skill import Skill
from skills_store.story import Commit, change_from
from skills_store.usage import Usage
from skills_store.values import Cause, Owner
from skills_store.vault import Vault

DONE = {"create": "created", "archive": "archived", "delete": "deleted", "restore": "restored", "undo": "undone"}
Propose = Callable[[], Proposal]


class AskFirstError(StoreError):
    """Raised under the lock when today's files turn a change into one that the person must be asked about."""

    def __init__(self, proposal: Proposal) -> None:
        super().__init__(proposal.ask, "conflict")
        self.proposal = proposal


class Writing:
    """The way from a proposal to files and history."""

    def __init__(self, vault: Vault, proposing: Proposing, usage: Usage | None) -> None:
        self.vault = vault
        self.proposing = proposing
        self.usage = usage

    def manage(self, wish: Wish, cause: Cause, seen: Seen) -> Outcome:
        """One wish, from whoever has it."""
        return self.carry_out(lambda: self.proposing.wished(wish, cause, seen))

    def carry_out(self, propose: Propose) -> Outcome:
        """Land or stage what is proposed; a fault of the disk or of git is raised, everything else answered."""
        try:
            return self.decide(propose)
        except (StoreBrokenError, StoreBusyError):
            raise
        except StoreError as problem:
            shown = problem.shown if isinstance(problem, MergeConflictError) else ""
            return Refused(problem.code, problem.message, problem.hint, shown)

    def decide(self, propose: Propose) -> Outcome:
        """Propose without the lock; once more under it when the branch or a file moved on."""
        head = self.vault.head()
        newest = [propose()]

        def again() -> tuple[Change, ...]:
            newest.append(propose())
            if newest[-1].ask:
                raise AskFirstError(newest[-1])
            return (newest[-1].change,)

        if newest[0].ask:
            return self.staged(newest[0])
        try:
            (commit,) = self.vault.apply([newest[0].change], again, head)
        except AskFirstError as waiting:
            return self.staged(waiting.proposal)
        return self.applied(newest[-1], commit)

    def staged(self, proposal: Proposal) -> Staged:
        """Keep the proposal for the person."""
        change = proposal.change
        number = self.vault.stage(change)
        told = f"not saved yet: {proposal.ask}; the person decides in the inbox (assistant inbox show {number})"
        return Staged(number, change.name, change.action, told)

    def applied(self, proposal: Proposal, commit: Commit) -> Applied:
        """What to tell of a change that landed."""
        change = proposal.change
        self.count(change, proposal)
        kept = (edit.path.rpartition("/") for edit in change.edits if edit.after is not None)
        folder = next((above for above, _, name in kept if name in (SKILL_FILE, SIDECAR)), proposal.facts.folder)
        strategy = f" (matched by {change.strategy})" if change.strategy not in ("", "exact") else ""
        return Applied(
            name=change.name,
            action=change.action,
            path=folder,
            skill_md=str(self.vault.root / folder / SKILL_FILE),
            commit=commit.commit,
            message=f"{change.name}: {DONE.get(change.action, change.subject)}{strategy}",
            strategy=change.strategy,
            diff=proposal.diff,
            warnings=(*proposal.warnings, *commit.warnings),
            hashes={edit.path: blob_hash(edit.after) for edit in change.edits if edit.after is not None},
        )

    def count(self, change: Change, proposal: Proposal) -> None:
        """Tell the usage table."""
        if self.usage is None:
            return
        if change.action in READ_FIRST:
            self.usage.patched(change.name)
        elif change.action in ("delete", "create"):
            self.usage.forget(change.name)
        elif change.action == "rename":
            self.usage.renamed(proposal.facts.folder.rpartition("/")[2], change.name)

    # Undoing

    def undo(self, revision: str, cause: Cause) -> Outcome:
        """Take one commit back and keep what came later."""
        return self.carry_out(lambda: self.undoing(revision, cause))

    def undoing(self, revision: str, cause: Cause) -> Proposal:
        """The opposite of a commit, on today's files."""
        commit = self.vault.history.one(revision)
        edits = self.vault.edits_again(backwards(commit.touched))
        if not edits:
            raise StoreError(f"nothing of {revision} is left to undo", "no_match")
        change = self.change_like(commit, edits, cause)
        change = replace(change, action="undo", subject=f"{commit.commit[:10]} {commit.subject}")
        folder = change.folders[0] if change.folders else ""
        skill = self.proposing.shelves.load(folder) if folder else None
        change = without_orphan(change, skill)
        return self.proposing.judged(change, self.proposing.facts(change, skill))

    def change_like(self, commit: Commit, edits: tuple[FileEdit, ...], cause: Cause) -> Change:
        """A change of the skill that a commit was about."""
        category, _, _name = commit.trailers.get("Skill", "").rpartition("/")
        folders = tuple(dict.fromkeys(top for edit in edits if (top := skill_folder(edit.path))))
        owner = Owner(commit.owner) if commit.owner in set(Owner) else Owner.YOU
        return Change(commit.name or "files", category, commit.action, edits, cause, owner, "", folders)

    # Answering what waits

    def approve(self, number: str, cause: Cause) -> Outcome:
        """Land a waiting change on today's files, as the one who proposed it."""
        return self.carry_out(lambda: self.approving(number, cause))

    def approving(self, number: str, cause: Cause) -> Proposal:
        """The waiting change on today's files, judged again; the person has said yes to what only needed that."""
        commit = self.vault.inbox.one(number).commit
        edits = self.vault.edits_again(commit.touched)
        if not edits:
            raise StoreError(f"{number} changes nothing any more: the files read so already", "no_match", "reject it")
        change = self.change_like(commit, edits, change_from(commit))
        extra = (("Pending", number), ("Approved-By", cause.actor.value))
        change = replace(change, subject=commit.subject.partition(": ")[2], extra=extra)
        self.must_have_its_place(change)
        hashes = {edit.path: edit.before for edit in edits}
        skill = self.proposing.shelves.load(change.folders[0]) if change.folders else None
        facts = replace(self.proposing.facts(change, skill, hashes.get), turned_down=lambda: "")
        absorbed = facts.sidecar.absorbed_into or absorbed_into(change)
        return self.proposing.judged(change, replace(facts, absorbed_into=absorbed or None), ask=False)

    def must_have_its_place(self, change: Change) -> None:
        """A waiting new skill cannot land under a name that was taken meanwhile, nor a file before its skill."""
        if change.action == "create" and (found := self.proposing.shelves.folders(change.name)):
            raise StoreError(f"a skill {change.name!r} exists meanwhile, in {found[0]}", "conflict", "reject this one")
        alone = change.action in READ_FIRST and not self.vault.files.exists(f"{change.folders[0]}/{SKILL_FILE}")
        if alone:
            raise StoreError(f"there is no skill {change.name!r} yet", "conflict", "approve the new skill first")

    def run_all(self, steps: Sequence[tuple[Wish, Cause]], seen: Seen) -> tuple[Outcome, ...]:
        """Many wishes as one transaction of as many commits; each sees what those before it did."""
        results: list[Proposal | Refused] = []
        head = self.vault.head()

        def propose() -> tuple[Change, ...]:
            overlay = Overlay(self.vault.files)
            results[:] = [self.one_of_many(wish, cause, seen, overlay) for wish, cause in steps]
            return tuple(item.change for item in results if isinstance(item, Proposal) and not item.ask)

        changes = propose()
        commits = iter(self.vault.apply(changes, propose, head) if changes else ())
        return tuple(
            item if isinstance(item, Refused) else self.staged(item) if item.ask else self.applied(item, next(commits))
            for item in results
        )

    def one_of_many(self, wish: Wish, cause: Cause, seen: Seen, overlay: Overlay) -> Proposal | Refused:
        """One step of a transaction, after those before it."""
        try:
            proposal = self.proposing.after(overlay).wished(wish, cause, seen)
        except (StoreBrokenError, StoreBusyError):
            raise
        except StoreError as problem:
            return Refused(problem.code, problem.message, problem.hint)
        if not proposal.ask:
            overlay.lay(proposal.change)
        return proposal


def skill_folder(path: str) -> str:
    """The folder of the skill that a path lies in; empty for other files."""
    parts = path.split("/")
    depth = 3 if parts[0] == ".archive" else 2
    return "/".join(parts[:depth]) if len(parts) > depth else "/".join(parts[:-1])


def without_orphan(change: Change, skill: Skill | None) -> Change:
    """When SKILL.md goes, the sidecar does not stay behind alone."""
    if skill is None or SIDECAR not in skill.files:
        return change
    gone = {edit.path for edit in change.edits if edit.after is None}
    side = f"{skill.folder}/{SIDECAR}"
    if f"{skill.folder}/{SKILL_FILE}" not in gone or side in change.paths:
        return change
    return replace(change, edits=(*change.edits, FileEdit(side, skill.files[SIDECAR].blob, None)))


def absorbed_into(change: Change) -> str:
    """The skill that an archived one went into, as its new sidecar says."""
    written = (edit.after for edit in change.edits if edit.path.endswith(SIDECAR) and edit.after is not None)
    return next((sidecar.read(data).absorbed_into for data in written), "")
