"""What a new home begins with."""

import pytest

from assistant.home import find_template
from skills_store.document import read
from skills_store.validate import validate_folder

SKILLS = sorted(path.parent for path in (find_template() / "skills").rglob("SKILL.md"))


def test_there_are_a_few_skills_and_they_cost_little_of_the_prompt():
    documents = [read((folder / "SKILL.md").read_bytes()) for folder in SKILLS]
    assert 3 <= len(documents) <= 5
    assert sum(len(document.name) + len(document.description) for document in documents) < 400


@pytest.mark.parametrize("folder", SKILLS, ids=lambda folder: folder.name)
def test_each_skill_is_in_order_and_says_first_when_it_is_used(folder):
    document = read((folder / "SKILL.md").read_bytes())
    assert validate_folder(folder) == ()
    assert document.description.startswith("Use when ")
    assert len(document.description) <= 60


def test_the_soul_is_short():
    assert len((find_template() / "SOUL.md").read_text()) < 1000


def test_secrets_and_state_stay_out_of_a_home_kept_in_git():
    ignored = (find_template() / ".gitignore").read_text().splitlines()
    assert {".env", "assistant.db*", "server.json", "logs/"} <= set(ignored)
