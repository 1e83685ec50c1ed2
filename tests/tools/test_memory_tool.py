import json

import pytest

from assistant.core.events import LearningStaged, MemoryChanged
from assistant.store.memory import MemoryFiles, MemorySettings
from assistant.tools.memory import memory
from skills_store.values import Actor
from tests.fakes.context import Desk


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path, said=["I live in Seoul"])
    desk.memory = MemoryFiles(tmp_path / "home" / "memories", desk.clock, desk.ids, MemorySettings(memory_limit=60))
    return desk


def call(desk, **arguments):
    return json.loads(memory.run(desk.context(), **memory.read(json.dumps(arguments))).text)


def test_the_answer_is_the_list_and_its_size(desk):
    answer = call(desk, action="add", target="user", content="Lives in Seoul")

    assert next(iter(answer)) == "success"
    assert (answer["entries"], answer["used"], answer["limit"]) == (["Lives in Seoul"], 14, 1375)
    assert [type(event) for event in desk.told] == [MemoryChanged]


def test_the_same_again_changes_nothing_and_is_told_to_nobody(desk):
    call(desk, action="add", target="user", content="Lives in Seoul")
    desk.told.clear()

    assert call(desk, action="add", target="user", content="Lives in Seoul")["success"]
    assert desk.told == []


def test_a_full_memory_says_what_is_in_it(desk):
    call(desk, action="add", target="memory", content="x" * 50)
    answer = call(desk, action="add", target="memory", content="y" * 20)

    assert (answer["success"], answer["used"], answer["limit"]) == (False, 50, 60)
    assert answer["entries"] == ["x" * 50]
    assert "once more" in answer["hint"]


def test_a_review_must_quote(desk):
    desk.actor = Actor.REVIEW

    assert call(desk, action="add", target="user", content="Lives in Seoul")["code"] == "no_evidence"
    assert call(desk, action="add", target="user", content="Seoul", evidence=["in Paris"])["code"] == "no_evidence"
    assert call(desk, action="add", target="user", content="Lives in Seoul", evidence=["I live in Seoul"])["success"]


def test_what_waits_is_told_as_waiting(tmp_path):
    desk = Desk(tmp_path)
    desk.memory = MemoryFiles(tmp_path / "m", desk.clock, desk.ids, MemorySettings(write_approval="all"))
    answer = call(desk, action="add", target="user", content="Lives in Seoul")

    assert answer["staged"]
    assert desk.told == [LearningStaged(answer["id"], "user", "add")]
    assert desk.memory.entries("user") == ()
