"""How commits become files and the branch moves: four steps, each of which a later process can finish."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from skills_store import refs
from skills_store.change import Change, FileEdit, blob_hash
from skills_store.errors import StoreBusyError, StoreError
from skills_store.files import MANY, Files, OnDisk, Step, flush, flushed_together, mode_of
from skills_store.history import History
from skills_store.story import HAND, NOTHING, Commit, Touched, commit_of
from skills_store.stream import APPLYING, Draft, Entry, build, by_hand, draft_of
from skills_store.values import Actor

OWED = "assistant-owed.json"
GitCall = Callable[..., bytes]


class Landing:
    """Applies under the lock that its caller holds."""

    def __init__(
        self,
        git: GitCall,
        files: Files,
        history: History,
        clock: Callable[[], datetime],
        told: Callable[[str], None],
    ) -> None:
        self.git = git
        self.files = files
        self.history = history
        self.clock = clock
        self.git_dir: Path = files.root / ".git"
        self.told = told

    def head(self) -> str:
        """The newest commit of the branch."""
        return refs.head(self.git_dir)

    def land(self, outside: Mapping[str, OnDisk | None], changes: Sequence[Change], actor: Actor) -> tuple[Commit, ...]:
        """Commit hand edits and changes, write the files, move the branch; the commits of the changes."""
        hand = by_hand(outside, actor)
        drafts = [*hand, *(draft_of(change) for change in changes)]
        if not drafts:
            return ()
        self.no_locks()
        old, when = self.head(), self.clock()
        goals = goals_of(changes)
        self.owe([*outside, *(goal.path for goal in goals)])
        try:
            commits = self.write_commits(drafts, old, when)
            self.publish(goals, self.prepare(goals))
        except (OSError, StoreError):
            self.drop()
            raise
        commits = self.settle(commits, old, index_entries(outside, goals), dropped(changes))
        warnings = self.index_warning()
        told = [
            commit_of(sha, draft.message, draft.author, when, touched_by(change))
            for sha, draft, change in zip(commits[len(hand) :], drafts[len(hand) :], changes, strict=False)
        ]
        return tuple(replace(commit, warnings=warnings) for commit in told)

    def write_commits(self, drafts: Sequence[Draft], parent: str, when: datetime) -> list[str]:
        """All commits with one process, under `applying`."""
        output = self.git("fast-import", "--quiet", "--force", stdin=build(drafts, parent, when))
        self.told("committed")
        return output.decode().split()

    def prepare(self, goals: Iterable[FileEdit]) -> dict[str, Step]:
        """Write every new file beside its target, so that a full disk is met before anything is visible."""
        steps: dict[str, Step] = {}
        goals = [goal for goal in goals if goal.after is not None]
        one_by_one = len(goals) <= MANY
        try:
            for goal in goals:
                steps[goal.path] = self.files.prepare(goal.path, goal.after or b"", goal.mode, one_by_one)
                self.told("prepared")
            if not one_by_one and not flushed_together(len(goals)):
                for step in steps.values():
                    flush(step)
        except (OSError, StoreError):
            for step in steps.values():
                self.files.discard(step)
            raise
        return steps

    def publish(self, goals: Sequence[FileEdit], steps: Mapping[str, Step]) -> None:
        """Put the files in place one by one; when one cannot be, take back those before it."""
        done: list[tuple[str, OnDisk | None]] = []
        try:
            for goal in goals:
                step = steps.get(goal.path)
                done.append((goal.path, step.before if step else self.files.read(goal.path)))
                if step:
                    self.files.publish(step)
                else:
                    self.files.remove(goal.path)
                self.told("published")
            self.files.settle(goal.path for goal in goals)
        except (OSError, StoreError):
            self.take_back(done)
            for step in steps.values():
                self.files.discard(step)
            raise

    def take_back(self, done: Sequence[tuple[str, OnDisk | None]]) -> None:
        """Give files back what they were a moment ago."""
        for path, before in reversed(done):
            if self.files.read(path) == before:
                continue
            if before is None:
                self.files.remove(path)
            else:
                self.files.publish(self.files.prepare(path, before.data, before.mode))

    def settle(
        self, commits: list[str], old: str, entries: Sequence[tuple[str, str, str]], drop: Sequence[str]
    ) -> list[str]:
        """Refresh the index, then move the branch and drop `applying` in one transaction.

        The index goes first: a plain `git commit` after a death in between then takes our change along; the other way
        round it would revert it.
        """
        known = (self.git_dir / "index").exists()
        fresh = known and self.refresh(entries)
        branch = refs.branch(self.git_dir)
        orders = [f"update {branch} {commits[-1]} {old or NOTHING}", f"delete {APPLYING} {commits[-1]}"]
        orders += [f"delete {name} {sha}" for name in drop if (sha := refs.read_ref(self.git_dir, name))]
        try:
            self.git("update-ref", "--stdin", stdin="\n".join(["start", *orders, "prepare", "commit", ""]).encode())
        except StoreError:
            if self.head() == old:
                raise
            return self.finish()
        self.told("moved")
        if fresh or (not known and self.refresh(entries)):
            self.clear()
        return commits

    # The person's index

    def refresh(self, entries: Sequence[tuple[str, str, str]]) -> bool:
        """Make the index say this of our paths; False when it is locked, and the debt stays written down."""
        if not (self.git_dir / "index").exists():
            self.git("read-tree", "HEAD")
        elif (self.git_dir / "index.lock").exists():
            return False
        else:
            lines = [f"{mode} {blob}\t{path}\0" for path, mode, blob in entries]
            self.git("update-index", "-z", "--index-info", stdin="".join(lines).encode("utf-8", "surrogateescape"))
        self.told("indexed")
        return True

    def clear(self) -> None:
        """Nothing is owed any more."""
        (self.git_dir / OWED).unlink(missing_ok=True)
        self.told("cleared")

    def index_warning(self) -> tuple[str, ...]:
        """What to tell when the index could not be refreshed."""
        if not (self.git_dir / OWED).exists():
            return ()
        lock = self.git_dir / "index.lock"
        return (f"saved, but git's index is locked: if no git program is at work there, delete {lock}",)

    def no_locks(self) -> None:
        """Refuse before anything is written when a lock would stop the branch from moving."""
        for name in (f"{refs.branch(self.git_dir)}.lock", "packed-refs.lock"):
            if (self.git_dir / name).exists():
                raise StoreBusyError(
                    f"{self.git_dir / name} exists: another git program is at work there, or one died",
                    "if none is at work, delete that file and try again; nothing was written",
                )
        (self.git_dir / f"{APPLYING}.lock").unlink(missing_ok=True)

    # What is owed after a crash

    def owe(self, paths: Iterable[str], follows: str | None = None) -> None:
        """Write down which paths are in work; `follows`: the branch, when the commits to come were made elsewhere."""
        text = json.dumps({"paths": sorted(set(paths)), "follows": follows})
        draft = self.git_dir / f"{OWED}.new"
        draft.write_text(text, encoding="utf-8", errors="surrogateescape")
        draft.replace(self.git_dir / OWED)
        self.told("owed")

    def owed(self) -> list[str] | None:
        """The paths in work; None when nothing is owed."""
        return self.noted()[0]

    def noted(self) -> tuple[list[str] | None, str | None]:
        """The paths in work, and what the branch was if the commits to come were made elsewhere."""
        try:
            told = json.loads((self.git_dir / OWED).read_text(encoding="utf-8", errors="surrogateescape"))
            return [str(path) for path in told["paths"]], told.get("follows")
        except FileNotFoundError:
            return None, None
        except (ValueError, KeyError, TypeError):
            return [], None

    def drop(self) -> None:
        """Give up what was not yet visible to anybody."""
        if refs.read_ref(self.git_dir, APPLYING):
            self.git("update-ref", "-d", APPLYING)
        (self.git_dir / OWED).unlink(missing_ok=True)

    def follow(self, tip: str) -> None:
        """Make files and branch what a commit says that was made elsewhere, after the branch's newest."""
        old = self.head()
        self.no_locks()
        self.owe([item.path for item in self.history.between(old, tip)], old)
        self.git("update-ref", APPLYING, tip)
        self.told("committed")
        self.finish()

    def finish(self) -> list[str]:
        """Carry out what `applying` promises, path by path; the commits that the branch gained."""
        tip = refs.read_ref(self.git_dir, APPLYING)
        owed, follows = self.noted()
        if not tip and owed is None:
            return []
        self.files.sweep()
        old = self.head()
        chain = self.history.chain(old, tip) if tip else []
        if not chain:
            return self.forget(tip, owed or [])
        self.no_locks()
        if follows is None and chain[0].parent != old:
            chain = self.replay(chain, old)
        elif follows not in (None, old):
            self.drop()
            return []
        commits, touched = self.complete(chain, old if follows is not None else beyond_hand(chain, old))
        pending = [f"refs/pending/{link.trailers['Pending']}" for link in chain if "Pending" in link.trailers]
        paths = sorted({*(owed or []), *touched})
        return self.settle(commits, old, self.as_committed(commits[-1], paths), pending)

    def forget(self, tip: str, paths: Sequence[str]) -> list[str]:
        """The branch has it all already: only the index and the marks are left to tidy."""
        if tip:
            self.git("update-ref", "-d", APPLYING, tip)
        if not self.head() or self.refresh(self.as_committed(self.head(), paths)):
            self.clear()
        return []

    def as_committed(self, commit: str, paths: Sequence[str]) -> list[tuple[str, str, str]]:
        """What the index must say of some paths."""
        tree = self.history.tree(commit, paths)
        return [(path, *tree.get(path, ("0", NOTHING))) for path in paths]

    def complete(self, chain: Sequence[Commit], start: str) -> tuple[list[str], list[str]]:
        """Write what is not yet written; a file that is neither old nor new is a hand edit and gets its own commit."""
        tip = chain[-1].commit
        touched = self.history.between(start, tip)
        blobs = self.history.blobs([item.after for item in touched if item.after])
        goals, kept = [], {}
        for item in touched:
            now = self.files.read(item.path)
            blob = None if now is None else now.blob
            if blob == item.before:
                goals.append(FileEdit(item.path, blob, blobs.get(item.after or ""), mode_of(item.mode)))
            elif blob != item.after:
                kept[item.path] = now
        self.publish(goals, self.prepare(goals))
        commits = [link.commit for link in chain]
        if kept:
            commits += self.write_commits(by_hand(kept, Actor.YOU), tip, self.clock())
        return commits, [item.path for item in touched]

    def replay(self, chain: Sequence[Commit], onto: str) -> list[Commit]:
        """The person's git moved the branch meanwhile: our commits go on top, where the files are the old ones."""
        paths = [item.path for link in chain for item in link.touched]
        now: dict[str, str | None] = {path: blob for path, (_mode, blob) in self.history.tree(onto, paths).items()}
        drafts = []
        for link in chain:
            fits = [item for item in link.touched if now.get(item.path) == item.before]
            now |= {item.path: item.after for item in fits}
            entries = tuple(Entry(item.path, None, item.mode, item.after or "") for item in fits)
            drafts.append(Draft(link.text, link.author, entries))
        self.write_commits(drafts, onto, self.clock())
        return self.history.chain(onto, refs.read_ref(self.git_dir, APPLYING))


