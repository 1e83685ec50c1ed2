import stat
from pathlib import Path

import pytest

from assistant.home.secrets import read_secrets, write_secret
from tests.cli.scene import Shell
from tests.fakes.model import says


def entries(shell, target="memory"):
    found = {item["target"]: item for item in shell.fine("memory", "show", "--json").json}
    return [entry["text"] for entry in found[target]["entries"]]


def test_memory_is_edited_in_the_editor_and_every_change_is_a_commit(shell):
    shell.editor("printf 'One fact.\\n§\\n두 번째 사실.\\n' > $1")
    assert shell.fine("memory", "edit").notes == "MEMORY.md is written\n"
    assert entries(shell) == ["One fact.", "두 번째 사실."]
    (commit,) = shell.fine("memory", "log", "--json").json
    assert (commit["actor"], commit["name"]) == ("you", "MEMORY.md")
    shell.editor("printf 'Likes tea.' > $1")
    shell.fine("memory", "edit", "user")
    assert entries(shell, "user") == ["Likes tea."]
    assert len(shell.fine("memory", "log", "user", "--json").json) == 1
    shell.fine("memory", "undo", commit["commit"])
    assert entries(shell) == []
    assert entries(shell, "user") == ["Likes tea."]


def test_memory_shows_who_wrote_what(shell):
    shell.editor("printf 'One fact.' > $1")
    shell.fine("memory", "edit", "MEMORY.md")
    out = shell.fine("memory", "show", "--why").out
    assert "MEMORY.md  9 of 2200 characters" in out
    assert "- One fact.\n    you, 20" in out
    assert "    you" not in shell.fine("memory", "show").out


def test_a_setting_is_shown_with_its_origin_and_set_with_its_comments_kept(shell):
    shell.environ["ASSISTANT_MODEL"] = "from-outside"
    path = Path(shell.fine("config", "path").out.strip())
    before = path.read_text()
    said = shell.fine("config", "set", "agent.max_steps", "12")
    assert said.notes.startswith("agent.max_steps: 90 → 12. It holds")
    after = path.read_text()
    assert len(after.splitlines()) == len(before.splitlines())
    assert after.count("#") == before.count("#")
    known = {item["key"]: item for item in shell.fine("config", "show", "--json").json}
    assert (known["agent.max_steps"]["value"], known["agent.max_steps"]["origin"]) == ("12", "file")
    assert known["model.name"]["origin"] == "environment (ASSISTANT_MODEL)"
    assert known["server.port"]["origin"] == "default"


def test_an_edited_config_counts_only_when_it_is_right(shell):
    path = Path(shell.fine("config", "path").out.strip())
    before = path.read_text()
    shell.editor("echo 'agent: {max_stops: 3}' > $1")
    said = shell("config", "edit")
    assert said.code == 2
    assert "did you mean agent.max_steps" in said.notes
    assert "Your text is in" in said.notes
    assert path.read_text() == before


