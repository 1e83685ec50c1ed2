"""The first start, and those after it."""

import stat
import threading

import pytest

from assistant.errors import PersonMustAct
from assistant.home import Home, find_git, find_template, prepare
from assistant.settings import Settings, load


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def everything(home):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(home.root.rglob("*"))}


def test_a_fresh_home_has_everything_and_is_nobody_elses_to_read(home):
    prepare(home, find_template())
    assert load(home.config) == Settings()
    assert home.soul.read_text().startswith("You are")
    assert all(folder.is_dir() for folder in home.folders)
    assert (mode(home.root), mode(home.env_file)) == (0o700, 0o600)


def test_skills_and_memories_are_left_to_those_who_commit_them(home):
    prepare(home, find_template())
    assert list(home.skills.iterdir()) == []
    assert list(home.memories.iterdir()) == []


def test_the_second_start_changes_nothing(home):
    prepare(home, find_template())
    before = everything(home)
    assert prepare(home, find_template()) == ()
    assert everything(home) == before


def test_what_is_there_is_never_overwritten_and_what_is_missing_comes_back(home):
    prepare(home, find_template())
    home.config.write_text("agent: {max_steps: 3}\n")
    home.soul.unlink()
    assert prepare(home, find_template()) == (home.soul,)
    assert home.config.read_text() == "agent: {max_steps: 3}\n"


def test_a_link_that_leads_nowhere_counts_as_there(home, tmp_path):
    home.root.mkdir()
    home.config.symlink_to(tmp_path / "gone")
    prepare(home, find_template())
    assert home.config.is_symlink()
    assert not (tmp_path / "gone").exists()


def test_the_home_of_another_program_is_never_written(home):
    home.root.mkdir()
    (home.root / "state.db").write_bytes(b"theirs")
    with pytest.raises(PersonMustAct, match=f"assistant setup --adopt {home.root}") as fault:
        prepare(home, find_template())
    assert fault.value.exit_code == 2
    assert [path.name for path in home.root.iterdir()] == ["state.db"]


def test_a_place_that_cannot_be_written_is_told_with_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PersonMustAct, match=r"cannot be written: Not a directory.*--home PATH"):
        prepare(Home(tmp_path / "file" / "home"), find_template())
    with pytest.raises(PersonMustAct, match="cannot be written"):
        prepare(Home(tmp_path / "file"), find_template())


def test_a_file_where_a_folder_belongs_is_told(home):
    home.root.mkdir()
    home.skills.touch()
    with pytest.raises(PersonMustAct, match="skills cannot be written: File exists"):
        prepare(home, find_template())


def test_first_starts_at_the_same_moment_agree(home):
    made = []
    starts = [threading.Thread(target=lambda: made.extend(prepare(home, find_template()))) for _ in range(4)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert sorted(made) == sorted(set(made))
    assert load(home.config) == Settings()


def test_without_git_the_person_is_told_how_to_get_it(tmp_path):
    with pytest.raises(PersonMustAct, match="git is not installed"):
        find_git({"PATH": str(tmp_path)})


def test_git_is_found_on_the_path(tmp_path):
    program = tmp_path / "git"
    program.touch(mode=0o755)
    assert find_git({"PATH": str(tmp_path)}) == program
