"""What the history tells: trees, logs, differences, blame.  Reads only; git is handed in."""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skills_store import refs
from skills_store.change import as_text
from skills_store.errors import StoreError
from skills_store.story import LOG_FORMAT, NOTHING, Commit, Touched, actor_of, read_log, read_raw
from skills_store.values import Actor

GitCall = Callable[..., bytes]
RAW = ("--raw", "-z", "--no-abbrev", "--no-renames")
REVISION = re.compile(r"^[0-9a-fA-F]{4,40}$")
GLOB = "*?[]\\"
BLAME_HEAD = re.compile(r"^([0-9a-f]{40}) \d+ (\d+)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file and the commit that last wrote it; an empty commit means edited by hand, not yet committed."""

    line: int
    text: str
    commit: str
    actor: str


class History:
    """The past of one vault."""

    def __init__(self, git: GitCall, root: Path) -> None:
        self.git = git
        self.root = root
        self.git_dir = root / ".git"

    def tree(self, commit: str, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Mode and hash of every file of a commit below some paths."""
        found: dict[str, tuple[str, str]] = {}
        for some in chunks(paths if commit else ()):
            output = self.git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *some)
            for entry in output.decode("utf-8", "surrogateescape").split("\0")[:-1]:
                head, _, path = entry.partition("\t")
                mode, _kind, blob = head.split(" ")
                found[path] = (mode, blob)
        return found

    def names(self, commit: str) -> list[str]:
        """Every path of a commit."""
        output = self.git("ls-tree", "-r", "-z", "--full-tree", "--name-only", commit)
        return output.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Those of the paths that the person told git to ignore."""
        feed = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        output = self.git("check-ignore", "-z", "--stdin", stdin=feed, accept=(0, 1))
        return set(output.decode("utf-8", "surrogateescape").split("\0")[:-1])

    def edited_paths(self) -> list[str]:
        """Every file of the tree that differs from the branch, untracked ones too."""
        output = self.git("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
        return [entry[3:] for entry in output.decode("utf-8", "surrogateescape").split("\0")[:-1]]

    def chain(self, old: str, tip: str) -> list[Commit]:
        """The commits of `tip` that `old` lacks, oldest first."""
        span = f"{old}..{tip}" if old else tip
        return list(read_log(self.git("log", "--reverse", "--topo-order", f"--format={LOG_FORMAT}", *RAW, span, "--")))

    def between(self, start: str, tip: str) -> tuple[Touched, ...]:
        """The files that differ between two commits; an empty start is before the first."""
        if not start:
            return tuple(Touched(path, None, blob, mode) for path, (mode, blob) in self.tree(tip, ["."]).items())
        output = self.git("diff-tree", "-r", *RAW, start, tip, "--")
        return read_raw(output.decode("utf-8", "surrogateescape"))

    def blobs(self, hashes: Iterable[str]) -> dict[str, bytes]:
        """The bytes behind some hashes, fetched with one process."""
        wanted = list(dict.fromkeys(hashes))
        if not wanted:
            return {}
        output = self.git("cat-file", "--batch", stdin="".join(f"{item}\n" for item in wanted).encode())
        found, at = {}, 0
        for name in wanted:
            end = output.index(b"\n", at)
            kind = output[at:end].split(b" ")
            if len(kind) != 3:
                raise StoreError(f"git has lost the object {name}", "not_found", "see: git fsck")
            size = int(kind[2])
            found[name] = output[end + 1 : end + 1 + size]
            at = end + 1 + size + 1
        return found

    def log(self, patterns: Sequence[str] = (), limit: int = 100) -> tuple[Commit, ...]:
        """The newest commits, of all or of what fits the git patterns."""
        if not refs.head(self.git_dir):
            return ()
        words = ("log", f"--max-count={limit}", f"--format={LOG_FORMAT}", "--diff-merges=first-parent", *RAW)
        return read_log(self.git(*words, "HEAD", "--", *patterns))

    def read(self, commits: Sequence[str], diffs: bool = True) -> tuple[Commit, ...]:
        """Some commits, in the order asked for."""
        if not commits:
            return ()
        words = ("log", "--no-walk=unsorted", f"--format={LOG_FORMAT}", *(RAW if diffs else ("-z",)))
        return read_log(self.git(*words, "--stdin", stdin="".join(f"{item}\n" for item in commits).encode()))

    def one(self, revision: str) -> Commit:
        """The commit that a (shortened) id names."""
        if not REVISION.match(revision):
            raise StoreError(f"{revision[:80]!r} is not the id of a commit", "not_found", "see: assistant skills log")
        full = (
            self.git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", accept=(0, 1, 128)).decode().strip()
        )
        if not full:
            raise StoreError(f"there is no commit {revision}", "not_found", "see: assistant skills log")
        return self.read([full])[0]

    def diff(self, revision: str) -> str:
        """What a commit changed, as git shows it."""
        commit = self.one(revision).commit
        words = ("show", "--format=", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--patch")
        return self.git(*words, commit, "--").decode("utf-8", "replace")

    def show(self, revision: str, path: str) -> bytes:
        """A file as a commit has it."""
        commit = self.one(revision).commit
        found = self.tree(commit, [path]).get(path)
        if found is None:
            raise StoreError(f"{path} is not in commit {revision}", "not_found")
        return self.blobs([found[1]])[found[1]]

    def blame(self, path: str) -> tuple[Line, ...]:
        """Who last wrote each line of the file as it is on disk."""
        if not self.tree(refs.head(self.git_dir), [path]):
            text = as_text((self.root / path).read_bytes()) or ""
            return tuple(Line(n, line, "", Actor.YOU.value) for n, line in enumerate(text.splitlines(), 1))
        output = self.git("blame", "--line-porcelain", "--", path).decode("utf-8", "replace")
        return tuple(read_blame(output))

    def receipt(self, call: str) -> Commit | None:
        """The commit that a tool call made, on the branch or waiting."""
        if not refs.head(self.git_dir) or not call:
            return None
        words = ("log", "--fixed-strings", f"--grep=Call: {call}", f"--format={LOG_FORMAT}", *RAW)
        found = read_log(self.git(*words, "HEAD", "--glob=refs/pending/*", "--"))
        return next((commit for commit in found if commit.call == call), None)

    def merge(self, today: bytes, base: bytes, wanted: bytes) -> tuple[bytes, bool]:
        """Three versions of a text as one, and whether that went without conflict."""
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for name, data in (("today", today), ("base", base), ("wanted", wanted)):
                place = Path(folder) / name
                place.write_bytes(data)
                names.append(str(place))
            labels = ("-L", "today", "-L", "before", "-L", "wanted")
            output = self.git("merge-file", "-p", "--diff3", *labels, *names, accept=tuple(range(128)))
        return output, b"\n||||||| before" not in b"\n" + output


def patterns(name: str) -> Sequence[str]:
    """The places where a skill may ever have been, as git patterns."""
    quoted = "".join(f"\\{char}" if char in GLOB else char for char in name)
    return (f":(glob)**/{quoted}/**",)


def chunks(items: Sequence[str], size: int = 500) -> Iterator[tuple[str, ...]]:
    """The items in pieces that fit a command line."""
    return (tuple(items[at : at + size]) for at in range(0, len(items), size))


def read_blame(output: str) -> Iterator[Line]:
    """The lines of `git blame --line-porcelain`."""
    commit, number, author, mail = "", 0, "", ""
    for text in output.split("\n"):
        if match := BLAME_HEAD.match(text):
            commit, number = match[1], int(match[2])
        elif text.startswith("author "):
            author = text.removeprefix("author ")
        elif text.startswith("author-mail "):
            mail = text.removeprefix("author-mail ").strip("<>")
        elif text.startswith("\t"):
            known = "" if commit == NOTHING else commit
            yield Line(number, text[1:].rstrip("\r"), known, actor_of(author, mail) if known else Actor.YOU.value)
