import subprocess

import pytest

from tests.cli.scene import skill
from tests.fakes.model import calls, says


def text_of(shell, name="cook-rice"):
    return shell.fine("skills", "show", name, "--json").json["content"]


@pytest.fixture
def rice(shell):
    """A skill of the person's."""
    shell.fine(
        "skills", "new", "cook-rice", "--category", "kitchen", "--from", str(shell.write("x.md", skill("cook-rice")))
    )
    return shell


def test_a_new_skill_begins_with_a_skeleton_in_the_editor(shell):
    shell.editor("sed -i 's/Use when …/Use when rice is to be cooked./' $1 && echo 'Wash it.' >> $1")
    said = shell.fine("skills", "new", "cook-rice", "--category", "kitchen", "--why", "asked often")
    assert said.notes.startswith("cook-rice: created")
    shown = shell.fine("skills", "show", "cook-rice", "--json").json
    assert (shown["owner"], shown["path"]) == ("you", "kitchen/cook-rice")
    assert shown["content"].endswith("# cook-rice\n\nWash it.\n")
    (commit,) = shell.fine("skills", "log", "cook-rice", "--json").json
    assert (commit["actor"], commit["why"]) == ("you", "asked often")


def test_leaving_the_editor_without_a_change_writes_nothing(rice):
    rice.editor("true")
    assert rice.fine("skills", "edit", "cook-rice").notes == "nothing was changed\n"
    assert rice.fine("skills", "new", "another").notes == "nothing was written\n"
    assert len(rice.fine("skills", "log", "cook-rice", "--json").json) == 1


def test_an_edit_is_one_commit_and_undo_takes_it_back(rice):
    before = text_of(rice)
    rice.editor("sed -i 's/Look/Wash it/' $1")
    rice.fine("skills", "edit", "cook-rice")
    assert "1. Wash it." in text_of(rice)
    assert "+1. Wash it." in rice.fine("skills", "diff", "cook-rice").out
    commit = rice.fine("skills", "log", "cook-rice", "--json").json[0]["commit"]
    rice.fine("skills", "undo", commit)
    assert text_of(rice) == before
    assert rice.fine("skills", "show", "cook-rice", "--at", commit[:10]).out.count("Wash it") == 1


def test_a_text_that_is_refused_is_kept_and_its_place_told(rice):
    rice.editor("printf 'no header at all' > $1")
    said = rice("skills", "edit", "cook-rice")
    assert said.code == 2
    kept = next(line for line in said.notes.splitlines() if line.startswith("Your text is in "))
    with open(kept.removeprefix("Your text is in ").rstrip(".")) as draft:
        assert draft.read() == "no header at all"
    assert "1. Look." in text_of(rice)


def test_somebody_elses_change_meanwhile_is_not_lost(rice):
    place = rice.home / "skills" / "kitchen" / "cook-rice" / "SKILL.md"
    rice.editor(f"sed -i 's/Look/Mine/' $1; sed -i 's/Act/Theirs/' {place}")
    said = rice("skills", "edit", "cook-rice")
    assert said.code == 1
    assert "changed by somebody else meanwhile" in said.notes
    assert "Theirs" in text_of(rice)
    assert "Mine" not in text_of(rice)


def test_an_editor_that_fails_or_is_missing_is_named(rice):
    rice.editor("exit 3")
    assert "ended with code 3" in rice("skills", "edit", "cook-rice").notes
    rice.environ["EDITOR"] = "/nowhere/editor"
    said = rice("skills", "edit", "cook-rice")
    assert said.code == 2
    assert "/nowhere/editor" in said.notes


def test_one_of_its_files_is_written_and_edited(rice):
    rice.fine("skills", "edit", "cook-rice", "references/water.md", "--from", str(rice.write("w.md", "Two cups.\n")))
    rice.editor("sed -i 's/Two/Three/' $1")
    rice.fine("skills", "edit", "cook-rice", "references/water.md")
    assert (rice.home / "skills/kitchen/cook-rice/references/water.md").read_text() == "Three cups.\n"
    assert rice.fine("skills", "show", "cook-rice", "--json").json["files"] == ["references/water.md"]


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (["pin"], "pin", "frozen"),
        (["pin", "--keep"], "pin", "keep"),
        (["adopt"], "owner", "agent"),
        (["archive"], "state", "archived"),
    ],
)
def test_a_mark_shows_and_its_opposite_takes_it_away(rice, words, field, value):
    opposite = {"pin": "unpin", "adopt": "release", "archive": "restore"}
    before = rice.fine("skills", "show", "cook-rice", "--json").json
    rice.fine("skills", words[0], "cook-rice", *words[1:])
    assert rice.fine("skills", "show", "cook-rice", "--json").json[field] == value
    rice.fine("skills", opposite[words[0]], "cook-rice")
    assert rice.fine("skills", "show", "cook-rice", "--json").json[field] == before[field]


