"""Two folders and a bare repository between them: what each has reaches the other, and nobody's lines are lost."""

import os
import shutil

import pytest

from skills_store.errors import StoreError
from skills_store.remote import Synced, sync
from tests.fakes.skills import change, git, status, vault, write

FILE = "art/maps/SKILL.md"
OTHER = "art/boats/SKILL.md"
LINES = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


@pytest.fixture
def bare(tmp_path):
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "bare.git")
    return str(tmp_path / "bare.git")


@pytest.fixture
def here(tmp_path, bare):
    store = vault(tmp_path / "here")
    store.apply([change(store.root, {FILE: LINES})])
    assert sync(store, bare) == Synced(0, 1)
    return store


@pytest.fixture
def there(tmp_path, here, bare):
    git(tmp_path, "clone", "--quiet", bare, "there")
    return vault(tmp_path / "there")


def test_an_empty_remote_gets_everything_and_a_second_time_nothing(here, bare):
    assert git(here.root, "--git-dir", bare, "rev-parse", "main").strip() == here.head()
    assert sync(here, bare) == Synced(0, 0)


def test_an_empty_folder_gets_everything(tmp_path, here, bare):
    new = vault(tmp_path / "new")
    assert sync(new, bare) == Synced(1, 0)
    assert (new.root / FILE).read_bytes() == LINES
    assert (new.head(), status(new.root)) == (here.head(), "")


def test_what_the_other_side_made_comes_in_with_its_authors(here, there, bare):
    write(there.root, FILE, b"by hand\n")
    there.apply([change(there.root, {OTHER: b"float\n"})])
    assert sync(there, bare) == Synced(0, 2)
    assert sync(here, bare) == Synced(2, 0)
    assert (here.root / OTHER).read_bytes() == b"float\n"
    assert (here.root / FILE).read_bytes() == b"by hand\n"
    assert here.head() == there.head()
    assert status(here.root) == ""


def test_both_moved_and_git_can_merge(here, there, bare):
    there.apply([change(there.root, {FILE: LINES.replace(b"one", b"ONE"), OTHER: b"float\n"})])
    sync(there, bare)
    mine = here.apply([change(here.root, {FILE: LINES.replace(b"seven", b"SEVEN")})])
    assert sync(here, bare) == Synced(1, 2)
    assert (here.root / FILE).read_bytes() == LINES.replace(b"one", b"ONE").replace(b"seven", b"SEVEN")
    assert git(here.root, "log", "-1", "--format=%an %s %P").split() == [
        *("you", "merge(sync):", "both", "sides", "of", "a", "sync"),
        mine[0].commit,
        there.head(),
    ]
    assert status(here.root) == ""
    assert sync(there, bare) == Synced(2, 0)
    assert there.head() == here.head()
    assert sync(here, bare) == Synced(0, 0)


def test_a_conflict_is_told_and_changes_nothing(here, there, bare):
    there.apply([change(there.root, {FILE: b"theirs\n"})])
    sync(there, bare)
    here.apply([change(here.root, {FILE: b"ours\n"})])
    before = here.head()
    with pytest.raises(StoreError, match="changed in the same lines") as told:
        sync(here, bare)
    assert told.value.code == "conflict"
    assert (here.head(), (here.root / FILE).read_bytes(), status(here.root)) == (before, b"ours\n", "")
    assert git(here.root, "--git-dir", bare, "rev-parse", "main").strip() == there.head()


def test_histories_without_a_common_beginning_stay_apart(tmp_path, here, bare):
    stranger = vault(tmp_path / "stranger")
    stranger.apply([change(stranger.root, {OTHER: b"float\n"})])
    before = stranger.head()
    with pytest.raises(StoreError, match="no common beginning"):
        sync(stranger, bare)
    assert (stranger.head(), status(stranger.root)) == (before, "")


def test_an_edit_by_hand_goes_along_and_is_the_persons(here, there, bare):
    write(here.root, FILE, b"by hand\n")
    assert sync(here, bare) == Synced(0, 1)
    assert sync(there, bare) == Synced(1, 0)
    assert (there.root / FILE).read_bytes() == b"by hand\n"
    assert git(there.root, "log", "-1", "--format=%an").strip() == "you"


def test_a_link_from_the_remote_is_refused(here, there, bare):
    (there.root / "art/passwd").symlink_to("/etc/passwd")
    git(there.root, "add", "-A")
    git(there.root, "commit", "--quiet", "-m", "a link")
    git(there.root, "push", "--quiet", "origin", "main")
    before = here.head()
    with pytest.raises(StoreError, match="art/passwd is a link"):
        sync(here, bare)
    assert (here.head(), (here.root / "art/passwd").exists()) == (before, False)


def test_a_remote_that_is_not_there_is_told(here, tmp_path):
    with pytest.raises(StoreError, match="ls-remote"):
        sync(here, str(tmp_path / "nowhere.git"))


@pytest.mark.parametrize("both_moved", [False, True])
def test_death_at_any_step_is_made_good_by_the_next_writer(tmp_path, here, there, bare, both_moved):
    write(there.root, FILE, LINES.replace(b"one", b"ONE"))
    there.apply([change(there.root, {OTHER: b"float\n"})])
    sync(there, bare)
    if both_moved:
        here.apply([change(here.root, {FILE: LINES.replace(b"seven", b"SEVEN")})])
    ended = []
    for number in range(1, 100):
        root = tmp_path / f"{number}"
        shutil.copytree(here.root, root)
        child = os.fork()
        if child == 0:
            heard: list[str] = []

            def told(step: str, heard: list[str] = heard, number: int = number) -> None:
                heard.append(step)
                if len(heard) == number:
                    os._exit(9)

            sync(vault(root, told), bare)
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        again = vault(root)
        again.recover()
        assert status(root) == ""
        ended.append((root / OTHER).exists())
        assert (root / FILE).read_bytes().startswith(b"ONE" if ended[-1] else b"one")
        if not died:
            break
        sync(again, bare)
        assert (root / OTHER).read_bytes() == b"float\n"
        git(root, "--git-dir", bare, "update-ref", "refs/heads/main", there.head())
    assert ended[0] is False
    assert ended[-1] is True
    assert ended == sorted(ended)
