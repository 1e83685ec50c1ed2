import os
import stat

import pytest

from assistant.errors import ModelCanFix
from assistant.tools.files import patch, read_file, write_file
from skills_store.values import Origin
from tests.fakes.context import Desk


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def read(desk, path, **more):
    return read_file.run(desk.context(), path=path, **more)


def write(desk, path, content):
    return write_file.run(desk.context(), path=path, content=content)


def change(desk, path, old, new, **more):
    return patch.run(desk.context(), path=path, old_string=old, new_string=new, **more)


def test_lines_come_with_their_numbers(desk):
    (desk.folder / "a.txt").write_text("one\ntwo\n")

    assert read(desk, "a.txt").text == "1|one\n2|two"


def test_a_page_says_where_the_next_begins(desk):
    (desk.folder / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)))

    assert read(desk, "a.txt", offset=3, limit=2).text == "3|3\n4|4\n[lines 3 to 4 of 10; go on with offset=5]"
    assert read(desk, "a.txt", offset=9).text == "9|9\n10|10"


def test_an_offset_past_the_end_names_the_length(desk):
    (desk.folder / "a.txt").write_text("one\n")

    with pytest.raises(ModelCanFix, match="1 lines; offset 5 is past its end"):
        read(desk, "a.txt", offset=5)


def test_an_empty_file_is_said_to_be_empty(desk):
    (desk.folder / "a.txt").write_text("")

    assert read(desk, "a.txt").text == "[the file is empty]"


def test_a_long_line_is_cut_with_its_rest_counted(desk):
    (desk.folder / "a.txt").write_text("x" * 5_000 + "\nend\n")

    assert "3,000 more characters in this line" in read(desk, "a.txt").text
    assert read(desk, "a.txt").text.endswith("\n2|end")


def test_a_page_is_never_longer_than_a_result_may_be(desk):
    (desk.folder / "a.txt").write_text(("y" * 1_900 + "\n") * 500)

    text = read(desk, "a.txt").text
    assert len(text) < 100_000
    assert "go on with offset=" in text


def test_a_missing_file_suggests_names_that_are_near(desk):
    (desk.folder / "notes.txt").write_text("x")

    with pytest.raises(ModelCanFix, match=r"did you mean .*notes\.txt"):
        read(desk, "Notes.txt")
    with pytest.raises(ModelCanFix, match="its folder does not exist"):
        read(desk, "no/such/a.txt")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: os.mkfifo(path), "a pipe"),
        (lambda path: path.write_bytes(b"\x00\x01PNG"), "binary"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
    ],
)
def test_what_is_no_text_file_is_refused_without_reading_it(desk, make, said):
    make(desk.folder / "odd")

    with pytest.raises(ModelCanFix, match=said):
        read(desk, "odd")


def test_a_file_outside_the_working_folder_is_not_believed(desk, tmp_path):
    (tmp_path / "far.txt").write_text("x")
    (desk.folder / "near.txt").write_text("x")
    (desk.folder / "link.txt").symlink_to(tmp_path / "far.txt")

    assert read(desk, str(tmp_path / "far.txt")).origin is Origin.UNTRUSTED
    assert read(desk, "link.txt").origin is Origin.UNTRUSTED
    assert read(desk, "near.txt").origin is Origin.TRUSTED


def test_a_copy_kept_in_the_home_is_not_believed_but_a_skill_is(desk):
    desk.folder = desk.root
    for place in ("home/outputs/a.txt", "home/skills/general/x/SKILL.md"):
        (desk.root / place).parent.mkdir(parents=True)
        (desk.root / place).write_text("x")

    assert read(desk, "home/outputs/a.txt").origin is Origin.UNTRUSTED
    assert read(desk, "home/skills/general/x/SKILL.md").origin is Origin.TRUSTED


def test_the_person_s_folder_is_written_as_a_tilde(desk):
    (desk.root / "a.txt").write_text("x")

    assert read(desk, "~/a.txt").text == "1|x"


def test_writing_says_whether_the_file_is_new(desk):
    assert write(desk, "sub/a.txt", "one\ntwo\n").text.startswith("Created ")
    assert "(1 lines, 2 bytes)" in write(desk, "sub/a.txt", "1\n").text
    assert (desk.folder / "sub/a.txt").read_text() == "1\n"


