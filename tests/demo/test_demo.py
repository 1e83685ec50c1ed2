"""What the demo claims, looked up in git and in the database that it leaves behind."""

import io
import json
import subprocess

import pytest

from assistant.client.ask import Outcome
from assistant.demo.model import ScriptedModel
from assistant.demo.stage import Stage, Theatre
from assistant.demo.story import Cut, place, whole
from assistant.demo.words import BILLING, FIRST, INVENTED, LEARNED, SECOND, SKILL, script
from assistant.errors import PersonMustAct
from tests.cli.scene import Shell


def git(shown, *words):
    done = subprocess.run(["git", *words], cwd=shown.played.home / "skills", capture_output=True, text=True, check=True)
    return done.stdout.strip()


def trailers(shown):
    lines = git(shown, "log", "-1", "--format=%(trailers:only)").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def test_it_says_that_the_words_are_scripted_before_anything_else_and_again_at_the_end(shown):
    assert "words are scripted" in shown.text.split("❯")[0]
    assert "A script stood in for the model" in shown.text[-800:]


def test_the_person_is_heard_in_the_order_of_the_story(shown):
    said = [line.removeprefix("❯ ") for line in shown.text.splitlines() if line.startswith("❯ ")]
    assert said == [*FIRST, SECOND]


def test_every_reply_of_the_script_was_a_step_of_a_real_run(shown):
    rows = shown.assembly.parts.runs.newest(shown.played.first) + shown.assembly.parts.runs.newest(shown.played.second)
    assert {row["status"] for row in rows} == {"completed"}
    assert sum(row["steps"] for row in rows) == len(script())
    assert sum(row["steps"] for row in rows if row["kind"] == "turn" and row["session_id"] == shown.played.first) == 10


def test_the_review_fell_due_by_itself_and_saved_one_commit(shown):
    [row] = shown.assembly.parts.ledger.reviews()
    assert (row["run_id"], row["kind"], row["outcome"]) == (shown.played.review, "skills", "saved")
    assert json.loads(row["commits"]) == [shown.played.commit]


def test_the_library_was_looked_up_and_words_that_nobody_said_were_refused(shown):
    results = [m for m in shown.assembly.sessions.of_run(shown.played.review) if m.role == "tool"]
    assert [(m.name, m.failed) for m in results] == [
        ("skills_list", False),
        ("skill_manage", True),
        ("skill_manage", False),
    ]
    refusal = json.loads(results[1].text)
    assert refusal["code"] == "no_evidence"
    assert INVENTED in refusal["error"]


def test_the_commit_that_is_shown_is_the_newest_one_and_names_its_maker_and_its_run(shown):
    assert git(shown, "rev-parse", "HEAD") == shown.played.commit
    assert f"commit {shown.played.commit}" in shown.text
    assert (
        trailers(shown).items()
        >= {
            "Actor": "review",
            "Owner": "agent",
            "Session": shown.played.first,
            "Run": shown.played.review,
        }.items()
    )
    assert git(shown, "status", "--porcelain") == ""


def test_the_evidence_is_messages_of_the_person_and_its_words_are_not_in_git(shown):
    said = {str(m.number): m.text for m in shown.assembly.sessions.messages(shown.played.first)}
    assert [said[number] for number in trailers(shown)["Evidence"].split()] == list(FIRST[1:])
    assert not any(words in git(shown, "log", "-p") for words in FIRST)


def test_the_skill_on_disk_is_the_one_that_was_learned(shown):
    assert (shown.played.home / "skills/work" / SKILL / "SKILL.md").read_text() == LEARNED


def test_the_second_conversation_saw_loaded_and_followed_the_skill(shown):
    assert SKILL in shown.assembly.sessions.prompt(shown.played.second).system
    loaded = next(m for m in shown.assembly.sessions.messages(shown.played.second) if m.name == "skill_view")
    assert json.loads(loaded.text)["content"] == LEARNED
    picture = (shown.root / "shop/docs/billing.md").read_text()
    assert picture == BILLING
    assert all(mark in picture for mark in ("```mermaid", "flowchart LR", "subgraph", "Left out:"))
    assert shown.assembly.usage.all()[SKILL].uses == 1


def test_where_it_is_kept_is_said(shown):
    assert f"rm -rf {shown.root}" in shown.text
    assert "\x1b" not in shown.text


def test_a_place_that_holds_something_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(PersonMustAct, match="not empty"):
        place(str(tmp_path))
    assert place(str(tmp_path / "new")).is_dir()


def test_where_somebody_watches_it_pauses_and_has_colour():
    out, pauses = io.StringIO(), []
    stage = Stage(Theatre(out, lambda: 0.0, pauses.append, colour=True, alive=True))
    stage.said("Hello")
    stage.exactly("a\n\nb\n")
    assert pauses
    assert "\x1b[36m❯\x1b[0m Hello\n" in out.getvalue()
    assert out.getvalue().endswith("  a\n\n  b\n")


@pytest.mark.parametrize(("status", "error", "told"), [("failed", "no disk", "no disk"), ("cancelled", "", "is in /x")])
def test_a_demo_that_was_cut_short_says_so(status, error, told):
    with pytest.raises(Cut, match=told) as cut:
        whole(Outcome("ses", "run", status, error=error), "/x")
    assert cut.value.exit_code == 130


def test_the_script_is_not_repeated():
    model = ScriptedModel(())
    with pytest.raises(PersonMustAct, match="at its end"):
        next(model.stream(None, None))


def test_the_command_plays_it_where_the_person_says(tmp_path):
    shell = Shell(tmp_path)
    said = shell.fine("--home", str(tmp_path / "here"), "demo")
    assert f"rm -rf {tmp_path / 'here'}" in said.out
    assert not shell.home.exists()
    again = shell("--home", str(tmp_path / "here"), "demo")
    assert (again.code, again.out) == (2, "")
    assert "is not empty" in again.notes
