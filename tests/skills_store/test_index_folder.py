"""The index sees what is there now, names what is wrong, never leads out, and reads only what changed."""

import json
import os
import shutil
from pathlib import Path

import pytest

from skills_store.entry import MISSPELLED, UNREADABLE_SIDECAR
from skills_store.index import KEPT, NOTHING, Index, Snapshot, find, load, save, scan_folder


def much_later() -> int:
    return 2**62


def write(root: Path, path: str, description: str = "Use it", **sidecar: object) -> Path:
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: {description}\n---\nBody\n", "utf-8")
    if sidecar:
        (folder / ".provenance.json").write_text(json.dumps(sidecar))
    return folder


def look(root: Path, last: Snapshot = NOTHING, generation: str = "") -> Snapshot:
    return scan_folder(root, last, generation, now_ns=much_later)


def test_skills_come_in_order_with_what_their_sidecars_say(tmp_path: Path):
    write(tmp_path, "web/zeta", owner="agent", pin="frozen", state="stale", adopted=True)
    write(tmp_path, "web/alpha")
    write(tmp_path, "data/mid", owner="bundled")
    rows = [(e.identity, e.owner, e.pin, e.state, e.adopted) for e in look(tmp_path).entries]
    assert rows == [
        ("data/mid", "bundled", "", "active", False),
        ("web/alpha", "you", "", "active", False),
        ("web/zeta", "agent", "frozen", "stale", True),
    ]


def test_no_folder_and_an_empty_folder_have_no_skills(tmp_path: Path):
    assert look(tmp_path / "none").entries == look(tmp_path).entries == ()


def test_an_unchanged_folder_gives_the_very_same_look(tmp_path: Path):
    write(tmp_path, "web/a", owner="agent")
    first = look(tmp_path)
    assert look(tmp_path, first) is first


def test_a_hand_edit_in_place_of_the_same_length_and_time_is_seen(tmp_path: Path):
    file = write(tmp_path, "web/a", "Use one") / "SKILL.md"
    before = file.stat()
    first = look(tmp_path)
    with file.open("r+b") as opened:
        opened.seek(file.read_bytes().index(b"one"))
        opened.write(b"two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [e.description for e in look(tmp_path, first).entries] == ["Use two"]


def test_a_file_written_in_the_moment_of_the_look_is_read_again(tmp_path: Path):
    write(tmp_path, "web/a")
    first = scan_folder(tmp_path)
    assert scan_folder(tmp_path, first).fresh == 1
    assert look(tmp_path, look(tmp_path, first)).fresh == 1


def test_only_what_changed_is_read(tmp_path: Path):
    for name in "abc":
        write(tmp_path, f"web/{name}")
    first = look(tmp_path)
    write(tmp_path, "web/b", "Use another")
    write(tmp_path, "web/d")
    second = look(tmp_path, first)
    assert (first.fresh, second.fresh, len(second.entries)) == (3, 2, 4)


def test_a_skill_that_goes_and_a_category_that_goes_are_gone(tmp_path: Path):
    folders = [write(tmp_path, "web/a"), write(tmp_path, "web/b"), write(tmp_path, "data/c")]
    first = look(tmp_path)
    for folder in folders[1:]:
        (folder / "SKILL.md").unlink()
        folder.rmdir()
    (tmp_path / "data").rmdir()
    assert [e.name for e in look(tmp_path, first).entries] == ["a"]


def test_a_hand_edit_of_a_sidecar_is_seen_by_the_next_look(tmp_path: Path):
    folder = write(tmp_path, "web/a", owner="agent", pin="")
    index = Index(tmp_path)
    assert index.look("1").entries[0].pin == ""
    (folder / ".provenance.json").write_text(json.dumps({"owner": "agent", "pin": "keep"}))
    assert index.look("1", trust="sidecars").entries[0].pin == "keep"


def test_a_look_that_trusts_the_sidecars_keeps_what_they_said(tmp_path: Path):
    folder = write(tmp_path, "web/a", owner="agent", pin="")
    first = look(tmp_path, generation="1")
    (folder / ".provenance.json").write_text(json.dumps({"owner": "agent", "pin": "keep"}))
    assert scan_folder(tmp_path, first, "1", trust="sidecars", now_ns=much_later) is first
    assert look(tmp_path, first, "1").entries[0].pin == "keep"


def test_a_look_that_trusts_the_files_sees_what_came_and_went(tmp_path: Path):
    write(tmp_path, "web/a", "Use one")
    write(tmp_path, "data/b")
    first = look(tmp_path)
    (tmp_path / "web/a/SKILL.md").write_text("---\nname: a\ndescription: Use other\n---\nBody\n")
    assert scan_folder(tmp_path, first, trust="files", now_ns=much_later) is first
    write(tmp_path, "data/c")
    shutil.rmtree(tmp_path / "data/b")
    now = scan_folder(tmp_path, first, trust="files", now_ns=much_later)
    assert [(e.name, e.description) for e in now.entries] == [("c", "Use it"), ("a", "Use one")]
    assert look(tmp_path, now).entries[1].description == "Use other"


def test_a_hurried_look_at_very_many_trusts_nothing_once_the_branch_moved(tmp_path: Path):
    folder = write(tmp_path, "web/a", owner="agent", pin="")
    index = Index(tmp_path, large=0)
    index.look("1")
    (folder / ".provenance.json").write_text(json.dumps({"owner": "agent", "pin": "keep"}))
    assert index.look("2", trust="sidecars").entries[0].pin == "keep"


def test_a_new_sidecar_is_seen(tmp_path: Path):
    folder = write(tmp_path, "web/a")
    first = look(tmp_path)
    (folder / ".provenance.json").write_text('{"owner": "agent"}')
    assert look(tmp_path, first).entries[0].owner == "agent"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"owner": "x"}', '{"pin": "hard"}', '{"pin": ["keep"]}', "", "[" * 99_999]
)
def test_a_sidecar_that_cannot_be_read_leaves_the_skill_yours_with_a_warning(tmp_path: Path, text: str):
    (write(tmp_path, "web/a") / ".provenance.json").write_text(text)
    (entry,) = look(tmp_path).entries
    assert (entry.owner, entry.warnings) == ("you", (UNREADABLE_SIDECAR,))


