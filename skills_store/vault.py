"""One folder under git: applies changes whole, one commit each, and finishes what a dead process left.

The only importer of git.  A change lands in four steps: commits under `refs/assistant/applying`; files written whole;
the branch moved and `applying` dropped in one transaction; our paths refreshed in the person's index.  Until the branch
has moved, `applying` is a promise that the next writer keeps (`landing.py`).
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from skills_store import refs
from skills_store.change import Change, FileEdit, blob_hash
from skills_store.errors import StoreBrokenError, StoreBusyError, StoreError
from skills_store.files import Files, OnDisk, ignored
from skills_store.history import History
from skills_store.landing import Landing
from skills_store.pending import Inbox
from skills_store.reconcile import reconcile
from skills_store.story import MAIL_DOMAIN, Commit, Touched
from skills_store.stream import APPLYING
from skills_store.values import Actor, Cause

Now = Mapping[str, OnDisk | None]
LOCK_SECONDS = 60.0
FULL = re.compile("no space left|out of diskspace|quota|file too large", re.IGNORECASE)
LEFTOVER = re.compile(r"/\.git/(fast_import_crash_\d+|objects/pack/tmp_pack_\w+)")
SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("commit.gpgSign", "false"),
    ("core.autocrlf", "false"),
    ("core.quotePath", "false"),
    ("core.excludesFile", os.devnull),
    ("core.attributesFile", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.fsync", "committed,loose-object"),
    ("core.fsyncMethod", "batch"),
    ("core.filesRefLockTimeout", "2000"),
    ("fastimport.unpackLimit", "1000"),
    ("gc.autoDetach", "false"),
    ("log.showRoot", "true"),
    ("log.showSignature", "false"),
    ("diff.noprefix", "false"),
    ("blame.ignoreRevsFile", ""),
)


class Commands:
    """Starts git for one folder, with nothing of the person's own git settings."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git_dir = root / ".git"
        settings = (*SETTINGS, ("safe.directory", str(root)))
        self.environment = {
            "GIT_DIR": str(self.git_dir),
            "GIT_WORK_TREE": str(root),
            "GIT_INDEX_FILE": str(self.git_dir / "index"),
            "GIT_OBJECT_DIRECTORY": str(self.git_dir / "objects"),
            "GIT_COMMON_DIR": str(self.git_dir),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
            "GIT_NAMESPACE": "",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_CONFIG_PARAMETERS": "",
            "GIT_CONFIG_COUNT": str(len(settings)),
            "GIT_TEMPLATE_DIR": "",
            "GIT_DEFAULT_HASH": "sha1",
            "GIT_DEFAULT_REF_FORMAT": "files",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_COMMITTER_NAME": "assistant",
            "GIT_COMMITTER_EMAIL": f"assistant@{MAIL_DOMAIN}",
        }
        for number, (key, value) in enumerate(settings):
            self.environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}

    def __call__(self, *words: str, stdin: bytes = b"", accept: Sequence[int] = (0,)) -> bytes:
        """Run one git command; its output.  Any other exit than `accept` is an error with git's own words."""
        from git import Git
        from git.exc import GitCommandNotFound

        with tempfile.TemporaryFile() as feed:
            feed.write(stdin)
            feed.seek(0)
            try:
                status, output, problem = Git(str(self.root)).execute(
                    ["git", *words],
                    istream=feed,
                    env=self.environment,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                )
            except GitCommandNotFound as missing:
                raise StoreBrokenError(
                    "git is not installed", "install git 2.31 or newer; it keeps the history"
                ) from missing
        if status not in accept:
            raise trouble(words[0], problem.strip(), self.git_dir)
        return output