def beyond_hand(chain: Sequence[Commit], old: str) -> str:
    """Where our own changes begin: what was edited by hand lies in the folder already."""
    hand = [link.commit for link in chain if link.action == HAND]
    return hand[-1] if hand else old


def goals_of(changes: Sequence[Change]) -> list[FileEdit]:
    """What each file becomes when all changes have been made one after another."""
    first: dict[str, FileEdit] = {}
    last: dict[str, FileEdit] = {}
    for edit in (edit for change in changes for edit in change.edits):
        first.setdefault(edit.path, edit)
        last[edit.path] = edit
    goals = [FileEdit(path, first[path].before, edit.after, edit.mode) for path, edit in last.items()]
    return sorted(goals, key=lambda goal: goal.after is None)


def index_entries(outside: Mapping[str, OnDisk | None], goals: Sequence[FileEdit]) -> list[tuple[str, str, str]]:
    """What the index must say after the change."""
    told = {path: ("0", NOTHING) if now is None else (now.git_mode, now.blob) for path, now in outside.items()}
    for goal in goals:
        mode = "100755" if (goal.mode or 0) & 0o100 else "100644"
        told[goal.path] = ("0", NOTHING) if goal.after is None else (mode, blob_hash(goal.after))
    return [(path, mode, blob) for path, (mode, blob) in told.items()]


def touched_by(change: Change) -> tuple[Touched, ...]:
    """The files of a change as the history tells them."""
    return tuple(
        Touched(edit.path, edit.before, None if edit.after is None else blob_hash(edit.after)) for edit in change.edits
    )


def dropped(changes: Sequence[Change]) -> list[str]:
    """The pending refs that these changes answer."""
    return [f"refs/pending/{value}" for change in changes for key, value in change.extra if key == "Pending"]
