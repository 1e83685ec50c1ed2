"""What the assistant remembers of the person and the state of things: MEMORY.md and USER.md, every change a commit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assistant.store.entries import SEPARATOR, Problem, Wish, again, entries_of, planned, size_of
from skills_store.change import Change, FileEdit, blob_hash
from skills_store.errors import StoreError
from skills_store.history import Line
from skills_store.scan import scan
from skills_store.story import Commit, change_from
from skills_store.values import Actor, Cause, Origin, Owner
from skills_store.vault import Vault

FILES = {"memory": "MEMORY.md", "user": "USER.md"}
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """How much is kept, and what waits for the person."""

    memory_limit: int = 2200
    user_limit: int = 1375
    """Characters, counted with what stands between the entries."""
    write_approval: str = "false"
    """`false`; `learning`: what review and curator write waits; `all`: what the assistant writes too."""
    targets: tuple[str, ...] = ("memory", "user")


@dataclass(frozen=True, slots=True)
class Applied:
    """Done; an empty commit means that there was nothing to do."""

    message: str
    entries: tuple[str, ...]
    used: int
    limit: int
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Staged:
    """It waits for the person."""

    id: str
    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written."""

    code: str
    error: str
    hint: str
    entries: tuple[str, ...]
    used: int
    limit: int


