"""Explaining: who changed what, when and why; which words taught a line; what waits and what it would do."""

from skills_store.change import diff_of
from skills_store.errors import MergeConflictError, StoreError
from skills_store.history import patterns
from skills_store.names import ARCHIVE, SKILL_FILE
from skills_store.outcome import Pending, Taught
from skills_store.pending import Waiting
from skills_store.skill import Shelves, Skill, several
from skills_store.story import Commit
from skills_store.vault import Vault


class Explaining:
    """The past and the waiting, in the words of the domain."""

    def __init__(self, vault: Vault, shelves: Shelves) -> None:
        self.vault = vault
        self.shelves = shelves

    def log(self, name: str = "", limit: int = 100) -> tuple[Commit, ...]:
        """The newest changes, of everything or of one skill wherever it lay."""
        if not name:
            return self.vault.history.log((), limit)
        places = self.places(name)
        found = self.vault.history.log(places, limit)
        while found and (old := came_from(found[-1])) and old not in places and len(found) < limit:
            places.append(old)
            found = self.vault.history.log(places, limit)
        return found or self.vault.history.log(patterns(name.rpartition("/")[2]), limit)

    def places(self, name: str) -> list[str]:
        """Where a skill of this name is or could be; git finds whole folders much faster than patterns."""
        category, _, short = name.rpartition("/")
        files = self.vault.files
        known = [category] if category else sorted(files.folders("") | files.folders(ARCHIVE))
        inner = [f"{item}/{short}" for item in known] + [short]
        return [f":(literal){prefix}{place}" for place in inner for prefix in ("", f"{ARCHIVE}/")]

    def show_at(self, name: str, revision: str) -> str:
        """A skill's text as a commit has it."""
        commit = self.vault.history.one(revision).commit
        short = name.rpartition("/")[2]
        tree = self.vault.history.names(commit)
        found = [path for path in tree if path.endswith(f"/{short}/{SKILL_FILE}") or path == f"{short}/{SKILL_FILE}"]
        found = [path for path in found if "/" not in name or f"{name}/" in path] or found
        if not found:
            raise StoreError(
                f"commit {revision} has no skill {name!r}", "not_found", f"see: assistant skills log {name}"
            )
        there = [path for path in found if not path.startswith(f"{ARCHIVE}/")]
        if len(there) > 1:
            raise several(name, [path.removesuffix(f"/{SKILL_FILE}") for path in there])
        best = next(iter(there or found))
        return self.vault.history.show(commit, best).decode("utf-8", "replace")

    def why(self, name: str, line: int | None = None) -> tuple[Taught, ...]:
        """What taught each line of a skill, or one line."""
        skill = self.skill(name)
        blame = self.vault.history.blame(f"{skill.folder}/{SKILL_FILE}")
        if line is not None and not 1 <= line <= len(blame):
            raise StoreError(f"{name} has {len(blame)} lines, not {line}", "not_found", f"say 1 to {len(blame)}")
        lines = blame if line is None else (blame[line - 1],)
        wanted = list(dict.fromkeys(item.commit for item in lines if item.commit))
        told = {commit.commit: commit for commit in self.vault.history.read(wanted, diffs=False)}
        return tuple(taught(item.line, item.text, item.actor, told.get(item.commit)) for item in lines)

    def skill(self, name: str) -> Skill:
        """The skill of a name, in the index or in the archive."""
        found = self.shelves.find(name) or self.shelves.find(name, archived=True)
        if found is None:
            raise StoreError(f"there is no skill {name!r}", "not_found", "see: assistant skills list")
        return found

    def pending(self) -> tuple[Pending, ...]:
        """All that waits for the person, oldest first, with what it would do and whether it still can."""
        waiting = self.vault.inbox.waiting()
        hashes = [blob for item in waiting for one in item.commit.touched for blob in (one.before, one.after) if blob]
        blobs = self.vault.history.blobs(hashes)
        return tuple(self.as_pending(item, blobs) for item in waiting)

    def as_pending(self, item: Waiting, blobs: dict[str, bytes]) -> Pending:
        """One waiting change."""
        commit = item.commit
        versions = [(t.path, blobs.get(t.before or ""), blobs.get(t.after or "")) for t in commit.touched]
        return Pending(
            id=item.id,
            name=commit.name,
            action=commit.action,
            actor=commit.actor,
            why=commit.why,
            when=commit.when,
            conflict=self.in_conflict(commit),
            run=commit.run,
            session=commit.session,
            evidence=commit.evidence,
            diff=diff_of(versions),
        )

    def in_conflict(self, commit: Commit) -> bool:
        """Whether today's files rule the change out."""
        if all(self.blob(item.path) in (item.before, item.after) for item in commit.touched):
            return False
        try:
            self.vault.edits_again(commit.touched)
        except MergeConflictError:
            return True
        return False

    def blob(self, path: str) -> str | None:
        """The hash of a file as it is now."""
        found = self.vault.files.read(path)
        return None if found is None else found.blob


def came_from(commit: Commit) -> str:
    """The folder that a renamed skill lay in before; empty for other commits."""
    old = commit.subject.partition(": from ")[2]
    return f":(literal){old}" if commit.action == "rename" and old else ""


def taught(line: int, text: str, actor: str, commit: Commit | None) -> Taught:
    """A line with the story of its commit."""
    if commit is None:
        return Taught(line, text, "", None, actor)
    return Taught(line, text, commit.commit, commit.when, commit.actor, commit.session, commit.run, commit.evidence)
