"""What each action does to files, sidecar and history, for whoever asks."""

import json
from dataclasses import replace

import pytest

from skills_store.change import blob_hash
from skills_store.errors import StoreError
from skills_store.outcome import Applied, Refused
from skills_store.plan import Wish
from tests.fakes.skills import (
    ASSISTANT,
    CURATOR,
    REVIEW,
    YOU,
    authors,
    created,
    git,
    library,
    reader,
    status,
    text,
    write,
)

FILE = "art/maps/SKILL.md"


def sidecar(store):
    return json.loads((store.root / "art/maps/.provenance.json").read_text())


@pytest.mark.parametrize(
    ("cause", "owner"),
    [(YOU, "you"), (ASSISTANT, "you"), (REVIEW, "agent"), (CURATOR, "agent")],
    ids=lambda v: str(v)[:20],
)
def test_a_new_skill_belongs_to_whom_its_maker_works_for(tmp_path, cause, owner):
    store = created(tmp_path / "skills", cause)
    assert store.record("maps").owner == owner
    assert sidecar(store)["maker"] == cause.actor
    assert store.log("maps")[0].owner == owner
    assert status(store.root) == ""


def test_a_skill_without_a_category_goes_to_general(tmp_path):
    store = library(tmp_path / "skills")
    done = store.manage(Wish("create", "maps", content=text()), YOU)
    assert (done.path, done.name) == ("general/maps", "maps")
    assert done.skill_md == str(store.root / "general/maps/SKILL.md")
    assert store.view("general/maps").category == "general"


@pytest.mark.parametrize("name", ["my-skill", "skill123", "my_skill.v2", "a"])
def test_usual_names_are_accepted(tmp_path, name):
    store = library(tmp_path / "skills")
    assert isinstance(store.manage(Wish("create", name, content=text(name)), YOU), Applied)
    assert store.record(name).name == name


@pytest.mark.parametrize("name", ["a b", "a@b", "/etc", "../up", "a/b/c", "UP", "", "x" * 65, "a\u200bb"])
def test_bad_names_are_refused_before_anything_is_made(tmp_path, name):
    store = library(tmp_path / "skills")
    refused = store.manage(Wish("create", name, content=text()), YOU)
    assert isinstance(refused, Refused)
    assert refused.code == "invalid"
    assert not any(tmp_path.rglob("*.md"))


@pytest.mark.parametrize("category", ["../up", "/tmp/x", "..\\up", "a/b", "venv", " art "])
def test_bad_categories_are_refused_before_anything_is_made(tmp_path, category):
    store = library(tmp_path / "skills")
    refused = store.manage(Wish("create", "maps", category=category, content=text()), YOU)
    assert refused.code == "invalid"
    assert not any(tmp_path.rglob("*.md"))


@pytest.mark.parametrize(
    "content",
    ["no header", "---\nname: maps\n", "---\nname: [\n---\nbody\n", "---\nname: maps\n---\nbody\n", text("other")],
)
def test_a_skill_that_could_not_be_read_is_not_written(tmp_path, content):
    store = library(tmp_path / "skills")
    refused = store.manage(Wish("create", "maps", content=content), YOU)
    assert refused.code == "invalid"
    assert store.records() == ()
    assert not (store.root / "general").exists()


def test_a_name_is_taken_in_every_category(tmp_path):
    store = created(tmp_path / "skills")
    refused = store.manage(Wish("create", "maps", category="music", content=text()), YOU)
    assert refused.code == "exists"
    assert "art/maps" in refused.error


def test_a_patch_says_how_it_matched_and_shows_the_difference(tmp_path):
    store = created(tmp_path / "skills")
    wish = Wish("patch", "maps", old_string="2.  Name the  rivers.", new_string="2. Name the rivers and lakes.")
    done = store.manage(wish, YOU)
    assert done.strategy not in ("", "exact")
    assert done.strategy in done.message
    assert "+2. Name the rivers and lakes." in done.diff
    assert done.hashes[FILE] == store.view("maps").hash