Outcome = Applied | Staged | Refused


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry and who last wrote it."""

    text: str
    when: datetime | None = None
    actor: str = Actor.YOU.value
    run: str = ""
    commit: str = ""
    yours: bool = False
    """Whether the person wrote any of its lines."""


class Settled(Exception):
    """Ends planning early: there is nothing to write."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class MemoryFiles:
    """The two files; safe from any process, hand edits kept."""

    def __init__(
        self,
        root: Path,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        settings: MemorySettings | None = None,
        hand: Callable[[], Actor] = lambda: Actor.YOU,
    ) -> None:
        self.root = root
        self.settings = settings or MemorySettings()
        self.vault = Vault(root, clock, ids, hand)

    def entries(self, target: str) -> tuple[str, ...]:
        """The entries of one file as it is now."""
        return entries_of(self._text(target))

    def limit(self, target: str) -> int:
        """Most characters of one file."""
        return self.settings.user_limit if target == "user" else self.settings.memory_limit

    def change(self, action: str, target: str, content: str, old_text: str, cause: Cause) -> Outcome:
        """Add, replace or remove one entry."""
        wish = Wish(action, content, old_text)
        if refused := self._not_allowed(target, content, cause):
            return refused
        return self._settle(lambda: self._plan(wish, target, cause), target)

    def log(self, target: str = "", limit: int = 100) -> tuple[Commit, ...]:
        """The newest changes, of one file or both."""
        return self.vault.history.log([FILES[target]] if target else [], limit)

    def diff(self, commit: str) -> str:
        """What a change did."""
        return self.vault.history.diff(commit)

    def show(self, target: str) -> tuple[Entry, ...]:
        """The entries with who wrote them last, and when."""
        texts = self.entries(target)
        if not texts:
            return ()
        lines = self.vault.history.blame(FILES[target])
        commits = {c.commit: c for c in self.vault.history.read(list({line.commit for line in lines if line.commit}))}
        return tuple(written(text, block, commits) for text, block in zip(texts, blocks(lines), strict=False))

    def undo(self, commit: str, cause: Cause) -> Outcome:
        """Take one change back; what came after it stays."""
        try:
            known = self.vault.history.one(commit)
        except StoreError as problem:
            return self._refusal("memory", Problem(problem.code, problem.message, problem.hint))
        return self._repeat(known, cause, "undo", ("Undoes", known.commit), backwards=True)

    def pending(self) -> tuple[tuple[str, Commit], ...]:
        """What waits for the person: id and commit, oldest first."""
        return tuple((item.id, item.commit) for item in self.vault.inbox.waiting())

    def approve(self, number: str) -> Outcome:
        """Carry out what waited; it keeps its actor."""
        try:
            known = self.vault.inbox.one(number).commit
        except StoreError as problem:
            return self._refusal("memory", Problem(problem.code, problem.message, problem.hint))
        return self._repeat(known, change_from(known), known.action, ("Pending", number), backwards=False)

    def reject(self, number: str, reason: str, cause: Cause) -> None:
        """Turn down what waited; StoreError when nothing waits under that id."""
        self.vault.reject(number, reason, cause)

    def receipt(self, call: str) -> Commit | None:
        """The commit that a tool call made."""
        return self.vault.history.receipt(call)

    def _bytes(self, target: str) -> bytes | None:
        found = self.vault.files.read(FILES[target]) if self.root.is_dir() else None
        return None if found is None else found.data

    def _text(self, target: str) -> str:
        return as_text(self._bytes(target))

    def _not_allowed(self, target: str, content: str, cause: Cause) -> Refused | None:
        """What no state of the file could change."""
        if target not in self.settings.targets:
            which = ", ".join(self.settings.targets) or "none"
            return Refused("invalid", f"there is no memory {target!r} here", f"There is: {which}.", (), 0, 0)
        if not cause.actor.automatic:
            return None
        if not cause.evidence:
            hint = "Give evidence: short quotes from the conversation, word for word."
            return self._refusal(target, Problem("no_evidence", "a review must say what a memory rests on", hint))
        found = [f for f in scan({FILES[target]: content.encode()}) if f.severity == "block"]
        if found:
            return self._refusal(
                target, Problem("scan", found[0].message, "Leave it out, or put it in harmless words.")
            )
        return None

    def _plan(self, wish: Wish, target: str, cause: Cause) -> Change:
        """The change that a wish means for the file as it is now."""
        data = self._bytes(target)
        now = as_text(data)
        result = planned(now, wish)
        return self._change(target, data, result, cause, (wish.action, gist(wish), ()))

    def _change(
        self,
        target: str,
        data: bytes | None,
        result: str | Problem,
        cause: Cause,
        story: tuple[str, str, tuple[tuple[str, str], ...]],
    ) -> Change:
        """A new text as a change, if it may be and is one."""
        now = as_text(data)
        if isinstance(result, Problem):
            raise Settled(self._refusal(target, result))
        if result == now:
            raise Settled(self._applied(target, "It is there already; nothing was changed."))
        before, after = size_of(entries_of(now)), size_of(entries_of(result))
        if after > max(before, self.limit(target)):
            error = f"{FILES[target]} would have {after} characters; the limit is {self.limit(target)}"
            raise Settled(self._refusal(target, Problem("invalid", error, FULL)))
        edit = FileEdit(FILES[target], None if data is None else blob_hash(data), encoded(result, data))
        action, subject, extra = story
        return Change(FILES[target], "", action, (edit,), cause, Owner.YOU, subject, extra=extra)

    def _settle(self, plan: Callable[[], Change], target: str) -> Outcome:
        """Plan, then stage or apply; planned again on today's file when it moved on."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            change = plan()
            if reason := self._turned_down(change, target):
                said = f"the person turned this very entry down: {reason}"
                return self._refusal(target, Problem("conflict", said, "do not propose it again"))
            if self._must_wait(change, target):
                number = self.vault.stage(change)
                return Staged(number, f"It waits for the person's approval as {number}; do not write it again.")
            commits = self.vault.apply([change], lambda: [plan()])
        except Settled as early:
            return early.outcome
        except StoreError as problem:
            return self._refusal(target, Problem(problem.code, problem.message, problem.hint))
        return self._applied(target, "Done.", commits[-1].commit)

    def _turned_down(self, change: Change, target: str) -> str:
        """Why the person did not want this when it was proposed before."""
        if change.cause.actor is Actor.YOU:
            return ""
        before = self._bytes(target)
        return self.vault.inbox.turned_down(change, {FILES[target]: before} if before is not None else {})

    def _must_wait(self, change: Change, target: str) -> bool:
        """Whether the person wants to see it first, it rests on untrusted text, or it alters lines of theirs."""
        actor = change.cause.actor
        if any(key == "Pending" for key, _value in change.extra) or actor in (Actor.YOU, Actor.SEED):
            return False
        if self.settings.write_approval == "all" or change.cause.origin is Origin.UNTRUSTED:
            return True
        if not actor.automatic:
            return False
        return self.settings.write_approval == "learning" or self._touches_yours(change, target)

    def _touches_yours(self, change: Change, target: str) -> bool:
        """Whether a change takes away or alters an entry of which the person wrote a line."""
        after = entries_of(as_text(change.edits[0].after))
        gone = [entry for entry in self.show(target) if entry.text not in after]
        return any(entry.yours for entry in gone)

    def _repeat(self, known: Commit, cause: Cause, action: str, mark: tuple[str, str], backwards: bool) -> Outcome:
        """Do what a commit did, or take it back, on today's file."""
        targets = {file: target for target, file in FILES.items()}
        touched = next((item for item in known.touched if item.path in targets), None)
        if touched is None:
            return self._refusal("memory", Problem("not_found", f"{known.commit[:12]} changed no memory"))
        target = targets[touched.path]
        blobs = self.vault.history.blobs([blob for blob in (touched.before, touched.after) if blob])
        texts = [as_text(blobs.get(blob or "")) for blob in (touched.before, touched.after)]
        before, after = reversed(texts) if backwards else texts

        def plan() -> Change:
            data = self._bytes(target)
            result = again(as_text(data), before, after)
            return self._change(target, data, result, cause, (action, known.subject.partition(": ")[2], (mark,)))

        return self._settle(plan, target)

    def _applied(self, target: str, message: str, commit: str = "") -> Applied:
        now = self.entries(target)
        return Applied(message, now, size_of(now), self.limit(target), commit)

    def _refusal(self, target: str, problem: Problem) -> Refused:
        now = self.entries(target)
        return Refused(problem.code, problem.error, problem.hint, now, size_of(now), self.limit(target))


