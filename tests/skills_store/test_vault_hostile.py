"""Bad surroundings: each ends well, or with a sentence that says what to do and nothing lost."""

import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skills_store.errors import StoreBrokenError, StoreBusyError, StoreError
from skills_store.outcome import Applied
from skills_store.plan import Wish
from skills_store.values import Origin
from tests.fakes.skills import REVIEW, YOU, authors, change, created, git, reader, status, vault, write

FILE = "art/maps/SKILL.md"


def prepared(root: Path) -> None:
    vault(root).apply([change(root, {FILE: b"old\n"})])


def must_be_as_before(root: Path) -> None:
    """Old text, nothing owed, and the next change lands."""
    assert (root / FILE).read_bytes() == b"old\n"
    vault(root).apply([change(root, {FILE: b"later\n"})])
    assert status(root) == ""
    assert authors(root) == ["review", "review"]


def test_the_persons_global_settings_never_reach_our_commits(tmp_path):
    home = tmp_path / "home"
    hook = write(home, "hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    write(home, "template/hooks/post-commit", "#!/bin/sh\ntouch ran\n").chmod(0o755)
    write(
        home,
        ".gitconfig",
        f"[user]\nuseConfigOnly = true\n[commit]\ngpgSign = true\n[gpg]\nprogram = /bin/false\n"
        f"[core]\nhooksPath = {home}/hooks\nautocrlf = true\nexcludesFile = {home}/ignore\n"
        f"[init]\ntemplateDir = {home}/template\ndefaultBranch = other\n",
    )
    write(home, "ignore", "*.md\n")
    program = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\nfrom tests.fakes.skills import vault, change, write\n"
        "root = Path(sys.argv[1])\n"
        f"vault(root).apply([change(root, {{{FILE!r}: b'a\\r\\nb\\r\\n'}})])\n"
        "write(root, 'art/maps/references/x.md', 'mine')\n"
        f"vault(root).apply([change(root, {{{FILE!r}: b'c\\r\\n'}})])\n"
    )
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/i"}
    here = str(Path(__file__).parents[2])
    root = tmp_path / "skills"
    done = subprocess.run(
        [sys.executable, "-c", program, str(root), here],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert authors(root) == ["review", "you", "review"]
    assert vault(root).history.show(git(root, "rev-parse", "HEAD~2").strip(), FILE) == b"a\r\nb\r\n"
    assert (root / FILE).read_bytes() == b"c\r\n"
    assert git(root, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert not (root / ".git/hooks").exists()
    assert "gpgsig" not in git(root, "cat-file", "commit", "HEAD")
    assert not (root / "ran").exists()


def test_a_store_inside_another_repository_is_a_repository_of_its_own(tmp_path):
    git(tmp_path, "init", "-q")
    write(tmp_path, "outer.txt", "x")
    root = tmp_path / "skills"
    prepared(root)
    assert (root / ".git/HEAD").exists()
    assert not (tmp_path / ".git/refs/heads/main").exists()
    must_be_as_before(root)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_store_that_another_user_owns_is_trusted_for_each_command(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    for place in (root, *root.rglob("*")):
        os.chown(place, 12345, 12345, follow_symlinks=False)
    vault(root).apply([change(root, {FILE: b"later\n"})])
    assert vault(root).history.log(limit=1)[0].actor == "review"


def test_a_detached_head_is_left_alone_with_a_sentence(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    git(root, "checkout", "-q", "--detach")
    before = git(root, "rev-parse", "HEAD")
    with pytest.raises(StoreBrokenError, match="detached HEAD") as told:
        vault(root).apply([change(root, {FILE: b"new\n"})])
    assert "switch" in told.value.hint
    assert git(root, "rev-parse", "HEAD") == before
    git(root, "switch", "-q", "-")
    must_be_as_before(root)


def test_a_merge_of_the_persons_is_not_disturbed(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    write(root, ".git/MERGE_HEAD", git(root, "rev-parse", "HEAD"))
    with pytest.raises(StoreBrokenError, match="in the middle of a merge"):
        vault(root).apply([change(root, {FILE: b"new\n"})])
    (root / ".git/MERGE_HEAD").unlink()
    must_be_as_before(root)


def test_an_index_lock_left_behind_is_told_and_made_good_later(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    lock = write(root, ".git/index.lock", "")
    (commit,) = vault(root).apply([change(root, {FILE: b"new\n"})])
    assert (root / FILE).read_bytes() == b"new\n"
    assert str(lock) in commit.warnings[0]
    lock.unlink()
    vault(root).recover()
    assert status(root) == ""


@pytest.mark.parametrize("lock", ["refs/heads/main.lock", "packed-refs.lock"])
def test_a_branch_lock_left_behind_stops_before_anything_is_written(tmp_path, lock):
    root = tmp_path / "skills"
    prepared(root)
    place = write(root, f".git/{lock}", "")
    with pytest.raises(StoreBusyError, match="another git program") as told:
        vault(root).apply([change(root, {FILE: b"new\n"})])
    assert "delete that file" in told.value.hint
    place.unlink()
    must_be_as_before(root)


def test_locks_of_ours_that_a_dead_process_left_do_not_matter(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    write(root, ".git/assistant.lock", "")
    write(root, ".git/refs/assistant/applying.lock", "")
    must_be_as_before(root)


@pytest.mark.parametrize("blocked", ["art", "art/maps"])
def test_a_folder_replaced_by_a_link_is_never_written_through(tmp_path, blocked):
    root = tmp_path / "skills"
    prepared(root)
    outside = tmp_path / "outside"
    wanted = change(root, {f"{blocked}/references/x.md": b"new\n"})
    (root / blocked).rename(outside)
    (root / blocked).symlink_to(outside)
    with pytest.raises(StoreBrokenError, match="is a link"):
        vault(root).apply([wanted])
    assert not (outside / "references").exists()
    assert git(root, "for-each-ref", "refs/assistant") == ""


def test_a_folder_replaced_by_a_link_in_the_middle_of_a_change(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    outside = tmp_path / "outside"

    def swap(step: str) -> None:
        if step == "committed":
            (root / "art/maps").rename(outside)
            (root / "art/maps").symlink_to(outside)

    with pytest.raises(StoreError):
        vault(root, swap).apply([change(root, {FILE: b"new\n"})])
    assert (outside / "SKILL.md").read_bytes() == b"old\n"
    (root / "art/maps").unlink()
    outside.rename(root / "art/maps")
    must_be_as_before(root)


def test_a_file_that_is_a_link_is_refused_and_stays_a_link(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    target = write(tmp_path, "target.md", "old\n")
    (root / FILE).unlink()
    (root / FILE).symlink_to(target)
    with pytest.raises(StoreBrokenError, match="is a link"):
        vault(root).apply([change(root, {FILE: b"new\n"})])
    assert (root / FILE).is_symlink()
    assert target.read_text() == "old\n"


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", ".git/config", "a//b", "art/.git/hooks/x"])
def test_no_path_leads_out_of_the_store(tmp_path, path):
    root = tmp_path / "skills"
    prepared(root)
    with pytest.raises(StoreError, match="no path inside the store"):
        vault(root).apply([change(root, {path: b"x"})])
    must_be_as_before(root)


def test_a_full_disk_is_met_before_anything_is_visible(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        wanted = change(root, {FILE: b"new\n", "art/maps/assets/big.md": os.urandom(60_000)})
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            vault(root).apply([wanted])
        except StoreError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert not (root / "art/maps/assets").exists()
    vault(root).recover()
    must_be_as_before(root)


def on_tiny_disk(tmp_path: Path) -> Path:
    """A file system of 400 KB, or a skip where this machine gives none."""
    place = tmp_path / "tiny"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine lets no test mount a file system")
    return place


def test_a_disk_that_fills_up_says_so_and_loses_nothing(tmp_path):
    place = on_tiny_disk(tmp_path)
    try:
        root = place / "skills"
        prepared(root)
        filler = write(place, "filler", b"")
        with pytest.raises(StoreError, match=r"full|space") as told:
            vault(root).apply([change(root, {FILE: os.urandom(390_000)})])
        assert "space" in told.value.hint
        assert list((root / ".git").rglob("*tmp_pack*")) == list((root / ".git").glob("fast_import_crash*")) == []
        filler.unlink()
        must_be_as_before(root)
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_read_only_disk_says_so(tmp_path):
    place = on_tiny_disk(tmp_path)
    try:
        root = place / "skills"
        prepared(root)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        with pytest.raises(StoreBrokenError, match=r"cannot write in .*Read-only"):
            vault(root).apply([change(root, {FILE: b"new\n"})])
        subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True)
        must_be_as_before(root)
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes in folders that are read-only for others")
def test_a_read_only_folder_says_so(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    (root / "art/maps").chmod(0o555)
    with pytest.raises(StoreBrokenError, match="Permission"):
        vault(root).apply([change(root, {FILE: b"new\n"})])
    (root / "art/maps").chmod(0o755)
    must_be_as_before(root)


def test_a_repository_elsewhere_is_refused(tmp_path):
    root = tmp_path / "skills"
    write(root, ".git", "gitdir: ../other\n")
    with pytest.raises(StoreBrokenError, match="repository of its own"):
        vault(root).apply([change(root, {FILE: b"new\n"})])


def test_a_packed_repository_is_read_and_written(tmp_path):
    root = tmp_path / "skills"
    prepared(root)
    git(root, "gc", "-q")
    vault(root).tidy()
    must_be_as_before(root)


@pytest.mark.long
def test_a_long_history_stays_few_files_and_keeps_what_waits(tmp_path):
    store = created(tmp_path / "skills")
    wish = Wish("patch", "maps", old_string="Add", new_string="Draw")
    staged = store.manage(wish, replace(REVIEW, heard=Origin.UNTRUSTED), reader(store))
    stream = b"".join(
        b"commit refs/heads/main\ncommitter Ada <ada@example.org> %d +0000\ndata 1\nx" % number
        + (b"\nfrom refs/heads/main^0" if number == 1 else b"")
        + b"\nM 644 inline art/maps/references/a.md\ndata 6\n%06d\n" % number
        for number in range(1, 1801)
    )
    feed = ["git", "-c", "fastimport.unpackLimit=100000", "fast-import", "--quiet"]
    subprocess.run(feed, cwd=store.root, input=stream, check=True)
    git(store.root, "reset", "-q", "--hard")
    before = int(git(store.root, "count-objects").split()[0])
    store.vault.tidy()
    assert before > 7_000 > 100 > int(git(store.root, "count-objects").split()[0])
    assert not (store.root / ".git/gc.pid").exists()
    assert isinstance(store.approve(staged.id, YOU), Applied)
    assert git(store.root, "fsck", "--no-dangling") == ""
