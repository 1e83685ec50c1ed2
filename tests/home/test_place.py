"""Where the home is."""

from pathlib import Path

import pytest

from assistant.errors import PersonMustAct
from assistant.home import Home, find_home
from assistant.home.adopt import remember


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path)}


def test_without_a_word_it_is_the_usual_place(environ, tmp_path):
    assert find_home(environ) == tmp_path / ".hermes"


def test_the_command_line_wins_over_the_variable_and_the_variable_over_the_note(environ, tmp_path):
    noted = Home(tmp_path / "noted")
    noted.root.mkdir()
    remember(noted, environ)
    assert find_home(environ) == noted.root
    assert find_home({**environ, "HERMES_HOME": "/a"}) == Path("/a")
    assert find_home({**environ, "HERMES_HOME": "/a"}, "/b") == Path("/b")
    assert find_home({**environ, "HERMES_HOME": ""}) == noted.root


def test_tilde_and_relative_places_become_absolute(environ, tmp_path):
    assert find_home(environ, "~/mine") == tmp_path / "mine"
    assert find_home(environ, "mine") == Path.cwd() / "mine"


@pytest.mark.parametrize("note", ["", "/nowhere/at/all\n", "relative"])
def test_a_note_that_leads_nowhere_is_told_and_no_new_home_is_begun(environ, tmp_path, note):
    place = tmp_path / ".config" / "assistant" / "home"
    place.parent.mkdir(parents=True)
    place.write_text(note)
    with pytest.raises(PersonMustAct, match="which is not there"):
        find_home(environ)


def test_a_note_that_is_a_folder_is_told(environ, tmp_path):
    (tmp_path / ".config" / "assistant" / "home").mkdir(parents=True)
    with pytest.raises(PersonMustAct, match="cannot be read"):
        find_home(environ)


def test_a_home_is_foreign_while_it_has_only_the_database_of_another_program(tmp_path):
    home = Home(tmp_path)
    assert not home.foreign
    (tmp_path / "state.db").touch()
    assert home.foreign
    home.database.touch()
    assert not home.foreign