@pytest.mark.parametrize(
    ("old", "code"),
    [
        ("3. Nothing like it at all", "no_match"),
        ("a", "ambiguous"),
        ("", "no_match"),
        ("  ", "no_match"),
        (None, "no_match"),
    ],
)
def test_a_patch_that_does_not_fit_writes_nothing(tmp_path, old, code):
    store = created(tmp_path / "skills")
    before = (store.root / FILE).read_bytes()
    for _ in range(3):
        refused = store.manage(Wish("patch", "maps", old_string=old, new_string="x"), YOU)
        assert refused.code == code
    assert (store.root / FILE).read_bytes() == before
    assert len(store.log()) == 1


def test_a_patch_applied_already_is_told_apart(tmp_path):
    store = created(tmp_path / "skills")
    wish = Wish("patch", "maps", old_string="Draw the coast.", new_string="Draw the coast first.")
    assert isinstance(store.manage(wish, YOU), Applied)
    again = store.manage(wish, YOU)
    assert again.code == "no_match"
    assert "applied before" in again.error


def test_line_ends_and_the_mark_of_a_file_are_kept(tmp_path):
    store = created(tmp_path / "skills")
    write(store.root, FILE, b"\xef\xbb\xbf" + text().replace("\n", "\r\n").encode())
    store.manage(Wish("patch", "maps", old_string="Add a scale.", new_string="Add a scale.\n4. Sign it."), YOU)
    kept = (store.root / FILE).read_bytes()
    assert kept.startswith(b"\xef\xbb\xbf---\r\n")
    assert kept.endswith(b"4. Sign it.\r\n")
    assert kept.count(b"\n") == kept.count(b"\r\n")


@pytest.mark.parametrize(
    "path",
    ["SKILL.md", "references/SKILL.md", "../x.md", "references/../../x", "references/../../../etc/passwd", "notes.md",
     ".provenance.json", "references/.provenance.json", "/etc/x", "references", "references/a\u202eb.md"],
)  # fmt: skip
@pytest.mark.parametrize("action", ["write_file", "remove_file"])
def test_support_files_live_in_four_folders_and_are_nothing_else(tmp_path, action, path):
    store = created(tmp_path / "skills")
    refused = store.manage(Wish(action, "maps", file_path=path, file_content="x"), YOU)
    assert refused.code == "invalid"
    assert len(store.log()) == 1


def test_support_files_come_change_and_go(tmp_path):
    store = created(tmp_path / "skills")
    path = "references/places.md"
    store.manage(Wish("write_file", "maps", file_path=path, file_content="one\n"), YOU)
    store.manage(Wish("patch", "maps", file_path=path, old_string="one", new_string="two"), YOU)
    assert store.view("maps", path).content == "two\n"
    assert store.view("maps").files == (path,)
    store.manage(Wish("remove_file", "maps", file_path=path), YOU)
    assert not (store.root / "art/maps/references").exists()
    assert store.manage(Wish("remove_file", "maps", file_path=path), YOU).code == "not_found"
    assert status(store.root) == ""


def test_a_new_script_that_names_its_interpreter_can_be_run(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("write_file", "maps", file_path="scripts/a.sh", file_content="#!/bin/sh\n"), YOU)
    store.manage(Wish("write_file", "maps", file_path="scripts/a.sh", file_content="#!/bin/sh\nls\n"), YOU)
    assert (store.root / "art/maps/scripts/a.sh").stat().st_mode & 0o100


LACKING = [Wish("create", "new"), Wish("edit", "maps"), Wish("remove_file", "maps"), Wish("fly", "maps")]
LACKING += [Wish("write_file", "maps", file_path="references/a.md")]


@pytest.mark.parametrize("wish", LACKING, ids=lambda wish: wish.action)
def test_a_missing_argument_is_named(tmp_path, wish):
    store = created(tmp_path / "skills")
    assert store.manage(wish, YOU).code == "invalid"
    assert len(store.log()) == 1