FULL = "Replace or remove entries that matter less, or say them shorter, then try once more; else tell the person."


def as_text(data: bytes | None) -> str:
    """The text of a file: no byte-order mark, `\\n` between lines."""
    return (data or b"").removeprefix(BOM).decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def encoded(text: str, like: bytes | None) -> bytes:
    """A text in the manner of the file it replaces."""
    data = text.encode("utf-8", "surrogateescape")
    if like and b"\r\n" in like and like.count(b"\r\n") == like.count(b"\n"):
        data = data.replace(b"\n", b"\r\n")
    return BOM + data if like and like.startswith(BOM) else data


def written(text: str, lines: Sequence[Line], commits: Mapping[str, Commit]) -> Entry:
    """An entry with who wrote its newest line; lines without a commit were edited by hand just now."""
    if any(line.commit not in commits for line in lines):
        return Entry(text, yours=True)
    newest = max((commits[line.commit] for line in lines), key=lambda commit: commit.when)
    yours = any(line.actor == Actor.YOU for line in lines)
    return Entry(text, newest.when, newest.actor, newest.run, newest.commit, yours)


def blocks(lines: Iterable[Line]) -> tuple[tuple[Line, ...], ...]:
    """The lines of each entry, without the separators and the blank lines."""
    found: list[list[Line]] = [[]]
    for line in lines:
        if line.text.strip() == SEPARATOR:
            found.append([])
        elif line.text.strip():
            found[-1].append(line)
    return tuple(tuple(block) for block in found if block)


def gist(wish: Wish) -> str:
    """A few words for the log."""
    words = " ".join((wish.content or wish.old_text).split())
    return f"{wish.action} {words[:57] + '…' if len(words) > 58 else words}"