def test_one_bad_file_is_named_and_the_others_load(tmp_path: Path):
    for name in ("a", "b", "c"):
        write(tmp_path, f"web/{name}", "카페 → 🚀")
    (write(tmp_path, "web/bad") / "SKILL.md").write_bytes(b"---\nname: bad\ndescription: \xff\n---\nBody\n")
    entries = look(tmp_path).entries
    assert [(e.name, e.description) for e in entries if e.broken is None] == [(n, "카페 → 🚀") for n in "abc"]
    assert [e.broken for e in entries if e.broken] == ["line 3: byte 0xFF is not UTF-8; save the file as UTF-8"]


def test_a_name_that_create_would_refuse_is_broken_in_the_list_too(tmp_path: Path):
    for name in ("deploy\u200b", "🚀", "Big Name"):
        write(tmp_path, f"web/{name}")
    assert all("rename the folder" in (e.broken or "") for e in look(tmp_path).entries)


def test_a_header_name_that_differs_is_told_and_the_folder_counts(tmp_path: Path):
    write(tmp_path, "web/a")
    (tmp_path / "web/a").rename(tmp_path / "web/b")
    (entry,) = look(tmp_path).entries
    assert entry.name == "b"
    assert entry.warnings == ("line 2: the header says `name: a`; the folder's name 'b' counts",)


def test_a_name_in_two_categories_is_found_twice_and_by_its_identity_once(tmp_path: Path):
    write(tmp_path, "web/a")
    write(tmp_path, "data/a")
    entries = look(tmp_path).entries
    assert [e.identity for e in find(entries, "a")] == ["data/a", "web/a"]
    assert [e.identity for e in find(entries, "web/a")] == ["web/a"]
    assert find(entries, "none") == ()


def test_links_inside_are_followed_and_others_are_noted(tmp_path: Path):
    root, outside = tmp_path / "skills", tmp_path / "outside"
    write(root, "web/real")
    write(outside, "secret")
    os.symlink(root / "web/real", root / "web/linked")
    os.symlink(root / "nothing", root / "web/broken")
    os.symlink(root, root / "loop")
    os.symlink(root / "web", root / "web/round")
    os.symlink(outside, root / "out")
    os.symlink(outside / "secret", root / "web/out")
    found = look(root)
    assert [e.name for e in found.entries] == ["linked", "real"]
    assert sorted(note.split(":")[0] for note in found.notes) == ["loop", "out", "web/broken", "web/out", "web/round"]


def test_a_linked_file_that_leads_out_is_broken_and_one_inside_is_read(tmp_path: Path):
    root = tmp_path / "skills"
    inside, outside = write(root, "web/a"), write(tmp_path, "outside")
    for name, target in (("b", inside), ("c", outside)):
        (root / "web" / name).mkdir()
        os.symlink(target / "SKILL.md", root / "web" / name / "SKILL.md")
    first = look(root)
    assert [(e.name, e.broken is None) for e in first.entries] == [("a", True), ("b", True), ("c", False)]
    (inside / "SKILL.md").write_text("---\nname: a\ndescription: Use new\n---\nBody\n")
    assert [e.description for e in look(root, first).entries] == ["Use new", "Use new", ""]


def test_what_is_no_regular_file_is_broken_and_nothing_waits_for_it(tmp_path: Path):
    for name in ("pipe", "folder"):
        (tmp_path / "web" / name).mkdir(parents=True)
    os.mkfifo(tmp_path / "web/pipe/SKILL.md")
    (tmp_path / "web/folder/SKILL.md").mkdir()
    assert [e.broken for e in look(tmp_path).entries] == ["SKILL.md is not a regular file"] * 2


