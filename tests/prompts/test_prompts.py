"""Prompts change behaviour as code does: their holes are checked, and each rendering has a golden file.

After a wished change of words: `.venv/bin/python -m tests.prompts.write_golden`, then read the diff.
"""

import frontmatter
import pytest
from jinja2 import Environment, meta

import prompts
from tests.prompts.scenes import FRESH, GOLDEN, SCENES, rendered

FILES = sorted(prompts.HERE.rglob("*.md"))
NAMES = [str(path.relative_to(prompts.HERE).with_suffix("")) for path in FILES]


def used_holes(name: str) -> set[str]:
    """The holes of a prompt and of all that it includes."""
    tree = Environment().parse(prompts.parts(name)[1])
    included = [used_holes(part) for part in meta.find_referenced_templates(tree) if part]
    return meta.find_undeclared_variables(tree).union(*included)


@pytest.mark.parametrize("name", NAMES)
def test_each_prompt_names_its_reader_and_exactly_the_holes_it_uses(name):
    header = frontmatter.load(prompts.HERE / f"{name}.md").metadata
    assert set(header) == {"reader", "holes"}
    assert header["reader"]
    assert used_holes(name) == set(header["holes"])


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_rendered_prompt_equals_its_golden_file(scene):
    assert rendered(scene) + "\n" == (GOLDEN / f"{scene}.txt").read_text(encoding="utf-8")


def test_every_golden_file_belongs_to_a_scene_and_every_prompt_has_one():
    assert {path.stem for path in GOLDEN.iterdir()} == set(SCENES)
    assert {name for name, _ in SCENES.values()} == {name for name in NAMES if "/parts/" not in name}


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_absent_parts_leave_no_empty_lines(scene):
    text = rendered(scene)
    assert "\n\n\n" not in text
    assert text == text.strip()


@pytest.mark.parametrize("holes", [{}, {"summary": "s"}, {"summary": "s", "plan": "p", "mood": "m"}])
def test_too_few_or_too_many_holes_are_an_error_that_names_both(holes):
    with pytest.raises(KeyError, match=r"summary wants \['plan', 'summary'\], got"):
        prompts.render("summary", **holes)


def test_what_fills_a_hole_is_never_read_as_a_template():
    assert "{{ 7 * 7 }}" in prompts.render("summary", summary="{{ 7 * 7 }}", plan="{% raise %}")


def test_the_system_prompt_of_a_fresh_home_is_small():
    assert len(prompts.render("system", **FRESH).encode()) <= 4500


@pytest.mark.parametrize("kind", ["memory", "skills", "both"])
def test_a_review_prompt_is_small(kind):
    assert len(prompts.render(f"review/{kind}", focus="x" * 500).encode()) <= 6000


def test_learning_is_spoken_of_only_while_it_is_possible():
    alone = prompts.render("system", **(FRESH | {"tools": ["terminal"]}))
    assert "skill_manage" not in alone
    assert "skill_view" not in alone
    assert "# Learning" not in alone
    assert "skill_view" not in prompts.render("system", **(FRESH | {"skills": ""}))


def test_an_entry_of_several_lines_stays_one_item():
    text = prompts.render("system", **(FRESH | {"memory": ["first\n# Not a heading"]}))
    assert "\n- first\n  # Not a heading\n" in text
