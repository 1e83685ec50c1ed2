"""What waits for the person: staged whole, shown as a diff, approved on today's files, turned down for good."""

import json
from dataclasses import replace

import pytest

from skills_store.errors import StoreError
from skills_store.outcome import Applied, Refused, Staged
from skills_store.plan import Wish
from skills_store.values import Evidence, Origin
from tests.fakes.skills import ASSISTANT, REVIEW, YOU, authors, created, git, library, reader, status, text, write

FILE = "art/maps/SKILL.md"
UNTRUSTED = replace(REVIEW, evidence=(Evidence(4, "the page said", Origin.UNTRUSTED),))
PATCH = Wish("patch", "maps", old_string="Add a scale.", new_string="Add a scale bar.")


def waiting(root, wish=PATCH, cause=UNTRUSTED):
    """A library with the skill and one change that waits."""
    store = created(root)
    return store, store.manage(wish, cause, reader(store))


def test_a_staged_change_is_told_shown_and_not_yet_there(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    assert isinstance(staged, Staged)
    assert "not saved yet" in staged.message
    assert "bar" not in (store.root / FILE).read_text()
    (item,) = library(store.root).pending()
    assert (item.id, item.name, item.action, item.actor, item.conflict) == (staged.id, "maps", "patch", "review", False)
    assert (item.why, item.run, item.session, item.evidence) == ("the person said so", "r1", "s1", (4,))
    assert "+3. Add a scale bar." in item.diff
    assert status(store.root) == ""
    assert len(store.log()) == 1


def test_an_approved_change_keeps_its_actor_and_says_who_approved(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    done = store.approve(staged.id, YOU)
    assert isinstance(done, Applied)
    assert "scale bar" in (store.root / FILE).read_text()
    (commit, _first) = store.log()
    assert (commit.actor, commit.owner, commit.evidence, commit.origin) == ("review", "agent", (4,), "untrusted")
    assert commit.trailers["Approved-By"] == "you"
    assert store.pending() == ()
    assert git(store.root, "for-each-ref", "refs/pending") == ""
    assert status(store.root) == ""


def test_an_approved_new_skill_belongs_to_the_agent_and_can_be_learned_on(tmp_path):
    store = library(tmp_path / "skills", write_approval="learning")
    staged = store.manage(Wish("create", "maps", category="art", content=text()), REVIEW)
    assert store.records() == ()
    store.approve(staged.id, YOU)
    assert store.record("maps").owner == "agent"
    free = library(store.root)
    assert isinstance(free.manage(PATCH, REVIEW, reader(free)), Applied)


def test_approval_merges_when_the_file_moved_on(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    write(store.root, FILE, text().replace("Draw the coast.", "Draw the coast in ink."))
    store.manage(Wish("pin", "maps", pin="keep"), YOU)
    assert isinstance(store.approve(staged.id, YOU), Applied)
    assert "in ink" in (store.root / FILE).read_text()
    assert "scale bar" in (store.root / FILE).read_text()
    assert json.loads((store.root / "art/maps/.provenance.json").read_text())["pin"] == "keep"
    assert authors(store.root) == ["review", "you", "you", "review"]


def test_a_conflict_is_shown_and_changes_nothing(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    write(store.root, FILE, text().replace("Add a scale.", "Never add a scale."))
    (item,) = store.pending()
    assert item.conflict is True
    refused = store.approve(staged.id, YOU)
    assert refused.code == "conflict"
    assert "Never" in (store.root / FILE).read_text()
    assert [item.id for item in store.pending()] == [staged.id]


def test_the_guards_look_again_at_todays_files(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    store.manage(Wish("pin", "maps"), YOU)
    assert store.approve(staged.id, YOU).code == "pinned"
    store.manage(Wish("unpin", "maps"), YOU)
    store.manage(Wish("release", "maps"), YOU)
    assert store.approve(staged.id, YOU).code == "ownership"


def test_a_name_taken_meanwhile_is_a_conflict(tmp_path):
    store = library(tmp_path / "skills", write_approval="learning")
    staged = store.manage(Wish("create", "maps", category="art", content=text()), REVIEW)
    store.manage(Wish("create", "maps", category="sea", content=text()), YOU)
    assert store.approve(staged.id, YOU).code == "conflict"


def test_a_file_for_a_new_skill_that_still_waits_waits_with_it(tmp_path):
    store = library(tmp_path / "skills", write_approval="learning")
    made = store.manage(Wish("create", "maps", category="art", content=text()), REVIEW)
    note = Wish("write_file", "maps", file_path="references/inks.md", file_content="Inks.\n")
    beside = store.manage(note, REVIEW)
    assert isinstance(beside, Staged)
    assert store.manage(replace(note, file_path="../x"), REVIEW).code == "invalid"
    assert store.manage(replace(note, name="songs"), REVIEW).code == "not_found"
    early = store.approve(beside.id, YOU)
    assert (early.code, early.hint) == ("conflict", "approve the new skill first")
    assert not (store.root / "art").exists()
    assert isinstance(store.approve(made.id, YOU), Applied)
    assert isinstance(store.approve(beside.id, YOU), Applied)
    assert store.view("maps", "references/inks.md").content == "Inks.\n"
    assert (store.record("maps").owner, status(store.root)) == ("agent", "")


def test_a_bad_request_is_refused_before_staging(tmp_path):
    store = library(tmp_path / "skills", write_approval="all")
    for wish in (Wish("create", "maps", content="no header"), Wish("write_file", "maps", file_path="references/a.md")):
        assert isinstance(store.manage(wish, ASSISTANT), Refused)
    assert store.pending() == ()


def test_the_same_proposal_waits_once(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    assert store.manage(PATCH, UNTRUSTED, reader(store)).id == staged.id
    assert len(store.pending()) == 1


def test_a_rejection_is_remembered_with_its_reason(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    store.reject(staged.id, "scales are\nfine as they are", YOU)
    assert store.pending() == ()
    again = library(store.root).manage(PATCH, REVIEW, reader(store))
    assert isinstance(again, Refused)
    assert "scales are fine as they are" in again.error
    assert isinstance(store.manage(PATCH, YOU), Applied)


def test_a_rejection_holds_when_other_lines_moved_on(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    store.reject(staged.id, "scales are fine", YOU)
    write(store.root, FILE, text().replace("Draw the coast.", "Draw the coast in ink.\n1b. Rest."))
    assert store.manage(PATCH, REVIEW, reader(store)).code == "conflict"
    other = replace(PATCH, new_string="Add two scales.")
    assert isinstance(store.manage(other, REVIEW, reader(store)), Applied)


def test_a_rejected_new_skill_is_not_proposed_again_at_another_time(tmp_path):
    store = library(tmp_path / "skills", write_approval="learning")
    wish = Wish("create", "maps", category="art", content=text())
    store.reject(store.manage(wish, REVIEW).id, "", YOU)
    store.vault.clock()
    assert store.manage(wish, REVIEW).code == "conflict"
    assert isinstance(store.manage(replace(wish, content=text() + "4. More.\n"), REVIEW), Staged)


@pytest.mark.parametrize("number", ["../../victim", "chg_1/..", "", "a b", "heads/main", "-x", "x" * 65, "chg_99"])
def test_no_id_reaches_a_path(tmp_path, number):
    store, _staged = waiting(tmp_path / "skills")
    victim = write(store.root, ".git/victim", "stay")
    assert store.approve(number, YOU).code == "not_found"
    with pytest.raises(StoreError) as refused:
        store.reject(number, "no", YOU)
    assert refused.value.code == "not_found"
    assert victim.exists()
    assert len(store.pending()) == 1


def test_an_answer_is_given_once(tmp_path):
    store, staged = waiting(tmp_path / "skills")
    store.approve(staged.id, YOU)
    assert store.approve(staged.id, YOU).code == "not_found"


def test_many_wait_in_order_and_survive_packing(tmp_path):
    store = created(tmp_path / "skills")
    for number in range(3):
        wish = Wish("write_file", "maps", file_path=f"references/{number}.md", file_content=f"{number}\n")
        store.manage(wish, UNTRUSTED)
    git(store.root, "pack-refs", "--all")
    fresh = library(store.root)
    assert [item.diff.splitlines()[-1] for item in fresh.pending()] == ["+0", "+1", "+2"]
    for item in fresh.pending():
        assert isinstance(fresh.approve(item.id, YOU), Applied)
    assert sorted(fresh.view("maps").files) == [f"references/{number}.md" for number in range(3)]


def test_your_lines_wait_and_its_own_lines_do_not(tmp_path):
    store = created(tmp_path / "skills")
    write(store.root, FILE, text().replace("Name the rivers.", "Name the rivers in blue."))
    mine = Wish("patch", "maps", old_string="in blue", new_string="in red")
    own = Wish("patch", "maps", old_string="Add a scale.", new_string="Add a scale bar.")
    added = Wish("patch", "maps", old_string="Draw the coast.\n", new_string="Draw the coast.\n1b. Rest.\n")
    for wish, kind in ((mine, Staged), (own, Applied), (added, Applied), (mine, Staged)):
        assert isinstance(store.manage(wish, REVIEW, reader(store)), kind)
    assert "1 line(s) that you wrote" in store.manage(mine, REVIEW, reader(store)).message


def test_a_line_that_the_person_committed_with_plain_git_is_theirs(tmp_path):
    store = created(tmp_path / "skills")
    write(store.root, FILE, text().replace("Name the rivers.", "Name the rivers in blue."))
    git(store.root, "commit", "-qam", "mine")
    wish = Wish("patch", "maps", old_string="in blue", new_string="in red")
    assert isinstance(store.manage(wish, REVIEW, reader(store)), Staged)


WAITS = [("false", REVIEW, Applied), ("learning", REVIEW, Staged), ("learning", ASSISTANT, Applied)]
WAITS += [("all", ASSISTANT, Staged), ("true", ASSISTANT, Staged), ("all", YOU, Applied)]


@pytest.mark.parametrize(("approval", "cause", "kind"), WAITS)
def test_whom_the_setting_makes_wait(tmp_path, approval, cause, kind):
    store = library(tmp_path / "skills", write_approval=approval)
    assert isinstance(store.manage(Wish("create", "maps", content=text()), cause), kind)


def test_an_unknown_setting_is_an_error_and_not_off(tmp_path):
    with pytest.raises(ValueError, match="write_approval"):
        library(tmp_path / "skills", write_approval="maybe")