@pytest.mark.parametrize(
    "action", ["edit", "patch", "write_file", "remove_file", "delete", "archive", "restore", "pin", "adopt"]
)
def test_an_unknown_skill_is_not_found(tmp_path, action):
    store = created(tmp_path / "skills")
    wish = Wish(
        action, "mapz", content=text(), file_path="references/a.md", file_content="x", old_string="a", new_string="b"
    )
    assert store.manage(wish, YOU).code == "not_found"


def test_your_delete_takes_everything_and_undo_brings_it_back(tmp_path):
    store = created(tmp_path / "skills")
    done = store.manage(Wish("delete", "maps"), YOU)
    assert not (store.root / "art").exists()
    assert isinstance(store.undo(done.commit, YOU), Applied)
    assert store.record("maps").owner == "agent"
    assert status(store.root) == ""


def test_a_delete_by_review_archives_and_remembers_what_took_it_in(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("create", "atlas", category="art", content=text("atlas", "Use for whole atlases")), REVIEW)
    bare = store.manage(Wish("delete", "maps"), REVIEW, reader(store))
    itself = store.manage(Wish("delete", "maps", absorbed_into="maps"), REVIEW, reader(store))
    nowhere = store.manage(Wish("delete", "maps", absorbed_into="nowhere"), REVIEW, reader(store))
    assert [bare.code, itself.code, nowhere.code] == ["invalid", "invalid", "not_found"]
    done = store.manage(Wish("delete", "maps", absorbed_into="atlas"), REVIEW, reader(store))
    assert done.action == "archive"
    kept = json.loads((store.root / ".archive/art/maps/.provenance.json").read_text())
    assert (kept["state"], kept["absorbed_into"], kept["owner"]) == ("archived", "atlas", "agent")
    assert [record.name for record in store.records()] == ["atlas"]
    assert [hit.record.name for hit in store.search("maps", archived=True)] == ["maps"]


def test_a_restored_skill_comes_back_whole_into_its_category(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("write_file", "maps", file_path="scripts/a.sh", file_content="#!/bin/sh\n"), YOU)
    store.manage(Wish("archive", "maps"), CURATOR)
    assert store.records() == ()
    store.manage(Wish("restore", "maps"), YOU)
    assert (store.root / "art/maps/scripts/a.sh").stat().st_mode & 0o100
    assert sidecar(store)["state"] == "active"
    assert not (store.root / ".archive").exists()
    assert status(store.root) == ""


def test_nothing_is_restored_over_a_new_skill_of_the_name(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("archive", "maps"), YOU)
    store.manage(Wish("create", "maps", category="music", content=text()), YOU)
    assert store.manage(Wish("restore", "maps"), YOU).code == "exists"
    assert isinstance(store.manage(Wish("archive", "maps"), YOU), Applied)
    assert len(list((store.root / ".archive").rglob("SKILL.md"))) == 2


def test_an_archived_name_made_anew_inherits_nothing(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("pin", "maps", pin="keep"), YOU)
    store.manage(Wish("unpin", "maps"), YOU)
    store.manage(Wish("delete", "maps"), YOU)
    store.manage(Wish("create", "maps", category="art", content=text()), YOU)
    assert (store.record("maps").owner, store.record("maps").pin) == ("you", "")


def test_a_rename_takes_the_header_along(tmp_path):
    store = created(tmp_path / "skills")
    done = store.manage(Wish("rename", "maps", new_name="charts", category="sea"), YOU)
    assert done.path == "sea/charts"
    assert store.view("charts").content == text().replace("name: maps", "name: charts")
    assert store.record("charts").warnings == store.record("charts").warnings
    assert not (store.root / "art").exists()
    assert [commit.name for commit in store.log("charts")] == ["charts", "maps"]
    assert status(store.root) == ""


def test_pins_adoption_and_release_are_the_persons(tmp_path):
    store = created(tmp_path / "skills", YOU)
    for action in ("pin", "adopt", "release", "rename"):
        assert store.manage(Wish(action, "maps", new_name="x"), ASSISTANT).code == "ownership"
    store.manage(Wish("adopt", "maps"), YOU)
    assert (store.record("maps").owner, store.record("maps").adopted) == ("agent", True)
    store.manage(Wish("release", "maps"), YOU)
    assert (store.record("maps").owner, store.record("maps").adopted) == ("you", False)
    assert store.manage(Wish("release", "maps"), YOU).code == "no_match"