class Vault:
    """A folder whose every change is a commit."""

    def __init__(
        self,
        root: Path,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        hand: Callable[[], Actor] = lambda: Actor.YOU,
        told: Callable[[str], None] = lambda _step: None,
    ) -> None:
        self.root = root
        self.git_dir = root / ".git"
        self.clock = clock
        self.hand = hand
        """Whom to name for edits made outside: `you`, or `unknown` when a command of ours ran meanwhile."""
        self.told = told
        """Hears each step of an apply; tests die here."""
        self.files = Files(root)
        self.git = Commands(root)
        self.history = History(self.git, root)
        self.inbox = Inbox(self.git, self.history, root, ids)
        self.landing = Landing(self.git, self.files, self.history, clock, told)

    def head(self) -> str:
        """The newest commit; empty before the first.  Starts no process."""
        return refs.head(self.git_dir)

    generation = head

    def apply(
        self,
        changes: Sequence[Change],
        replan: Callable[[], Sequence[Change]] | None = None,
        planned_on: str | None = None,
    ) -> tuple[Commit, ...]:
        """Land the changes, one commit each, all or none.

        When a file is not what an edit expects, or the branch is no longer at `planned_on`, `replan` is asked for the
        same wish on today's files, under the lock; without it that is a conflict.
        """
        with self.locked():
            now = self.now(changes)
            if replan and (planned_on not in (None, self.head()) or moved(changes, now)):
                changes = replan()
                now = self.now(changes)
            return self.landing.land(self.around(changes), self.fitted(changes, now), self.hand())

    def stage(self, change: Change) -> str:
        """Keep a change for the person to decide, as a commit under refs/pending/; its id."""
        with self.locked():
            now = self.now([change])
            (fitted,) = self.fitted([change], now)
            self.landing.land(self.around([change]), (), self.hand())
            before = {path: found.data for path, found in now.items() if found is not None}
            return self.inbox.stage(fitted, before, self.head(), self.clock())

    def reject(self, number: str, reason: str, cause: Cause) -> None:
        """Turn a waiting change down and remember why."""
        with self.locked():
            self.inbox.reject(number, reason, cause, self.clock())

    def take_in(self, folders: Sequence[str] = (), paths: Sequence[str] = ()) -> None:
        """Commit what was edited by hand in these places; without any, in the whole tree."""
        with self.locked():
            everywhere = not folders and not paths
            found = self.outside(folders, self.history.edited_paths() if everywhere else paths)
            self.landing.land(found, (), self.hand())

    def recover(self) -> None:
        """Finish what a dead process left, if anything; starts no process when there is nothing."""
        if self.landing.owed() is not None or refs.read_ref(self.git_dir, APPLYING):
            with self.locked():
                pass

    def edits_again(self, touched: Sequence[Touched]) -> tuple[FileEdit, ...]:
        """What some commit did, as edits of today's files; MergeConflictError when that cannot be told."""
        hashes = [blob for item in touched for blob in (item.before, item.after) if blob]
        return reconcile(touched, self.history.blobs(hashes), self.files.read, self.history.merge)

    def bundle(self, path: Path) -> None:
        """The whole history as one file that `git clone` reads."""
        with self.locked():
            self.git("bundle", "create", "--quiet", str(path.absolute()), "--all")

    def tidy(self) -> None:
        """Let git pack what has become many small files; for quiet hours, never inside a call."""
        with self.locked():
            self.git("gc", "--auto", "--quiet")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The folder for one writer, with a repository in it and nothing half done."""
        if self.git_dir.is_symlink() or self.git_dir.is_file():
            raise StoreBrokenError(
                f"{self.git_dir} is a link or a file; the store needs a repository of its own",
                f"move it away: mv {self.git_dir} {self.git_dir}.elsewhere",
            )
        try:
            self.git_dir.mkdir(parents=True, exist_ok=True)
            with FileLock(self.git_dir / "assistant.lock", timeout=LOCK_SECONDS):
                if not (self.git_dir / "HEAD").exists():
                    self.begin()
                refs.must_be_quiet(self.git_dir)
                self.told("locked")
                self.landing.finish()
                yield
        except Timeout as late:
            said = f"another program has been writing in {self.root} for {LOCK_SECONDS:.0f} s"
            raise StoreBusyError(said, "wait for it, or end it, and try again") from late
        except OSError as problem:
            raise cannot_write(self.root, problem) from problem

    def begin(self) -> None:
        """Make the repository; what lies in the folder already is the person's first commit."""
        self.git("init", "--quiet", "--template=", "--initial-branch=main")
        found = [name for name in sorted(os.listdir(self.root)) if not ignored(name)]
        folders = [name for name in found if (self.root / name).is_dir() and not (self.root / name).is_symlink()]
        self.landing.land(self.outside(folders, [name for name in found if name not in folders]), (), Actor.YOU)

    def around(self, changes: Sequence[Change]) -> dict[str, OnDisk | None]:
        """Files around the changes that were edited outside: what they are now."""
        folders = list(dict.fromkeys(folder for change in changes for folder in change.folders))
        paths = dict.fromkeys(path for change in changes for path in change.paths)
        covered = frozenset(folders)
        return self.outside(folders, [path for path in paths if not inside(path, covered)])

    def outside(self, folders: Sequence[str], paths: Sequence[str]) -> dict[str, OnDisk | None]:
        """Files of folders, and single files, that differ from the branch."""
        kept = self.history.tree(self.head(), [*folders, *paths])
        disk = {path: found for path in paths if (found := self.files.read(path)) is not None}
        for folder in folders:
            disk |= self.files.under(folder)
        gone: dict[str, OnDisk | None] = {
            p: None for p in kept if p not in disk and not any(map(ignored, p.split("/")))
        }
        new = [path for path in disk if path not in kept]
        unwanted = self.history.ignored(new) if new else set()
        return gone | {p: f for p, f in disk.items() if p not in unwanted and kept.get(p) != (f.git_mode, f.blob)}

    def now(self, changes: Sequence[Change]) -> Now:
        """The files that the changes touch, as they are."""
        return {path: self.files.read(path) for path in {path for change in changes for path in change.paths}}

    def fitted(self, changes: Sequence[Change], now: Now) -> tuple[Change, ...]:
        """The changes with the modes of their files; refused when made for other files than today's, or for links."""
        if link := next((path for path, found in now.items() if found is not None and found.link), ""):
            raise StoreBrokenError(
                f"{link} is a link; the store writes no files through links",
                "put the file itself in the place of the link, then try again",
            )
        if path := moved(changes, now):
            raise StoreError(f"{path} changed meanwhile; nothing was written", "conflict", "read it again, then retry")
        modes = {path: found.mode for path, found in now.items() if found is not None}
        return tuple(
            replace(change, edits=tuple(replace(e, mode=e.mode or modes.get(e.path)) for e in change.edits))
            for change in changes
        )


