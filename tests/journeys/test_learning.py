"""The main job, in the words of the person: from a correction to a committed skill to its use."""

import json
import sqlite3
import subprocess
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest

from assistant.core.events import ReviewQueued, SkillChanged, ToolStarted
from assistant.core.ports import Start
from skills_store.plan import Wish
from skills_store.values import Actor, Cause
from tests.fakes.model import UNTIL_STOPPED, calls, calls_many, says
from tests.fakes.world import World

DIAGRAMS = """---
name: technical-architecture-diagrams
description: "Use when drawing an architecture diagram."
---

# Architecture diagrams

Draw them as Mermaid, top to bottom, with the data stores at the bottom.
"""
CORRECTION = "No: as Mermaid, and top to bottom, please"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.close()
    world.model.finished()


def git(world, *words, where="skills"):
    done = subprocess.run(["git", *words], cwd=world.home / where, capture_output=True, text=True, check=True)
    return done.stdout


def two_step_turn(world, text, answer="Here it is."):
    world.script(calls("todo"), says(answer))
    return world.ask(text)


def five_turns(world):
    for text in ("Draw our services", CORRECTION, "And the stores at the bottom", "Good, now the queue"):
        two_step_turn(world, text)
    return two_step_turn(world, "And the cache")


def wire(messages):
    return [(m.role, m.wire_text, m.calls, m.answers) for m in messages]


def creates(name="technical-architecture-diagrams", content=DIAGRAMS, evidence=(CORRECTION,)):
    return calls("skill_manage", action="create", name=name, content=content, evidence=list(evidence))


def learn(world):
    """Five turns, the review they make due, and its run."""
    world.script()
    last = five_turns_with_review(world, calls("skills_list", query="diagram"), creates(), says("Saved one skill."))
    return last, world.follow(last.review())


def five_turns_with_review(world, *review):
    for text in ("Draw our services", CORRECTION, "And the stores at the bottom", "Good, now the queue"):
        two_step_turn(world, text)
    world.script(calls("todo"), says("Here it is."), *review)
    return world.ask("And the cache")


def test_a_correction_becomes_a_skill_that_the_next_conversation_uses(world):
    last, review = learn(world)

    assert last.types[-2:] == ["review.queued", "run.completed"]
    assert review.answer == "review: saved technical-architecture-diagrams"
    body = git(world, "log", "-1", "--format=%B")
    assert body.startswith("learn(technical-architecture-diagrams):")
    message = next(m for m in world.messages() if m.text == CORRECTION)
    trailers = dict(line.split(": ", 1) for line in body.splitlines() if ": " in line and line[0].isupper())
    assert trailers["Actor"] == "review"
    assert trailers["Owner"] == "agent"
    assert trailers["Session"] == world.session
    assert trailers["Run"] == review.run_id
    assert trailers["Evidence"] == str(message.number)
    assert CORRECTION not in body

    world.new_session()
    world.script(calls("skill_view", name="technical-architecture-diagrams"), says("As Mermaid, top to bottom."))
    turn = world.ask("Draw the new billing services")

    assert "technical-architecture-diagrams" in world.model.requests[-1].system
    assert "top to bottom" in json.loads(turn.results()[0].text)["content"]
    assert "top to bottom" in world.model.requests[-1].messages[-1].text


def test_the_review_is_a_warm_start_its_first_request_begins_with_the_whole_of_the_turns_last(world):
    learn(world)

    turn, review = world.model.requests[9], world.model.requests[10]

    assert (review.system, review.tools) == (turn.system, turn.tools)
    assert wire(review.messages)[: len(turn.messages)] == wire(turn.messages)
    assert review.messages[len(turn.messages)].text == "Here it is."


def test_the_reviews_words_are_neither_in_the_session_nor_in_the_search(world):
    learn(world)

    texts = [m.text for m in world.messages()]

    assert "Saved one skill." not in texts
    assert len(texts) == 20
    assert world.parts.sessions.search("Saved one skill") == []
    assert [s.id for s in world.parts.sessions.newest()] == [world.session]


def test_the_same_story_told_twice_gives_the_same_rows_and_the_same_commits(tmp_path):
    told = []
    for name in ("one", "two"):
        world = World(tmp_path / name, frozen=True)
        learn(world)
        world.close()
        database = sqlite3.connect(world.home / "assistant.db")
        rows = {
            table: database.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in ("messages", "events", "runs", "reviews", "evidence", "counters", "intents", "usage")
        }
        database.close()
        told.append((json.loads(json.dumps(rows).replace(str(world.folder), "")), git(world, "rev-list", "HEAD")))

    assert told[0][1] == told[1][1]
    for table, rows in told[0][0].items():
        assert rows == told[1][0][table], table


