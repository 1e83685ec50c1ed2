"""What waits for the person: changes as commits under refs/pending/, and the memory of what was turned down."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from skills_store import refs
from skills_store.change import Change, fingerprint
from skills_store.errors import StoreError
from skills_store.history import History
from skills_store.story import Commit, one_line, person_of
from skills_store.stream import Draft, build, draft_of
from skills_store.values import Cause

PENDING = "refs/pending/"
MAX_TRIES = 1000
REJECTED = "refs/rejected/"
GitCall = Callable[..., bytes]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A change that waits."""

    id: str
    commit: Commit


class Inbox:
    """The waiting changes of one vault; the caller holds the lock for everything that writes."""

    def __init__(self, git: GitCall, history: History, root: Path, ids: Callable[[], str]) -> None:
        self.git = git
        self.history = history
        self.git_dir = root / ".git"
        self.ids = ids

    def stage(self, change: Change, before: Mapping[str, bytes], parent: str, when: datetime) -> str:
        """Keep a change of files that were so `before`; the same one again gets the id that it has already."""
        mark = fingerprint(change, before)
        if known := next((item.id for item in self.waiting() if item.commit.trailers.get("Proposal") == mark), ""):
            return known
        new = (refs.checked_id(self.ids()) for _ in range(MAX_TRIES))
        number = next(each for each in new if not refs.read_ref(self.git_dir, PENDING + each))
        draft = draft_of(replace(change, extra=(*change.extra, ("Proposal", mark))))
        self.git("fast-import", "--quiet", stdin=build([draft], parent, when, PENDING + number))
        return number

    def waiting(self) -> tuple[Waiting, ...]:
        """All that waits, oldest first."""
        found = self.refs_below(PENDING)
        commits = self.history.read(list(found.values()))
        told = [Waiting(name, commit) for name, commit in zip(found, commits, strict=True)]
        return tuple(sorted(told, key=lambda item: (item.commit.when, item.id)))

    def one(self, number: str) -> Waiting:
        """The waiting change with this id."""
        sha = refs.read_ref(self.git_dir, PENDING + refs.checked_id(number))
        if not sha:
            raise StoreError(
                f"nothing waits under the id {number}", "not_found", "list what waits: assistant inbox list"
            )
        return Waiting(number, self.history.read([sha])[0])

    def reject(self, number: str, reason: str, cause: Cause, when: datetime) -> None:
        """Turn a change down; what it proposed is remembered by its fingerprint, with the reason."""
        waiting = self.one(number)
        mark = waiting.commit.trailers.get("Proposal", "")
        words = one_line(reason) or "no reason given"
        story = f"Actor: {cause.actor.value}\nPending: {number}\nReason: {words}\n"
        if refs.SHA.match(mark):
            draft = Draft(f"reject({waiting.commit.name}): {words}\n\n{story}", person_of(cause.actor.value), ())
            stream = build([draft], waiting.commit.commit, when, REJECTED + mark)
            self.git("fast-import", "--quiet", "--force", stdin=stream)
        self.git("update-ref", "-d", PENDING + number, waiting.commit.commit)

    def turned_down(self, change: Change, before: Mapping[str, bytes]) -> str:
        """Why the person turned this very proposal down; empty when they did not.  Seldom starts a process."""
        sha = refs.read_ref(self.git_dir, REJECTED + fingerprint(change, before))
        return self.history.read([sha], diffs=False)[0].trailers.get("Reason", "no reason given") if sha else ""

    def refs_below(self, prefix: str) -> dict[str, str]:
        """Name and commit of every ref below a prefix; starts no process."""
        loose = self.git_dir / prefix
        names = {item.name for item in loose.iterdir()} if loose.is_dir() else set()
        names |= {name.removeprefix(prefix) for name in refs.packed(self.git_dir) if name.startswith(prefix)}
        found = {name: refs.read_ref(self.git_dir, prefix + name) for name in sorted(names) if refs.ID.match(name)}
        return {name: sha for name, sha in found.items() if sha}