def test_a_skill_that_lies_there_without_a_sidecar_is_yours(tmp_path):
    store = library(tmp_path / "skills")
    write(store.root, FILE, text())
    wish = Wish("patch", "maps", old_string="Draw", new_string="Sketch")
    for _ in range(2):
        assert store.manage(wish, REVIEW, reader(store)).code == "ownership"
    assert isinstance(store.manage(wish, YOU), Applied)
    assert not (store.root / "art/maps/.provenance.json").exists()
    store.manage(Wish("adopt", "maps"), YOU)
    allowed = store.manage(
        Wish("write_file", "maps", file_path="references/a.md", file_content="a"), REVIEW, reader(store)
    )
    assert isinstance(allowed, Applied)


def test_a_hand_edit_of_the_sidecar_is_listed_at_once_by_everybody(tmp_path):
    store = created(tmp_path / "skills")
    assert store.record("maps").pin == ""
    write(store.root, "art/maps/.provenance.json", '{"owner": "agent", "pin": "frozen"}')
    assert [store.record("maps").pin, library(store.root).record("maps").pin] == ["frozen", "frozen"]
    wish = Wish("patch", "maps", old_string="Draw", new_string="Sketch")
    assert store.manage(wish, REVIEW, reader(store)).code == "pinned"


def test_a_damaged_sidecar_stops_automatic_writers_and_is_never_written_over(tmp_path):
    store = created(tmp_path / "skills")
    damaged = write(store.root, "art/maps/.provenance.json", '{"owner": "agent", "pin":')
    wish = Wish("patch", "maps", old_string="Draw", new_string="Sketch")
    assert store.manage(wish, REVIEW, reader(store)).code == "ownership"
    assert isinstance(store.manage(wish, YOU), Applied)
    refused = store.manage(Wish("pin", "maps"), YOU)
    assert "cannot be read" in refused.error
    assert damaged.read_text() == '{"owner": "agent", "pin":'


AMBIGUOUS = {
    "record": lambda store: store.record("maps"),
    "view": lambda store: store.view("maps"),
    "why": lambda store: store.why("maps"),
    "export": lambda store: store.export("maps", store.root.parent / "out"),
    "take_in": lambda store: store.take_in("maps"),
}


@pytest.mark.parametrize("ask", AMBIGUOUS)
@pytest.mark.parametrize("second", ["skills/music/maps", "shared/music/maps"])
def test_the_same_name_twice_is_ambiguous_on_every_surface(tmp_path, ask, second):
    store = created(tmp_path / "skills", YOU, external_dirs=(tmp_path / "shared",))
    write(tmp_path, f"{second}/SKILL.md", text())
    with pytest.raises(StoreError, match=r"art/maps.*music/maps") as refused:
        AMBIGUOUS[ask](store)
    assert (refused.value.code, refused.value.hint) == ("ambiguous", "say category/name")
    assert store.view("art/maps").path == FILE


@pytest.mark.parametrize("second", ["skills/music/maps", "shared/music/maps"])
def test_no_change_guesses_which_of_two_is_meant(tmp_path, second):
    store = created(tmp_path / "skills", YOU, external_dirs=(tmp_path / "shared",))
    write(tmp_path, f"{second}/SKILL.md", text())
    wishes = [Wish(action, "maps", old_string="Draw", new_string="Sketch") for action in ("patch", "pin", "archive")]
    assert [store.manage(wish, YOU).code for wish in wishes] == ["ambiguous"] * 3
    assert isinstance(store.manage(replace(wishes[0], name="art/maps"), YOU), Applied)
    assert (tmp_path / second / "SKILL.md").read_text() == text()
    assert "- art/maps:" in store.index()
    assert "- music/maps:" in store.index()


def test_a_past_that_had_two_of_a_name_is_asked_which(tmp_path):
    store = created(tmp_path / "skills", YOU)
    write(store.root, "music/maps/SKILL.md", text())
    store.take_in()
    with pytest.raises(StoreError, match=r"art/maps.*music/maps"):
        store.show_at("maps", store.vault.head())
    assert store.show_at("music/maps", store.vault.head()) == text()