@pytest.mark.parametrize("value", ["sk-plain", "with space # and hash", "it's", "both ' and \"", "back\\slash $x", ""])
def test_a_secret_comes_back_as_it_was_and_is_the_persons_alone(tmp_path, value):
    path = tmp_path / ".env"
    path.write_text("# mine\nOTHER=1\nexport KEY=old\n")
    write_secret(path, "KEY", value)
    assert read_secrets(path) == {"OTHER": "1", "KEY": value}
    assert path.read_text().startswith("# mine\nOTHER=1\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_backup_brings_everything_back_but_secrets(shell, tmp_path):
    shell.model.script(says("Hello."))
    shell.fine("ask", "remember this conversation")
    shell.editor("printf 'One fact.' > $1")
    shell.fine("memory", "edit")
    write_secret(shell.home / ".env", "KEY", "geheim")
    file = tmp_path / "all.tar.gz"
    said = shell.fine("backup", str(file))
    assert "assistant.db" in said.notes
    assert "skills.bundle" in said.notes
    other = ["--home", str(tmp_path / "other")]
    shell.fine(*other, "restore", str(file))
    for words in (["sessions", "list"], ["skills", "list"], ["memory", "show"], ["skills", "log"], ["memory", "log"]):
        assert shell.fine(*other, *words, "--json").json == shell.fine(*words, "--json").json, words
    assert "geheim" not in (tmp_path / "other" / ".env").read_text()
    shell.model.script(says("Again."))
    shell.fine(*other, "ask", "--continue", "go on")
    shell.fine(*other, "skills", "pin", "planning-work")


def test_restore_replaces_nothing_without_being_told_to(shell, tmp_path):
    shell.fine("sessions", "list")
    file = tmp_path / "all.tar.gz"
    shell.fine("backup", str(file))
    before = shell.tree()
    said = shell("restore", str(file))
    assert said.code == 2
    assert "would replace: assistant.db" in said.notes
    assert shell.tree() == before
    assert "what they replaced is in" in shell.fine("restore", str(file), "--replace").notes
    shell.fine("skills", "list")


def theirs(folder: Path) -> Path:
    """A home of another program."""
    skill = folder / "theirs" / "skills" / "deep" / "er" / "make-tea"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: make-tea\ndescription: Use when tea is wanted.\n---\n\nBoil water.\n")
    (folder / "theirs" / "memories").mkdir()
    (folder / "theirs" / "memories" / "MEMORY.md").write_text("They know.\n")
    (folder / "theirs" / "config.yaml").write_text("agent: {max_steps: 33}\nbanner: loud\n")
    (folder / "theirs" / "state.db").write_bytes(b"theirs")
    return folder / "theirs"


def test_adopting_copies_into_a_home_of_our_own_and_remembers_its_place(tmp_path):
    source = theirs(tmp_path)
    shell = Shell(tmp_path)
    del shell.environ["HERMES_HOME"]
    (tmp_path / ".hermes").symlink_to(source)
    assert "assistant setup --adopt" in shell("skills", "list").notes
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    said = shell.fine("setup", "--adopt", str(source))
    assert "1 skills, 1 memory files" in said.notes
    assert "banner" in said.notes
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before
    known = {item["name"]: item for item in shell.fine("skills", "list", "--json").json}
    assert (known["make-tea"]["owner"], known["make-tea"]["category"]) == ("you", "deep-er")
    assert known["writing-a-skill"]["owner"] == "bundled"
    assert entries(shell) == ["They know."]
    assert shell.fine("config", "get", "agent.max_steps").out == "33\n"
    assert (tmp_path / ".config/assistant/home").read_text().strip() == str(tmp_path / ".hermes-assistant")
    assert "make-tea" in shell.fine("skills", "log", "make-tea").out


def test_without_a_word_of_the_person_nothing_is_deleted(shell):
    shell.model.script(says("Hi."))
    shell.fine("ask", "hello")
    session = shell.fine("sessions", "list", "--json").json[0]["id"]
    said = shell("sessions", "delete", session)
    assert (said.code, "Say so with --yes" in said.notes) == (2, True)
    shell.fine("sessions", "rename", session, "한 번의 인사")
    fork = shell.fine("sessions", "fork", session).out.strip()
    shell.fine("sessions", "delete", session, "--yes")
    (left,) = shell.fine("sessions", "list", "--json").json
    assert (left["id"], left["title"], left["messages"]) == (fork, "한 번의 인사", 2)


def test_a_conversation_is_exported_as_markdown_and_as_json(shell, tmp_path):
    shell.model.script(says("Hi there."))
    shell.fine("ask", "hello")
    session = shell.fine("sessions", "list", "--json").json[0]["id"]
    assert "Hi there." in shell.fine("sessions", "export", session).out
    file = tmp_path / "talk.md"
    shell.fine("sessions", "export", session, str(file))
    assert file.read_text().startswith("# hello\n")
    assert "is there already" in shell("sessions", "export", session, str(file)).notes
    assert shell.fine("sessions", "export", session, "--json").json["messages"][1]["text"] == "Hi there."