def test_an_existing_skill_is_extended_after_it_was_viewed(world):
    learn(world)
    patch = calls(
        "skill_manage",
        action="patch",
        name="technical-architecture-diagrams",
        old_string="top to bottom",
        new_string="left to right",
        evidence=["Rather left to right from now on"],
    )
    world.new_session()
    for _ in range(4):
        two_step_turn(world, "Another one")
    look = calls("skill_view", name="technical-architecture-diagrams")
    world.script(calls("todo"), says("Here."), patch, look, patch, says("Mended."))
    last = world.ask("Rather left to right from now on")
    review = world.follow(last.review())

    refused, _, landed = review.results()
    assert json.loads(refused.text)["code"] == "not_read"
    assert json.loads(landed.text)["success"] is True
    assert "left to right" in world.skill("general/technical-architecture-diagrams/SKILL.md")
    assert review.answer == "review: saved technical-architecture-diagrams"


def test_nothing_to_save_is_a_good_answer_and_says_nothing(world):
    last = five_turns_with_review(world, says("Nothing to save."))
    review = world.follow(last.review())

    assert review.answer == ""
    [row] = world.parts.ledger.reviews()
    assert (row["outcome"], row["kind"]) == ("nothing", "skills")


def test_a_skill_of_the_persons_is_left_alone_until_it_is_adopted(world):
    own = DIAGRAMS.replace("technical-architecture-diagrams", "my-diagrams")
    world.script(calls("skill_manage", action="create", name="my-diagrams", content=own), says("Saved."))
    world.ask("Save this as a skill")
    assert git(world, "log", "-1", "--format=%(trailers:key=Owner,valueonly)").strip() == "you"
    world.new_session()
    look = calls("skill_view", name="my-diagrams")
    patch = calls(
        "skill_manage",
        action="patch",
        name="my-diagrams",
        old_string="stores at the bottom",
        new_string="stores at the top",
        evidence=[CORRECTION],
    )
    last = five_turns_with_review(world, look, patch, says("It is yours."))
    review = world.follow(last.review())
    assert json.loads(review.results()[1].text)["code"] == "ownership"

    world.assembly.library.manage(Wish("adopt", "my-diagrams"), Cause(Actor.YOU))
    world.new_session()
    last = five_turns_with_review(world, look, patch, says("Done."))
    review = world.follow(last.review())

    assert json.loads(review.results()[1].text)["success"] is True


def test_an_interrupted_turn_makes_no_review_and_keeps_the_counter(world):
    for _ in range(4):
        two_step_turn(world, "Another one")
    world.script(calls("todo"), [*says("I am"), UNTIL_STOPPED])

    def stop(event, run_id):
        if event.type == "message.delta":
            world.runs.stop(run_id)

    last = world.ask("And the cache", meanwhile=stop)

    assert last.types[-1] == "run.cancelled"
    assert "review.queued" not in last.types
    assert world.parts.ledger.counters(world.session)[0] == 10


def test_nine_steps_make_no_review_at_the_end_of_the_turn(world):
    for _ in range(3):
        two_step_turn(world, "Another one")
    world.script(calls("todo"), calls("todo"), says("done"))
    assert "review.queued" not in world.ask("three steps").types
    assert world.parts.ledger.counters(world.session)[0] == 9


def test_five_turns_of_two_steps_make_exactly_one(world):
    last = five_turns_with_review(world, says("Nothing to save."))

    assert sum(isinstance(e, ReviewQueued) for e in last.events) == 1
    world.follow(last.review())
    assert world.parts.ledger.counters(world.session)[0] == 0
    assert len(world.parts.ledger.reviews()) == 1


def test_the_count_survives_a_restart(world):
    for _ in range(4):
        two_step_turn(world, "Another one")
    world.again()
    world.script(calls("todo"), says("Here."), says("Nothing to save."))
    last = world.ask("And the cache")

    world.follow(last.review())


@pytest.mark.parametrize("evidence", [[], ["the person never said this"], ["ok"]])
def test_no_true_quote_no_change(world, evidence):
    last = five_turns_with_review(world, creates(evidence=evidence), says("I could not."))
    review = world.follow(last.review())

    assert json.loads(review.results()[0].text)["code"] == "no_evidence"
    assert not (world.home / "skills/general/technical-architecture-diagrams").exists()
    assert world.parts.ledger.reviews()[0]["outcome"] == "refused"


def test_a_hostile_reviewer_reaches_no_other_tool_from_any_thread(world):
    mark = world.work / "mark"
    hostile = calls_many(
        ("terminal", {"command": f"touch {mark}"}),
        ("write_file", {"path": str(mark), "content": "x"}),
        ("read_file", {"path": "/etc/passwd"}),
        ("skills_list", {}),
    )
    last = five_turns_with_review(world, hostile, says("hm"))
    review = world.follow(last.review())

    *refused, listed = review.results()
    assert not mark.exists()
    assert all(r.failed and "not available while looking back" in r.text for r in refused)
    assert not listed.failed
    assert [e.tool for e in review.events if isinstance(e, ToolStarted)] == ["skills_list"]


def test_the_main_session_keeps_its_tools_after_a_review(world):
    last = five_turns_with_review(world, calls("terminal", command="true"), says("hm"))
    world.follow(last.review())
    world.script(calls("terminal", command="echo still here"), says("yes"))

    assert "still here" in world.ask("try it").results()[0].text