def test_an_edit_by_hand_between_two_changes_is_its_own_commit(tmp_path):
    store = created(tmp_path / "skills")
    write(store.root, FILE, text().replace("scale", "compass"))
    store.manage(Wish("write_file", "maps", file_path="references/a.md", file_content="a"), REVIEW)
    assert authors(store.root) == ["review", "you", "review"]
    assert [commit.action for commit in store.log("maps")] == ["write_file", "hand", "create"]


def test_disabled_broken_and_foreign_skills_are_refused_with_the_reason(tmp_path):
    store = created(tmp_path / "skills", YOU, disabled=frozenset({"maps"}))
    write(store.root, "art/mac/SKILL.md", text("mac").replace("\n---\n", "\nplatforms: [macos]\n---\n", 1))
    write(store.root, "art/bad/SKILL.md", "nothing")
    for name, why in (("maps", "disabled"), ("mac", "macos"), ("bad", "broken")):
        with pytest.raises(StoreError, match=why):
            store.view(name)
    assert store.index() == ""
    assert store.offered() == {}


def test_what_is_offered_is_what_a_conversation_may_use(tmp_path):
    store = created(tmp_path / "skills", YOU, disabled=frozenset({"off"}))
    write(store.root, "art/off/SKILL.md", text("off"))
    store.manage(Wish("create", "songs", category="music", content=text("songs", "Use when singing")), YOU)
    store.manage(Wish("archive", "songs"), YOU)
    assert store.offered() == {"maps": "Use when drawing maps"}


def test_many_steps_are_one_transaction_of_as_many_commits(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("create", "songs", category="music", content=text("songs", "Use when singing")), REVIEW)
    outcomes = store.run_all(
        [(Wish("stale", "maps"), CURATOR), (Wish("stale", "nowhere"), CURATOR), (Wish("archive", "songs"), CURATOR)]
    )
    assert [type(item).__name__ for item in outcomes] == ["Applied", "Refused", "Applied"]
    assert store.record("maps").state == "stale"
    assert git(store.root, "log", "-2", "--format=%s").splitlines() == [
        "archive(songs): to .archive/music/songs",
        "learn(maps): mark stale",
    ]


def test_the_mark_of_the_library_moves_with_every_hand(tmp_path):
    store = created(tmp_path / "skills")
    marks = [store.generation()]
    library(store.root).manage(Wish("pin", "maps"), YOU)
    marks.append(store.generation())
    write(store.root, FILE, text(about="Use when drawing charts"))
    marks.append(store.generation())
    assert len(set(marks)) == 3
    assert store.generation() == marks[2]


def test_a_step_sees_what_those_before_it_did(tmp_path):
    store = created(tmp_path / "skills")
    store.manage(Wish("create", "songs", category="music", content=text("songs", "Use when singing")), REVIEW)
    body = text("atlas", "Use for whole atlases")
    steps = [
        Wish("create", "atlas", category="books", content=body),
        Wish("write_file", "atlas", file_path="references/maps.md", file_content="one\n"),
        Wish("patch", "atlas", file_path="references/maps.md", old_string="one", new_string="two"),
        Wish("create", "atlas", content=body),
        Wish("delete", "maps", absorbed_into="atlas"),
        Wish("patch", "maps", old_string="Draw", new_string="Sketch"),
        Wish("restore", "maps"),
    ]
    seen = {"books/atlas/references/maps.md": blob_hash(b"one\n")}
    outcomes = store.run_all([(wish, CURATOR) for wish in steps], seen.get)
    told = [getattr(item, "code", "done") for item in outcomes]
    assert told == ["done", "done", "done", "exists", "done", "not_found", "done"]
    assert store.view("atlas", "references/maps.md").content == "two\n"
    assert store.view("maps").content == text()
    assert git(store.root, "rev-list", "--count", "HEAD").strip() == "7"
    assert status(store.root) == ""