def test_a_misspelled_file_is_broken_and_beside_the_right_one_a_warning(tmp_path: Path):
    for name in ("one", "two"):
        write(tmp_path, f"web/{name}")
        (tmp_path / "web" / name / "skill.md").write_text("x")
    (tmp_path / "web/one/SKILL.md").unlink()
    one, two = look(tmp_path).entries
    assert one.broken == MISSPELLED
    assert (two.broken, two.warnings) == (None, ("skill.md stands beside SKILL.md, which counts; remove one",))


def test_skills_that_lie_too_high_or_too_deep_are_listed_with_what_to_do(tmp_path: Path):
    write(tmp_path, "flat")
    write(tmp_path, "web/group/deep")
    deep, flat = sorted(look(tmp_path).entries, key=lambda e: e.name)
    assert deep.broken == "the skill lies too deep; move it to web/deep"
    assert (flat.broken, flat.path) == (None, "flat")
    assert "move its folder into general/" in flat.warnings[0]


def test_hidden_and_foreign_folders_are_passed_over(tmp_path: Path):
    for folder in (".archive/web/a", ".git/x/y", "node_modules/x/y", "web/__pycache__"):
        write(tmp_path, folder)
    assert look(tmp_path).entries == ()


def test_an_empty_folder_is_noted(tmp_path: Path):
    (tmp_path / "web/empty").mkdir(parents=True)
    assert look(tmp_path).notes == ("web/empty: the folder holds no SKILL.md",)


def test_a_skill_put_into_an_empty_folder_is_seen(tmp_path: Path):
    (tmp_path / "web/a").mkdir(parents=True)
    first = look(tmp_path)
    write(tmp_path, "web/a")
    assert [e.name for e in look(tmp_path, first).entries] == ["a"]


def test_categories_have_their_line_and_a_change_of_it_is_seen(tmp_path: Path):
    write(tmp_path, "web/a")
    (tmp_path / "web/DESCRIPTION.md").write_text("# Web\n\nWork with pages.\n")
    first = look(tmp_path)
    (tmp_path / "web/DESCRIPTION.md").write_text("---\ndescription: All about pages\n---\n")
    assert (first.categories, look(tmp_path, first).categories) == (
        (("web", "Work with pages."),),
        (("web", "All about pages"),),
    )


def test_foreign_folders_are_marked_and_their_sidecars_say_nothing(tmp_path: Path):
    write(tmp_path, "web/a", owner="agent", pin="keep")
    (entry,) = scan_folder(tmp_path, external=str(tmp_path)).entries
    assert (entry.owner, entry.pin, entry.external) == ("external", "", str(tmp_path))


def many(root: Path, count: int = 80) -> None:
    (root / ".git").mkdir()
    for number in range(count):
        write(root, f"web/s{number}", owner="agent")


def test_another_process_reads_what_was_kept_and_sees_later_changes(tmp_path: Path):
    many(tmp_path)
    save(tmp_path / ".git" / KEPT, look(tmp_path, generation="g"))
    write(tmp_path, "web/s7", "Use changed", owner="agent")
    kept = load(tmp_path / ".git" / KEPT)
    again = look(tmp_path, kept, "g")
    assert (again.fresh, len(again.entries)) == (1, 80)
    assert [e.description for e in find(again.entries, "s7")] == ["Use changed"]
    assert look(tmp_path).entries == again.entries


def test_the_kept_look_lies_in_the_repository_and_never_in_the_work_tree(tmp_path: Path):
    many(tmp_path)
    assert len(Index(tmp_path).look().entries) == 80
    assert (tmp_path / ".git" / KEPT).is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".git", "web"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[1]", b'[1, "g", [["w", [], [["a"]], [], [], [], "", ""]]]', b'[9, "g", []]']
)
def test_a_damaged_cache_costs_time_and_nothing_else(tmp_path: Path, data: bytes):
    many(tmp_path)
    (tmp_path / ".git" / KEPT).write_bytes(data)
    assert len(Index(tmp_path).look("g").entries) == 80


def test_a_cache_that_cannot_be_written_is_told_and_the_index_still_works(tmp_path: Path):
    many(tmp_path)
    (tmp_path / ".git" / KEPT).mkdir()
    index = Index(tmp_path)
    assert len(index.look().entries) == 80
    assert "will be built anew" in index.trouble
    assert [p.name for p in (tmp_path / ".git").iterdir()] == [KEPT]


def test_two_folders_never_show_each_others_skills(tmp_path: Path):
    write(tmp_path / "one", "web/a")
    write(tmp_path / "two", "web/b")
    one, two = Index(tmp_path / "one"), Index(tmp_path / "two")
    assert [[e.name for e in index.look().entries] for index in (one, two, one)] == [["a"], ["b"], ["a"]]
