import json

import pytest

from assistant.core.events import LearningStaged, SkillChanged
from assistant.tools.skills import skill_manage, skill_view, skills_list
from skills_store.library import Library, StoreSettings
from skills_store.values import Actor, Origin
from tests.fakes.context import Desk

TEXT = """---
name: {name}
description: Use when drawing {name}.
---

# Steps

1. Draw it.
2. Label it.
"""


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path, said=["please draw boxes in blue"])
    desk.library = Library(tmp_path / "home" / "skills", desk.clock, desk.ids)
    return desk


def manage(desk, action, name="diagrams", **more):
    return json.loads(skill_manage.run(desk.context(), action=action, name=name, **more).text)


def view(desk, name="diagrams", file_path=""):
    return json.loads(skill_view.run(desk.context(), name=name, file_path=file_path).text)


def create(desk, name="diagrams", **more):
    return manage(desk, "create", name, content=TEXT.format(name=name), **more)


def test_a_created_skill_is_committed_told_and_listed(desk):
    done = create(desk, category="design")

    assert next(iter(done)) == "success"
    assert done["success"]
    assert done["commit"]
    assert desk.told == [SkillChanged("diagrams", "create", done["commit"])]
    listed = json.loads(skills_list.run(desk.context()).text)
    assert listed["skills"] == [
        {"name": "diagrams", "category": "design", "owner": "you", "description": "Use when drawing diagrams."}
    ]


def test_the_commit_names_the_call_so_that_it_is_found_after_a_crash(desk):
    context = desk.context()
    skill_manage.run(context, action="create", name="diagrams", content=TEXT.format(name="diagrams"))

    assert desk.library.receipt(f"run-1/{context.call_id}").name == "diagrams"


def test_a_view_shows_the_skill_and_the_second_only_that_it_is_unchanged(desk):
    create(desk)
    desk.marks.kept.clear()
    first, second = view(desk), view(desk)

    assert "Label it" in first["content"]
    assert first["hash"] == second["hash"]
    assert second["unchanged"]
    assert "content" not in second


def test_a_skill_changed_by_hand_is_shown_again(desk):
    done = create(desk)
    view(desk)
    path = desk.library.root / done["path"] / "SKILL.md"
    path.write_text(path.read_text() + "3. Sign it.\n")

    assert "Sign it" in view(desk)["content"]


def test_an_unknown_skill_is_refused_with_a_code(desk):
    answer = view(desk, "nowhere")

    assert (answer["success"], answer["code"]) == (False, "not_found")
    assert skill_view.run(desk.context(), name="nowhere").failed


def test_a_review_must_quote_and_must_have_read(desk):
    desk.actor = Actor.REVIEW
    made = create(desk, evidence=["boxes in blue"])
    assert made["success"], made
    desk.marks.kept.clear()
    change = {"old_string": "Draw it.", "new_string": "Draw it in blue."}

    assert manage(desk, "patch", **change)["code"] == "no_evidence"
    assert manage(desk, "patch", **change, evidence=["never said"])["code"] == "no_evidence"
    assert manage(desk, "patch", **change, evidence=["boxes in blue"])["code"] == "not_read"
    view(desk)
    assert manage(desk, "patch", **change, evidence=["boxes in blue"])["success"]
    assert manage(desk, "patch", old_string="Label it.", new_string="Label it twice.", evidence=["in blue"])["success"]


def test_a_patch_without_a_view_does_not_hide_the_text_from_the_next_view(desk):
    create(desk)
    desk.marks.kept.clear()
    manage(desk, "patch", old_string="Draw it.", new_string="Draw it in blue.")

    assert "Draw it in blue." in view(desk)["content"]


def test_a_patch_that_fits_nowhere_shows_the_nearest_place(desk):
    create(desk)
    answer = manage(desk, "patch", old_string="1. Draw them all now.", new_string="x")

    assert answer["code"] == "no_match"


def test_a_change_that_waits_is_told_as_waiting(tmp_path):
    desk = Desk(tmp_path)
    desk.library = Library(tmp_path / "skills", desk.clock, desk.ids, StoreSettings(write_approval="all"))
    answer = create(desk)

    assert answer["staged"]
    assert desk.told == [LearningStaged(answer["id"], "diagrams", "create")]


def test_what_rests_on_untrusted_text_waits(desk):
    desk.heard = Origin.UNTRUSTED

    assert create(desk)["staged"]


def test_a_support_file_is_written_and_seen(desk):
    create(desk)
    done = manage(desk, "write_file", file_path="references/colours.md", file_content="blue\n")

    assert done["success"]
    assert view(desk, file_path="references/colours.md")["unchanged"]


def test_a_query_ranks(desk):
    create(desk)
    create(desk, "invoices")
    found = json.loads(skills_list.run(desk.context(), query="invoice").text)

    assert found["skills"][0]["name"] == "invoices"
