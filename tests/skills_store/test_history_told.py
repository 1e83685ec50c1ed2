"""Explaining and undoing: the log, the lines, one change taken back."""

import pytest

from skills_store.errors import StoreError
from skills_store.outcome import Applied, Refused, Staged
from skills_store.plan import Wish
from skills_store.values import Cause
from tests.fakes.skills import REVIEW, YOU, created, git, library, reader, status, text, write

FILE = "art/maps/SKILL.md"


def patched(store, old, new, cause=REVIEW):
    return store.manage(Wish("patch", "maps", old_string=old, new_string=new), cause, reader(store))


def test_the_log_tells_the_story_newest_first(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("create", "songs", content=text("songs", "Use when singing")), YOU)
    patched(store, "Add a scale.", "Add a scale bar.")
    told = store.log()
    assert [(commit.name, commit.action, commit.actor) for commit in told] == [
        ("maps", "patch", "review"),
        ("songs", "create", "you"),
        ("maps", "create", "review"),
    ]
    assert (told[0].why, told[0].session, told[0].run, told[0].evidence) == ("the person said so", "s1", "r1", (12, 15))
    assert told[0].when.isoformat().startswith("2026-03-01T12:00")
    assert [commit.name for commit in store.log("songs")] == ["songs"]
    assert len(store.log(limit=1)) == 1


def test_an_empty_store_has_an_empty_log(tmp_path):
    assert library(tmp_path / "skills").log() == ()
    assert library(tmp_path / "skills").pending() == ()
    assert library(tmp_path / "skills").records() == ()
    assert not (tmp_path / "skills").exists()


def test_the_log_of_a_skill_follows_it_into_the_archive_and_past_its_end(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("archive", "maps"), YOU)
    store.manage(Wish("restore", "maps"), YOU)
    store.manage(Wish("delete", "maps"), YOU)
    assert [commit.action for commit in store.log("maps")] == ["delete", "restore", "archive", "create"]


def test_what_the_person_did_with_plain_git_is_understood(tmp_path):
    store = created(tmp_path / "skills")
    done = patched(store, "Add a scale.", "Add a scale bar.")
    git(store.root, "revert", "--no-edit", done.commit)
    (reverted, *_rest) = store.log("maps")
    assert (reverted.actor, reverted.action, reverted.name) == ("you", "hand", "maps")
    assert "scale bar" not in store.view("maps").content


def test_each_line_names_the_words_that_taught_it(tmp_path):
    store = created(tmp_path / "skills", YOU)
    store.manage(Wish("adopt", "maps"), YOU)
    taught = patched(store, "Add a scale.", "Add a scale.\n4. Sign it.")
    write(store.root, FILE, store.view("maps").content + "5. By hand.\n")
    lines = store.why("maps")
    told = {line.text: line for line in lines}
    assert told["4. Sign it."].commit == taught.commit
    assert (told["4. Sign it."].actor, told["4. Sign it."].run, told["4. Sign it."].evidence) == (
        "review",
        "r1",
        (12, 15),
    )
    assert told["1. Draw the coast."].actor == "you"
    assert (told["5. By hand."].actor, told["5. By hand."].commit) == ("you", "")
    assert store.why("maps", told["4. Sign it."].line) == (told["4. Sign it."],)
    with pytest.raises(StoreError, match="lines, not 99"):
        store.why("maps", 99)


def test_a_renamed_skills_lines_keep_their_teachers(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("rename", "maps", new_name="charts"), YOU)
    actors = {line.text: line.actor for line in store.why("charts")}
    assert actors["1. Draw the coast."] == "review"
    assert actors["name: charts"] == "you"


def test_a_skill_as_it_was(tmp_path):
    store = created(tmp_path / "skills")
    first = store.log()[0].commit
    patched(store, "Add a scale.", "Add a scale bar.")
    store.manage(Wish("archive", "maps"), YOU)
    assert store.show_at("maps", first[:8]) == text()
    assert "scale bar" in store.show_at("art/maps", store.vault.head())
    with pytest.raises(StoreError, match="no skill"):
        store.show_at("songs", first)


@pytest.mark.parametrize("revision", ["HEAD", "main", "--all", "0" * 40, "zz", "", "abc", "HEAD:art"])
def test_only_ids_of_commits_are_looked_up(tmp_path, revision):
    store = created(tmp_path / "skills")
    with pytest.raises(StoreError) as refused:
        store.diff(revision)
    assert refused.value.code == "not_found"


def test_the_difference_of_a_commit_is_gits_own(tmp_path):
    store = created(tmp_path / "skills")
    done = patched(store, "Add a scale.", "Add a scale bar.")
    assert "\n-3. Add a scale.\n+3. Add a scale bar.\n" in store.diff(done.commit)


