"""The same folder in two places: fetch, go forward or merge, push.  Nothing is forced; a conflict changes nothing."""

from dataclasses import dataclass, replace

from skills_store import refs
from skills_store.change import Change
from skills_store.errors import StoreError
from skills_store.stream import build, draft_of
from skills_store.values import Actor, Cause
from skills_store.vault import Vault

FETCHED = "refs/assistant/remote"
WHOLE_FILES = ("100644", "100755", "000000")


@dataclass(frozen=True, slots=True)
class Synced:
    """How many commits went which way."""

    taken: int
    given: int


def sync(vault: Vault, remote: str) -> Synced:
    """Bring both places to the same commit; StoreError says what stands in the way."""
    vault.take_in()
    branch = refs.branch(vault.git_dir)
    theirs = fetch(vault, remote, branch)
    with vault.locked():
        taken = taken_in(vault, theirs) if theirs else 0
    ours = vault.head()
    given = count(vault, theirs, ours) if ours else 0
    if given:
        vault.git("push", "--quiet", "--", remote, f"{ours}:{branch}")
    return Synced(taken, given)


def fetch(vault: Vault, remote: str, branch: str) -> str:
    """The newest commit of the branch there; empty when it has none yet."""
    if not vault.git("ls-remote", "--", remote, branch):
        return ""
    vault.git("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", remote, f"+{branch}:{FETCHED}")
    return refs.read_ref(vault.git_dir, FETCHED)


def taken_in(vault: Vault, theirs: str) -> int:
    """Make their commits ours too; how many there were."""
    ours = vault.head()
    new = count(vault, ours, theirs)
    base = vault.git("merge-base", ours, theirs, accept=(0, 1)).decode().strip() if ours else ""
    if ours and not base:
        raise StoreError(
            "the remote's history and this one have no common beginning; nothing was changed",
            hint=f"to go on from the remote's: move {vault.root} aside, then git clone the remote to that place",
        )
    if new:
        refuse_links(vault, base, theirs)
        vault.landing.follow(theirs if base == ours else merged(vault, base, ours, theirs))
    return new


def refuse_links(vault: Vault, base: str, theirs: str) -> None:
    """Only files come in: a link, or another repository, could lead anywhere."""
    for item in vault.history.between(base, theirs):
        if item.mode not in WHOLE_FILES:
            raise StoreError(f"{item.path} is a link in the remote; nothing was changed", hint="remove it there")


def merged(vault: Vault, base: str, ours: str, theirs: str) -> str:
    """One commit after both, as the person; MergeConflictError where both changed the same lines."""
    edits = vault.edits_again(vault.history.between(base, theirs))
    change = Change("sync", "", "merge", edits, Cause(Actor.YOU), subject="both sides of a sync")
    draft = replace(draft_of(change), merged=theirs)
    output = vault.git("fast-import", "--quiet", "--force", stdin=build([draft], ours, vault.clock(), FETCHED))
    return output.decode().strip()


def count(vault: Vault, old: str, new: str) -> int:
    """How many commits `new` has that `old` lacks."""
    return int(vault.git("rev-list", "--count", f"{old}..{new}" if old else new, "--"))
