"""`--json` has the fields of the contract; one home with everything in it answers for all commands."""

import json
import re

import pytest

from tests.cli.scene import Shell, skill
from tests.fakes.model import calls, says, used

CONTRACT = {
    "skill": "name category description owner state pin broken views uses last_used",
    "page": "name category description owner state pin broken views uses last_used path files content warnings"
    " provenance",
    "found": "name category description owner state pin broken views uses last_used score",
    "commit": "commit when actor action name subject why session run evidence",
    "taught": "line text commit when actor session run evidence",
    "session": "id title created updated messages model",
    "message": "id role text tool_calls when",
    "hit": "session_id message_id when role excerpt",
    "review": "run_id session_id kind outcome commits steps tokens seconds when",
    "waits": "id kind name action actor why when conflict",
    "run": "object run_id session_id kind status created_at started_at finished_at model output error usage steps"
    " last_event approvals questions resumed",
    "memory": "target entries used limit",
    "setting": "key value origin meaning",
}
WEEK = skill("planning-a-week", "1. Count the days.", "Use when the calendar of coming days is filled.")
TIMES = ("when", "created", "updated", "created_at", "started_at", "finished_at", "last_used")
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)$")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two conversations, a review that kept something, something staged."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    shell.fine("config", "set", "timezone", "Asia/Seoul")
    shell.fine("skills", "new", "greet-people", "--from", str(shell.write("greet.md", skill("greet-people"))))
    shell.model.script(
        calls("skill_view", name="greet-people"), says("안녕하세요! Always greet in Korean.") + used(100, 20, 50)
    )
    shell.fine("ask", "Please greet me in Korean from now on")
    quote = ["greet me in Korean"]
    shell.model.script(
        calls("memory", action="add", target="user", content="Wants greetings in Korean.", evidence=quote),
        calls(
            "skill_manage",
            action="create",
            name="greeting-in-korean",
            category="talk",
            content=skill("greeting-in-korean", "1. Say 안녕하세요.", "Use when a Korean reader is addressed."),
            evidence=quote,
        ),
        says("Saved."),
    )
    shell.fine("reviews", "run")
    shell.fine("config", "set", "skills.write_approval", "learning")
    shell.fine("config", "set", "memory.write_approval", "learning")
    shell.model.script(
        calls("skill_manage", action="create", name="planning-a-week", content=WEEK, evidence=quote),
        calls("memory", action="add", target="memory", content="The week begins on Monday.", evidence=quote),
        says("Waits."),
    )
    shell.fine("reviews", "run")
    shell.model.finished()
    return shell


def fields(kind: str) -> set[str]:
    return set(CONTRACT[kind].split())


def first(shell: Shell, *words: str) -> dict:
    return shell.fine(*words, "--json").json[0]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("skills list", "skill"),
        ("skills search korean", "found"),
        ("skills log", "commit"),
        ("skills log greeting-in-korean", "commit"),
        ("skills why greeting-in-korean", "taught"),
        ("memory show", "memory"),
        ("memory log", "commit"),
        ("inbox list", "waits"),
        ("reviews list", "review"),
        ("sessions list", "session"),
        ("sessions search korean", "hit"),
        ("runs list", "run"),
        ("config show", "setting"),
    ],
)
def test_a_list_is_an_array_of_objects_with_these_fields(home, words, kind):
    items = home.fine(*words.split(), "--json").json
    assert items
    for item in items:
        assert fields(kind) <= set(item), words
        for name in TIMES:
            assert item.get(name) is None or ISO.match(item[name]), (name, item[name])


@pytest.mark.parametrize(
    ("words", "listed", "id_of", "kind"),
    [
        ("skills show", "skills list", "name", "page"),
        ("sessions show", "sessions list", "id", "session"),
        ("runs show", "runs list", "run_id", "run"),
        ("reviews show", "reviews list", "run_id", "review"),
        ("inbox show", "inbox list", "id", "waits"),
    ],
)
def test_a_thing_is_an_object_with_these_fields(home, words, listed, id_of, kind):
    for item in home.fine(*listed.split(), "--json").json:
        shown = home.fine(*words.split(), item[id_of], "--json").json
        assert fields(kind) <= set(shown)


def test_the_messages_of_a_session(home):
    session = first(home, "sessions", "list")["id"]
    messages = home.fine("sessions", "show", session, "--json").json["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant"]
    assert all(fields("message") <= set(m) for m in messages)
    assert messages[1]["tool_calls"][0]["name"] == "skill_view"