def test_what_the_model_saves_in_the_turn_belongs_to_the_person_and_starts_the_count_anew(world):
    for _ in range(3):
        two_step_turn(world, "Another one")
    world.script(creates(evidence=()), says("Saved."))

    turn = world.ask("Remember how to draw these")

    assert any(isinstance(e, SkillChanged) for e in turn.events)
    trailers = git(world, "log", "-1", "--format=%(trailers:key=Actor,key=Owner,valueonly,separator=%x2C)")
    assert trailers.strip() == "assistant,you"
    assert world.parts.ledger.counters(world.session)[0] == 1


def test_an_edit_in_an_editor_between_two_turns_is_a_commit_of_its_own(world):
    learn(world)
    path = world.home / "skills/general/technical-architecture-diagrams/SKILL.md"
    path.write_text(path.read_text() + "\nKeep labels short.\n")
    world.new_session()
    look = calls("skill_view", name="technical-architecture-diagrams")
    patch = calls(
        "skill_manage",
        action="patch",
        name="technical-architecture-diagrams",
        old_string="data stores",
        new_string="databases",
        evidence=["call them databases"],
    )
    for _ in range(4):
        two_step_turn(world, "Another one")
    world.script(calls("todo"), says("Here."), look, patch, says("Mended."))
    last = world.ask("Please call them databases")
    world.follow(last.review())

    actors = git(world, "log", "-2", "--format=%(trailers:key=Actor,valueonly,separator=%x2C)").split()
    assert actors == ["review", "you"]
    assert path.read_text().endswith("Keep labels short.\n")
    assert "databases" in path.read_text()
    assert git(world, "status", "--porcelain") == ""


def test_a_fault_in_queueing_a_review_never_touches_the_answer(world):
    with world.parts.database.writing() as tx:
        tx.execute("CREATE TRIGGER broken BEFORE INSERT ON reviews BEGIN SELECT RAISE(ABORT, 'broken'); END")

    last = five_turns_with_review(world)

    assert last.answer == "Here it is."
    assert last.types[-1] == "run.completed"
    assert "review.queued" not in last.types


def test_lines_on_learning_are_there_only_while_they_make_sense(world):
    world.script(says("hi"))
    world.ask("hello")

    system = world.model.requests[-1].system

    assert "# Learning" in system
    assert "# Skills" in system


def test_the_first_request_of_a_fresh_home_is_small(world):
    world.script(says("hi"))
    world.ask("hello")
    request = world.model.requests[-1]

    assert len((request.system + json.dumps(request.tools)).encode()) <= 14_000


def test_a_look_in_a_turn_is_a_use_and_a_reviewers_look_is_not(world):
    name = next(r.name for r in world.assembly.library.records())
    look = calls("skill_view", name=name)
    last = five_turns_with_review(world, look, says("Nothing to save."))
    world.follow(last.review())
    assert (world.assembly.library.record(name).views, world.assembly.library.record(name).uses) == (1, 0)

    world.script(look, says("ok"))
    world.ask("Use it")

    assert (world.assembly.library.record(name).views, world.assembly.library.record(name).uses) == (2, 1)


def test_files_that_changed_while_a_command_ran_are_not_said_to_be_the_persons(world):
    world.clock.now = datetime.now(UTC) + timedelta(seconds=2)
    name = next(r.name for r in world.assembly.library.records())
    world.script(calls("terminal", command="true"), says("ok"))
    world.ask("do it")
    path = next((world.home / "skills").glob(f"*/{name}/SKILL.md"))
    path.write_text(path.read_text() + "\nOne more line.\n")
    patch = calls("skill_manage", action="patch", name=name, old_string="One more line.", new_string="Another line.")
    world.script(patch, says("ok"))
    world.ask("Patch it")

    actors = git(world, "log", "-2", "--format=%(trailers:key=Actor,valueonly,separator=%x2C)").split()
    assert actors == ["assistant", "unknown"]


def test_a_review_asks_the_model_that_the_turn_asked(world):
    world.script(*[calls("todo") for _ in range(9)], says("done"), says("Nothing to save."))
    run = world.runs.start(Start("go", model="another")).run_id

    review = world.follow(world.follow(run).review())

    assert world.parts.runs.row(review.run_id)["model"] == "another"


def test_a_review_that_another_turn_joins_sees_that_turn_too(world):
    world.configure("skills: {creation_nudge_interval: 1}\n")
    at_work, go_on = Event(), Event()
    world.script(says("Hello."), [at_work.set, go_on, *says("Nothing to save.")])
    world.ask("Hello")
    assert at_work.wait(10)
    world.new_session()
    world.script(says("One."), says("Two."), says("Nothing to save."))
    first, second = world.ask("First?"), world.ask("Second?")

    go_on.set()
    world.follow(first.review())

    assert second.review() == first.review()
    assert [m.text for m in world.model.requests[-1].messages[:4]] == ["First?", "One.", "Second?", "Two."]