def test_undo_takes_one_change_back_and_keeps_later_ones(tmp_path):
    store = created(tmp_path / "skills")
    wrong = patched(store, "Draw the coast.", "Draw the coast in red.")
    patched(store, "Add a scale.", "Add a scale bar.")
    done = store.undo(wrong.commit[:10], YOU)
    assert isinstance(done, Applied)
    assert store.view("maps").content == text().replace("Add a scale.", "Add a scale bar.")
    assert (
        git(store.root, "log", "-1", "--format=%an %s").strip()
        == f"you undo(maps): {wrong.commit[:10]} learn(maps): patch SKILL.md"
    )
    assert status(store.root) == ""


def test_an_undo_can_be_undone(tmp_path):
    store = created(tmp_path / "skills")
    done = patched(store, "Draw the coast.", "Draw the coast in red.")
    undone = store.undo(done.commit, YOU)
    store.undo(undone.commit, YOU)
    assert "in red" in store.view("maps").content


def test_an_undo_in_conflict_is_shown_and_not_guessed(tmp_path):
    store = created(tmp_path / "skills")
    wrong = patched(store, "Draw the coast.", "Draw the coast in red.")
    patched(store, "in red", "in dark red")
    refused = store.undo(wrong.commit, YOU)
    assert isinstance(refused, Refused)
    assert refused.code == "conflict"
    assert "<<<<<<< today\n1. Draw the coast in dark red.\n" in refused.shown
    assert "=======\n1. Draw the coast.\n>>>>>>> wanted\n" in refused.shown
    assert "dark red" in store.view("maps").content


def test_undoing_what_is_gone_already_says_so(tmp_path):
    store = created(tmp_path / "skills")
    done = patched(store, "Draw the coast.", "Draw the coast in red.")
    store.undo(done.commit, YOU)
    assert store.undo(done.commit, YOU).code == "no_match"


def test_undoing_a_creation_removes_the_skill_even_if_it_was_pinned_since(tmp_path):
    store = created(tmp_path / "skills")
    first = store.log()[0].commit
    store.manage(Wish("stale", "maps"), Cause(REVIEW.actor.CURATOR, "idle"))
    assert isinstance(store.undo(first, YOU), Applied)
    assert not (store.root / "art").exists()


def test_undoing_an_archive_brings_the_skill_back(tmp_path):
    store = created(tmp_path / "skills")
    done = store.manage(Wish("archive", "maps"), Cause(REVIEW.actor.CURATOR, "idle"))
    store.undo(done.commit, YOU)
    assert store.record("maps").state == "active"
    assert not (store.root / ".archive").exists()


def test_undoing_a_hand_edit_and_the_very_first_commit(tmp_path):
    root = tmp_path / "skills"
    write(root, FILE, text())
    store = library(root)
    store.manage(Wish("patch", "maps", old_string="Add a scale.", new_string="Add a bar."), YOU)
    write(root, FILE, store.view("maps").content + "More.\n")
    store.take_in("maps")
    assert isinstance(store.undo(store.log()[0].commit, YOU), Applied)
    assert "More." not in store.view("maps").content


def test_a_receipt_finds_what_a_call_did(tmp_path):
    store = created(tmp_path / "skills")
    cause = Cause(REVIEW.actor, "why", "s", "r", "r/call_7", REVIEW.evidence)
    done = patched(store, "Add a scale.", "Add a bar.", cause)
    found = library(store.root).receipt("r/call_7")
    assert (found.commit, found.name, found.hashes) == (done.commit, "maps", done.hashes)
    assert library(store.root).receipt("r/call_") is None
    assert library(store.root).receipt("") is None


def test_a_receipt_of_a_staged_change_says_that_it_waits(tmp_path):
    store = library(tmp_path / "skills", write_approval="all")
    write(store.root, "songs.md", "x")
    staged = store.manage(
        Wish("create", "maps", content=text()), Cause(REVIEW.actor, "w", call="c9", evidence=REVIEW.evidence)
    )
    found = library(store.root).receipt("c9")
    assert isinstance(found, Staged)
    assert found.id == staged.id


def test_the_whole_history_fits_in_one_file(tmp_path):
    store = created(tmp_path / "skills")
    store.vault.bundle(tmp_path / "all.bundle")
    git(tmp_path, "clone", "-q", "-b", "main", str(tmp_path / "all.bundle"), "copy")
    assert (tmp_path / "copy" / FILE).read_text() == text()


def test_the_log_follows_a_rename_out_of_a_category_that_is_gone(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("rename", "maps", new_name="charts", category="sea"), YOU)
    assert [commit.action for commit in store.log("charts")] == ["rename", "create"]
    assert [commit.action for commit in store.log("sea/charts")] == ["rename", "create"]
    assert [commit.action for commit in store.log("maps")] == ["rename", "create"]