def test_the_inbox_shows_the_difference_of_each_kind(home):
    items = {item["kind"]: item["id"] for item in home.fine("inbox", "list", "--json").json}
    assert set(items) == {"skill", "memory"}
    assert "+# planning-a-week" in home.fine("inbox", "show", items["skill"], "--json").json["diff"]
    assert "+The week begins on Monday." in home.fine("inbox", "show", items["memory"], "--json").json["diff"]


def test_each_learned_line_names_its_review_and_the_words_it_rests_on(home):
    saved = next(r for r in home.fine("reviews", "list", "--json").json if r["outcome"] == "saved")
    lines = home.fine("skills", "why", "greeting-in-korean", "--json").json
    assert {line["run"] for line in lines} == {saved["run_id"]}
    assert {line["actor"] for line in lines} == {"review"}
    assert lines[0]["evidence"][0]["quote"] == "greet me in Korean"
    one = home.fine("skills", "why", "greeting-in-korean", "6", "--json").json
    assert [line["line"] for line in one] == [6]
    shown = home.fine("skills", "why", "greeting-in-korean").out.splitlines()
    assert shown[0].startswith(f"{lines[0]['commit'][:10]}  review  ")
    assert shown[1] == "       because “greet me in Korean”"
    assert shown[-1] == f"{lines[-1]['line']:>5}  {lines[-1]['text']}"


def test_memory_names_text_time_actor_and_run(home):
    entries = {item["target"]: item["entries"] for item in home.fine("memory", "show", "--json").json}
    assert entries["memory"] == []
    (entry,) = entries["user"]
    assert (entry["text"], entry["actor"]) == ("Wants greetings in Korean.", "review")
    assert ISO.match(entry["when"])
    assert entry["run"].startswith("run_")


def test_a_skill_tells_where_it_comes_from(home):
    known = home.fine("skills", "show", "greeting-in-korean", "--json").json
    assert (known["owner"], known["category"], known["path"]) == ("agent", "talk", "talk/greeting-in-korean")
    assert known["provenance"]["maker"] == "review"
    assert home.fine("skills", "show", "greet-people", "--json").json["uses"] == 1


def test_validate_lists_problems_with_severity_line_and_message(home, tmp_path):
    folder = tmp_path / "good-name"
    folder.mkdir()
    (folder / "SKILL.md").write_text(skill("good-name"))
    assert home.fine("skills", "validate", str(folder), "--json").json == {"ok": True, "problems": []}
    (folder / "SKILL.md").write_text(skill("bad-name", body=""))
    said = home("skills", "validate", str(folder), "--json")
    assert (said.code, said.json["ok"]) == (1, False)
    assert {"severity", "line", "message"} <= set(said.json["problems"][0])


def test_approvals_check_gives_verdict_why_and_rule(home):
    assert home.fine("approvals", "check", "rm -rf /", "--json").json["verdict"] == "deny"
    allowed = home.fine("approvals", "check", "ls", "--json").json
    assert {"verdict", "why", "rule"} <= set(allowed)
    assert allowed["verdict"] == "allow"


def test_doctor_gives_checks_with_what_to_do(home):
    home.model.script(calls("ping"))
    told = home.fine("doctor", "--json").json
    assert told["ok"] is True
    assert all(set(check) == {"name", "ok", "message", "todo"} for check in told["checks"])


def test_events_are_one_object_a_line(home):
    run = home.fine("runs", "list", "--json").json[-1]["run_id"]
    frames = [json.loads(line) for line in home.fine("runs", "events", run, "--json").out.splitlines()]
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert (frames[0]["type"], frames[-1]["type"]) == ("run.started", "run.completed")
    later = home.fine("runs", "events", run, "--json", "--after", "2", "--now").out.splitlines()
    assert len(later) == len(frames) - 2


def test_people_get_lines_and_programs_get_nothing_else_on_standard_output(home):
    for words in ("skills list", "sessions list", "reviews list", "inbox list", "runs list", "skills log"):
        lines = home.fine(*words.split()).out.splitlines()
        assert lines[0] == lines[0].upper()
        assert len(lines) > 1


def test_times_are_shown_in_the_zone_of_the_settings(home):
    utc = first(home, "sessions", "list")["updated"]
    hour = (int(utc[11:13]) + 9) % 24
    assert f" {hour:02}:{utc[14:16]} " in home.fine("sessions", "list").out
