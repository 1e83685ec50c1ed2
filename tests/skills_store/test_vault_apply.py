"""One change, one commit: files, branch, index and author agree afterwards."""

import os
import stat

import pytest

from skills_store.errors import StoreError
from skills_store.values import Actor
from tests.fakes.skills import REVIEW, YOU, authors, change, git, status, vault, write

FILE = "art/maps/SKILL.md"


def test_a_change_is_a_file_a_commit_and_a_clean_status(tmp_path):
    store = vault(tmp_path / "skills")
    (commit,) = store.apply([change(store.root, {FILE: b"one\n"})])
    assert (store.root / FILE).read_bytes() == b"one\n"
    assert git(store.root, "rev-parse", "HEAD").strip() == commit.commit == store.head()
    assert status(store.root) == ""
    assert not (store.git_dir / "assistant-owed.json").exists()
    assert git(store.root, "for-each-ref", "refs/assistant") == ""


def test_a_commit_tells_its_story_to_plain_git(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    assert git(store.root, "log", "--format=%an <%ae> %cn %aI").strip() == (
        "review <review@assistant.localhost> assistant 2026-03-01T12:00:00+00:00"
    )
    told = git(store.root, "log", "--format=%B").strip().split("\n\n")
    assert told[:2] == ["learn(maps): a change", "the person said so"]
    assert told[2].splitlines() == [
        "Actor: review",
        "Owner: agent",
        "Action: patch",
        "Skill: art/maps",
        "Session: s1",
        "Run: r1",
        "Evidence: 12 15",
        "Origin: own",
    ]


def test_the_same_inputs_give_the_same_commit_ids(tmp_path):
    heads = []
    for place in ("a", "b"):
        store = vault(tmp_path / place)
        store.apply([change(store.root, {FILE: b"one\n"})])
        heads.append(store.head())
    assert heads[0] == heads[1]


def test_a_reason_cannot_forge_trailers(tmp_path):
    store = vault(tmp_path / "skills")
    lie = REVIEW.__class__(Actor.REVIEW, "because\n\nActor: you\nOwner: you")
    (commit,) = store.apply([change(store.root, {FILE: b"one\n"}, lie)])
    (read,) = store.history.read([commit.commit])
    assert (read.actor, read.owner) == ("review", "agent")
    assert "Actor: you" in read.why


def test_edits_by_hand_are_committed_first_as_the_persons(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    write(store.root, FILE, "one\nmine\n")
    write(store.root, "art/maps/references/note.md", "new\n")
    store.apply([change(store.root, {FILE: b"one\nmine\ntheirs\n"})])
    assert authors(store.root) == ["review", "you", "review"]
    assert git(store.root, "show", f"HEAD~1:{FILE}") == "one\nmine\n"
    assert status(store.root) == ""


def test_edits_made_while_a_command_ran_have_an_unknown_author(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    store.hand = lambda: Actor.UNKNOWN
    write(store.root, FILE, "two\n")
    store.apply([change(store.root, {FILE: b"three\n"})])
    assert authors(store.root) == ["review", "unknown", "review"]


def test_a_file_deleted_by_hand_is_the_persons_deletion(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n", "art/maps/references/a.md": b"a\n"})])
    (store.root / "art/maps/references/a.md").unlink()
    store.apply([change(store.root, {FILE: b"two\n"})])
    assert git(store.root, "show", "--format=%an", "--name-status", "HEAD~1").split() == [
        "you", "D", "art/maps/references/a.md",
    ]  # fmt: skip


def test_other_folders_are_left_as_they_are(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    write(store.root, "music/scales/SKILL.md", "draft\n")
    git(store.root, "add", "music")
    store.apply([change(store.root, {FILE: b"two\n"})])
    assert status(store.root) == "A  music/scales/SKILL.md\n"


def test_the_persons_stash_and_staged_edits_stay(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n", "art/maps/references/a.md": b"a\n"})])
    write(store.root, "art/maps/references/a.md", "stashed\n")
    git(store.root, "stash")
    write(store.root, "music/x.md", "staged\n")
    git(store.root, "add", "music/x.md")
    store.apply([change(store.root, {FILE: b"two\n"})])
    assert git(store.root, "stash", "list") != ""
    assert git(store.root, "diff", "--cached", "--name-only").split() == ["music/x.md"]


def test_the_next_plain_commit_of_the_person_reverts_nothing(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    store.apply([change(store.root, {FILE: b"two\n"})])
    write(store.root, "music/x.md", "x\n")
    git(store.root, "add", "music")
    git(store.root, "commit", "-m", "mine")
    assert git(store.root, "show", f"HEAD:{FILE}") == "two\n"


def test_a_stale_base_is_a_conflict_and_writes_nothing(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    old = change(store.root, {FILE: b"two\n"})
    write(store.root, FILE, "by hand\n")
    with pytest.raises(StoreError) as refused:
        store.apply([old])
    assert refused.value.code == "conflict"
    assert (store.root / FILE).read_text() == "by hand\n"


def test_a_stale_base_is_planned_again_under_the_lock(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    old = change(store.root, {FILE: b"two\n"})
    write(store.root, FILE, "by hand\n")
    store.apply([old], lambda: [change(store.root, {FILE: b"by hand\ntwo\n"})])
    assert (store.root / FILE).read_text() == "by hand\ntwo\n"
    assert authors(store.root) == ["review", "you", "review"]


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
def test_modes_are_kept_and_new_files_follow_the_umask(tmp_path, umask):
    store = vault(tmp_path / "skills")
    before = os.umask(umask)
    try:
        place = write(store.root, FILE, "one\n")
        place.chmod(0o664)
        store.apply([change(store.root, {FILE: b"two\n", "art/maps/references/new.md": b"n\n"})])
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o664
    assert stat.S_IMODE((store.root / "art/maps/references/new.md").stat().st_mode) == 0o666 & ~umask


def test_a_script_stays_executable_in_the_folder_and_in_git(tmp_path):
    store = vault(tmp_path / "skills")
    path = "art/maps/scripts/run.sh"
    write(store.root, path, "#!/bin/sh\n").chmod(0o755)
    store.apply([change(store.root, {path: b"#!/bin/sh\necho\n"})])
    assert (store.root / path).stat().st_mode & 0o777 == 0o755
    assert git(store.root, "ls-tree", "HEAD", path).startswith("100755")
    assert status(store.root) == ""


def test_bytes_and_names_reach_git_as_they_are(tmp_path):
    store = vault(tmp_path / "skills")
    odd = 'art/maps/references/배포 "x"\\y.md'
    store.apply([change(store.root, {FILE: b"a\r\nb\r\n", odd: b"\xff\x00bytes"})])
    assert store.history.show(store.head(), odd) == b"\xff\x00bytes"
    assert store.history.show(store.head(), FILE) == b"a\r\nb\r\n"
    assert odd in store.history.log()[0].paths
    assert status(store.root) == ""


def test_emptied_folders_go(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"})])
    store.apply([change(store.root, {FILE: None})])
    assert not (store.root / "art").exists()


def test_many_changes_are_as_many_commits_all_or_none(tmp_path):
    store = vault(tmp_path / "skills")
    first = change(store.root, {FILE: b"one\n"})
    broken = change(store.root, {"art/maps/references/a.md": b"a"})
    write(store.root, "art/maps/references/a.md", "taken\n")
    with pytest.raises(StoreError):
        store.apply([first, broken])
    assert not (store.root / FILE).exists()
    commits = store.apply([first, change(store.root, {"art/maps/references/a.md": b"a"})])
    assert [item.commit for item in commits] == git(store.root, "log", "-2", "--reverse", "--format=%H").split()


def test_what_the_person_told_git_to_ignore_is_left_out(tmp_path):
    store = vault(tmp_path / "skills")
    write(store.root, ".gitignore", "*.tmp\n")
    store.apply([change(store.root, {FILE: b"one\n"})])
    write(store.root, "art/maps/assets/big.tmp", "x")
    write(store.root, "art/maps/scripts/__pycache__/a.pyc", "x")
    store.apply([change(store.root, {FILE: b"two\n"})])
    assert authors(store.root) == ["you", "review", "review"]


def test_a_hand_edit_of_the_whole_tree_can_be_taken_in(tmp_path):
    store = vault(tmp_path / "skills")
    store.apply([change(store.root, {FILE: b"one\n"}, YOU)])
    write(store.root, "music/scales/SKILL.md", "draft\n")
    write(store.root, FILE, "two\n")
    store.take_in()
    assert status(store.root) == ""
    assert [commit.name for commit in store.history.log()[:2]] == ["scales", "maps"]