def test_the_archive_is_searched_apart(rice):
    rice.fine("skills", "archive", "cook-rice")
    names = [item["name"] for item in rice.fine("skills", "search", "rice", "--json").json]
    assert "cook-rice" not in names
    assert rice.fine("skills", "search", "rice", "--archived", "--json").json[0]["name"] == "cook-rice"
    assert "cook-rice" not in rice.fine("skills", "list").out


@pytest.mark.parametrize("form", ["folder", "rice.zip", "rice.tar.gz"])
def test_what_is_exported_can_be_imported_elsewhere(rice, tmp_path, form):
    rice.fine("skills", "export", "cook-rice", str(tmp_path / form))
    elsewhere = ["--home", str(tmp_path / "other")]
    rice.fine(*elsewhere, "skills", "import", str(tmp_path / form), "--category", "food")
    shown = rice.fine(*elsewhere, "skills", "show", "cook-rice", "--json").json
    assert (shown["owner"], shown["path"]) == ("installed", "food/cook-rice")
    assert shown["content"] == text_of(rice)


def test_a_broken_skill_is_listed_shown_and_mended(rice):
    place = rice.home / "skills/kitchen/cook-rice/SKILL.md"
    place.write_text("---\nname: cook-rice\n")
    listed = {item["name"]: item for item in rice.fine("skills", "list", "--json").json}
    assert listed["cook-rice"]["broken"]
    assert "broken" in rice.fine("skills", "list").out
    assert rice.fine("skills", "show", "cook-rice", "--json").json["content"].startswith("---")
    rice.fine("skills", "edit", "cook-rice", "--from", str(rice.write("good.md", skill("cook-rice"))))
    assert rice.fine("skills", "show", "cook-rice", "--json").json["broken"] is None


def test_what_waits_is_approved_or_rejected_with_a_reason_that_is_remembered(shell):
    shell.fine("config", "set", "skills.write_approval", "all")
    wish = calls("skill_manage", action="create", name="made-up", content=skill("made-up"))
    for word in ("approve", "reject"):
        shell.model.script(wish, says("I asked."))
        shell.fine("ask", f"make a skill, then I {word} it")
        (item,) = shell.fine("inbox", "list", "--json").json
        shell.fine("inbox", word, item["id"], *(["--reason", "too thin"] if word == "reject" else []))
        assert shell.fine("inbox", "list", "--json").json == []
        if word == "approve":
            assert shell.fine("skills", "show", "made-up", "--json").json["owner"] == "you"
            shell.fine("skills", "undo", "made-up")
    shell.model.script(wish, says("No luck."))
    shell.fine("ask", "once more")
    assert "too thin" in shell.fine("sessions", "search", "luck").out + session_text(shell)


def session_text(shell):
    newest = shell.fine("sessions", "list", "--json").json[0]["id"]
    return shell.fine("sessions", "show", newest).out


def test_a_review_is_undone_as_a_whole(shell):
    shell.model.script(says("Noted."))
    shell.fine("ask", "I always want tea at four")
    quote = ["tea at four"]
    shell.model.script(
        calls("memory", action="add", target="user", content="Tea at four.", evidence=quote),
        calls("skill_manage", action="create", name="serve-tea", content=skill("serve-tea"), evidence=quote),
        says("Kept."),
    )
    assert shell.fine("reviews", "run", "--focus", "tea").out == "review: saved user, serve-tea\n"
    review = shell.fine("reviews", "list", "--json").json[0]
    shell.fine("reviews", "undo", review["run_id"])
    assert "serve-tea" not in shell.fine("skills", "list").out
    assert shell.fine("memory", "show", "--json").json[1]["entries"] == []
    assert shell("reviews", "undo", "run_none").code == 4


def test_the_only_thing_that_waits_needs_no_id(shell):
    shell.fine("config", "set", "skills.write_approval", "all")
    assert shell("inbox", "approve").code == 4
    for name in ("cook-rice", "draw-maps"):
        shell.model.script(calls("skill_manage", action="create", name=name, content=skill(name)), says("Kept."))
        shell.fine("ask", "--here", f"Keep {name}")
        if name == "cook-rice":
            assert "+# cook-rice" in shell.fine("inbox", "show").out
    assert "2 things wait; say which" in shell("inbox", "approve").notes
    shell.fine("inbox", "reject", shell.fine("inbox", "list", "--json").json[0]["id"])
    assert ": created (" in shell.fine("inbox", "approve").notes


def test_sync_hands_on_and_takes_in_what_a_remote_has(shell, tmp_path):
    unset = shell("skills", "sync")
    assert (unset.code, "assistant config set skills.sync" in unset.notes) == (2, True)
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", tmp_path / "remote.git"], check=True)
    shell.fine("config", "set", "skills.sync", str(tmp_path / "remote.git"))
    assert "taken in: 0, handed on: " in shell.fine("skills", "sync").notes
    assert shell.fine("skills", "sync").notes == "changes taken in: 0, handed on: 0\n"
    shell.fine("config", "set", "skills.sync", str(tmp_path / "none.git"))
    assert shell("skills", "sync").code == 2