def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode(desk):
    before = os.umask(0o002)
    try:
        write(desk, "new.txt", "x")
        (desk.folder / "old.sh").write_text("x")
        (desk.folder / "old.sh").chmod(0o751)
        write(desk, "old.sh", "y")
    finally:
        os.umask(before)

    assert stat.S_IMODE((desk.folder / "new.txt").stat().st_mode) == 0o664
    assert stat.S_IMODE((desk.folder / "old.sh").stat().st_mode) == 0o751


def test_writing_through_a_link_changes_what_it_points_to(desk):
    (desk.folder / "real.txt").write_text("x")
    (desk.folder / "link.txt").symlink_to("real.txt")
    write(desk, "link.txt", "y")

    assert (desk.folder / "link.txt").is_symlink()
    assert (desk.folder / "real.txt").read_text() == "y"


def test_overwriting_what_somebody_else_changed_is_said(desk):
    (desk.folder / "a.txt").write_text("one")
    read(desk, "a.txt")
    (desk.folder / "a.txt").write_text("theirs")

    assert "had changed since it was last read" in write(desk, "a.txt", "mine").text
    assert "had changed" not in write(desk, "a.txt", "mine again").text


def test_a_path_that_cannot_be_written_says_why(desk):
    (desk.folder / "file").write_text("x")

    with pytest.raises(ModelCanFix, match="cannot be written"):
        write(desk, "file/a.txt", "x")
    with pytest.raises(ModelCanFix, match="not a plain file"):
        write(desk, ".", "x")


def test_no_draft_is_left_behind(desk):
    write(desk, "a.txt", "x")

    assert [path.name for path in desk.folder.iterdir()] == ["a.txt"]


def test_a_patch_changes_one_place_and_shows_it(desk):
    (desk.folder / "a.py").write_text("a = 1\nb = 2\n")
    result = change(desk, "a.py", "b = 2", "b = 3")

    assert (desk.folder / "a.py").read_text() == "a = 1\nb = 3\n"
    assert "-b = 2\n+b = 3" in result.text


def test_a_patch_keeps_line_ends_and_the_byte_order_mark(desk):
    (desk.folder / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    change(desk, "a.txt", "one\ntwo", "one\nthree")

    assert (desk.folder / "a.txt").read_bytes() == b"\xef\xbb\xbfone\r\nthree\r\n"


def test_a_patch_leaves_mixed_line_ends_and_odd_bytes_alone(desk):
    (desk.folder / "a.txt").write_bytes(b"one\r\ntwo\nb\xff\n")
    change(desk, "a.txt", "two", "three")

    assert (desk.folder / "a.txt").read_bytes() == b"one\r\nthree\nb\xff\n"


def test_a_patch_that_fits_several_places_changes_nothing(desk):
    (desk.folder / "a.txt").write_text("x\nx\n")
    result = change(desk, "a.txt", "x", "y")

    assert result.failed
    assert (desk.folder / "a.txt").read_text() == "x\nx\n"
    assert not change(desk, "a.txt", "x", "y", replace_all=True).failed
    assert (desk.folder / "a.txt").read_text() == "y\ny\n"


def test_a_patch_without_a_match_shows_the_nearest_place(desk):
    (desk.folder / "a.txt").write_text("def compute_total(items):\n    return sum(items)\n")
    result = change(desk, "a.txt", "def compute_totals(item):\n    return sum(item)", "x")

    assert result.failed
    assert "compute_total(items)" in result.text


@pytest.mark.parametrize("old", ["", "  \n "])
def test_a_patch_of_nothing_says_how_to_recover(desk, old):
    (desk.folder / "a.txt").write_text("x")

    with pytest.raises(ModelCanFix, match="copy the exact text"):
        change(desk, "a.txt", old, "y")
    assert (desk.folder / "a.txt").read_text() == "x"


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_what_cannot_be_a_name_is_said_so(desk, path):
    with pytest.raises(ModelCanFix, match="cannot be the name of a file"):
        read(desk, path)
