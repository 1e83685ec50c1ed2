"""Coming from another program."""

import stat

import pytest

from assistant.errors import PersonMustAct
from assistant.home import Home, find_home, find_template
from assistant.home.adopt import adopt, own_place, remember, unused_settings

TEXT = "---\nname: {0}\ndescription: Use when testing.\n---\n\nDo it.\n"


@pytest.fixture
def theirs(tmp_path):
    root = tmp_path / ".hermes"
    for path in ("general-one", "work/two", "deep/er/three", ".archive/four", ".hub/five"):
        folder = root / "skills" / path
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(TEXT.format(folder.name))
    (root / "memories").mkdir()
    (root / "memories" / "MEMORY.md").write_text("The printer is upstairs.\n§\nRent is due on the 3rd.\n")
    (root / "state.db").write_bytes(b"theirs")
    return root


@pytest.fixture
def ours(tmp_path):
    return Home(own_place({"HOME": str(tmp_path)}))


def snapshot(root):
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_skills_and_memories_come_over_and_nothing_of_theirs_is_touched(theirs, ours):
    before = snapshot(theirs)
    adopted = adopt(theirs, ours, find_template())
    assert set(adopted.skills) == {"general/general-one", "work/two", "deep-er/three", ".archive/general/four"}
    assert adopted.memories == ("MEMORY.md",)
    assert (ours.memories / "MEMORY.md").read_bytes() == (theirs / "memories" / "MEMORY.md").read_bytes()
    assert snapshot(theirs) == before


def test_a_skill_keeps_its_bytes_and_modes(theirs, ours):
    script = theirs / "skills" / "work" / "two" / "scripts" / "run.sh"
    script.parent.mkdir()
    script.write_bytes(b"#!/bin/sh\r\n\x00")
    script.chmod(0o755)
    adopt(theirs, ours, find_template())
    copy = ours.skills / "work" / "two" / "scripts" / "run.sh"
    assert copy.read_bytes() == script.read_bytes()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o755


def test_links_are_not_followed_and_named(theirs, ours, tmp_path):
    (tmp_path / "secret").write_text("hush")
    (theirs / "skills" / "work" / "two" / "leak").symlink_to(tmp_path / "secret")
    (theirs / "skills" / "work" / "elsewhere").symlink_to(tmp_path)
    adopted = adopt(theirs, ours, find_template())
    assert [sentence for sentence in adopted.skipped if "leak is a link" in sentence]
    assert not any(b"hush" in data for data in snapshot(ours.root).values())


def test_doing_it_again_copies_nothing_twice_and_overwrites_nothing(theirs, ours):
    adopt(theirs, ours, find_template())
    (ours.skills / "work" / "two" / "SKILL.md").write_text("mine")
    (ours.memories / "MEMORY.md").write_text("mine")
    again = adopt(theirs, ours, find_template())
    assert (again.skills, again.memories) == ((), ())
    assert len(again.skipped) == 5
    assert (ours.skills / "work" / "two" / "SKILL.md").read_text() == "mine"
    assert (ours.memories / "MEMORY.md").read_text() == "mine"


def test_what_a_killed_adoption_left_does_not_count_as_a_skill(theirs, ours):
    (ours.skills / "work" / ".draft-x" / "copy").mkdir(parents=True)
    assert "work/two" in adopt(theirs, ours, find_template()).skills


def test_later_starts_find_the_home_that_was_recorded(theirs, ours, tmp_path):
    adopt(theirs, ours, find_template())
    remember(ours, {"HOME": str(tmp_path)})
    assert find_home({"HOME": str(tmp_path)}) == ours.root


def test_unused_settings_are_kept_for_the_doctor(theirs, ours):
    assert unused_settings(ours) == ()
    adopt(theirs, ours, find_template(), ["agent.max_turns"])
    assert unused_settings(ours) == ("agent.max_turns",)


def test_a_place_that_is_no_home_and_the_home_itself_are_refused(theirs, ours, tmp_path):
    with pytest.raises(PersonMustAct, match="neither skills/ nor memories/"):
        adopt(tmp_path, ours, find_template())
    with pytest.raises(PersonMustAct, match="is the home itself"):
        adopt(theirs, Home(theirs), find_template())
    assert not (theirs / "config.yaml").exists()