def moved(changes: Sequence[Change], now: Now) -> str:
    """The first path that is not what an edit expects; empty when all are."""
    blobs = {path: None if found is None else found.blob for path, found in now.items()}
    for edit in (edit for change in changes for edit in change.edits):
        if blobs[edit.path] != edit.before:
            return edit.path
        blobs[edit.path] = None if edit.after is None else blob_hash(edit.after)
    return ""


def unbundle(bundle: Path, root: Path) -> None:
    """A new folder with the whole history that `Vault.bundle` wrote, what waits and what was turned down too."""
    root.mkdir(parents=True)
    git = Commands(root)
    git("init", "--quiet", "--template=", "--initial-branch=main")
    git("fetch", "--quiet", "--update-head-ok", str(bundle.absolute()), "+refs/*:refs/*")
    git("reset", "--quiet", "--hard")


def inside(path: str, folders: frozenset[str]) -> bool:
    """The path lies in one of the folders."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts)))


def trouble(command: str, said: str, git_dir: Path) -> StoreError:
    """What git complained of, as an error that says what to do."""
    first = said.splitlines()[0] if said else "no reason given"
    for left in LEFTOVER.findall(said):
        (git_dir / left).unlink(missing_ok=True)
    if ".lock" in said and "exists" in said:
        return StoreBusyError(
            f"git {command} found a lock in {git_dir}: {first}",
            "if no other git program is at work there, delete that lock file and try again",
        )
    if FULL.search(said):
        return StoreBrokenError(f"the disk is full: {first}", "free some space and try again; nothing was lost")
    return StoreBrokenError(
        f"git {command} failed in {git_dir.parent}: {said[:500]}", f"see: git -C {git_dir.parent} status"
    )


def cannot_write(root: Path, problem: OSError) -> StoreBrokenError:
    """A fault of the disk, in words."""
    what = problem.strerror or str(problem)
    return StoreBrokenError(
        f"cannot write in {root}: {what}", "free some space or correct the rights of the folder; nothing was lost"
    )
