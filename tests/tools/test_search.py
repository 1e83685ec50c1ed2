import os

import pytest

from assistant.errors import ModelCanFix
from assistant.tools.search import Question, contents, names, search_files
from tests.fakes.context import Desk


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    for name, text in {
        "a.py": "import os\nprint('needle')\n",
        "sub/b.txt": "needle here\nand Needle there\n",
        "sub/deep/c.md": "nothing\n",
        ".hidden": "needle\n",
        "node_modules/x.js": "needle\n",
    }.items():
        (desk.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.folder / name).write_text(text)
    (desk.folder / "bin").write_bytes(b"needle\0\1")
    return desk


@pytest.fixture(params=["ripgrep", "by hand"])
def question(desk, request):
    program = "/usr/bin/rg" if request.param == "ripgrep" else None
    if program and not os.path.exists(program):
        pytest.skip("no ripgrep here")
    return lambda pattern, glob="": Question(pattern, desk.folder, glob, desk.home, program)


def search(desk, pattern, **more):
    return search_files.run(desk.context(), pattern=pattern, **more).text


def short(found, desk):
    return sorted(hit.removeprefix(f"{desk.folder}/") for hit in found)


def test_matching_lines_come_with_path_and_number(question, desk):
    assert short(contents(question("needle")), desk) == [
        ".hidden:1:needle",
        "a.py:2:print('needle')",
        "sub/b.txt:1:needle here",
    ]


def test_only_files_named_so_are_searched(question, desk):
    assert short(contents(question("needle", "*.py")), desk) == ["a.py:2:print('needle')"]


def test_files_are_found_by_name_or_path(question, desk):
    assert short(names(question("*.md")), desk) == ["sub/deep/c.md"]
    assert short(names(question("sub/*.txt")), desk) == ["sub/b.txt"]
    assert short(names(question("b")), desk) == ["bin", "sub/b.txt"]


def test_a_pattern_that_is_none_is_explained(question):
    with pytest.raises(ModelCanFix, match="meant literally"):
        list(contents(question("a(")))


def test_secrets_of_the_home_are_left_out(question, desk):
    (desk.folder / ".env").write_text("needle=1\n")
    (desk.folder / "id_rsa").write_text("needle\n")

    assert all(".env" not in hit and "id_rsa" not in hit for hit in contents(question("needle")))


def test_a_long_line_is_cut(question, desk):
    (desk.folder / "long.txt").write_text("rare" + "x" * 5_000)

    assert [len(hit) < 600 and hit.endswith("…") for hit in contents(question("rare"))] == [True]


def test_what_is_left_out_is_said_with_the_next_call(desk):
    (desk.folder / "many.txt").write_text("hit\n" * 10)

    first = search(desk, "hit", limit=4)
    last = search(desk, "hit", limit=4, offset=8)
    assert first.endswith("[more than 4; go on with offset=4]")
    assert last.splitlines() == ["many.txt:9:hit", "many.txt:10:hit"]


def test_nothing_found_is_said(desk):
    assert search(desk, "unheard") == "Nothing found."


def test_a_folder_that_is_not_there_is_named(desk):
    with pytest.raises(ModelCanFix, match=r"no file or folder .*/gone"):
        search(desk, "x", path="gone")


def test_one_file_can_be_searched(desk):
    assert search(desk, "Needle", path="sub/b.txt") == "sub/b.txt:2:and Needle there"
