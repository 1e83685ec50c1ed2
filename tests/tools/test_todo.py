import json

import pytest

from assistant.core.events import TodoChanged
from assistant.errors import ModelCanFix
from assistant.tools.todo import open_items, todo
from tests.fakes.context import Desk


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def call(desk, **arguments):
    result = todo.run(desk.context(), **todo.read(json.dumps(arguments)))
    return json.loads(result.text)


def item(id, content="do it", status="pending"):
    return {"id": id, "content": content, "status": status}


def test_a_plan_is_written_whole_and_read_whole(desk):
    call(desk, todos=[item("a", status="in_progress"), item("b")])
    answer = call(desk)

    assert next(iter(answer)) == "success"
    assert answer["todos"] == [item("a", status="in_progress"), item("b")]
    assert answer["summary"] == {"total": 2, "pending": 1, "in_progress": 1, "completed": 0, "cancelled": 0}


def test_reading_writes_nothing(desk):
    call(desk)

    assert desk.todos.writes == 0
    assert desk.told == []


def test_listeners_hear_the_whole_plan(desk):
    call(desk, todos=[item("a")])

    assert desk.told == [TodoChanged((item("a"),))]


def test_a_list_sent_as_text_is_taken(desk):
    assert call(desk, todos=json.dumps([item("a")]))["todos"] == [item("a")]


@pytest.mark.parametrize("odd", ["not json", [1, "x", {}], None, "{}", [{"id": "a", "content": "x", "status": "done"}]])
def test_odd_lists_are_refused_with_a_reason_and_nothing_changes(desk, odd):
    call(desk, todos=[item("a")])

    with pytest.raises(ModelCanFix, match="todos"):
        call(desk, todos=odd)
    assert desk.todos.read("session-1") == (item("a"),)


def test_merging_updates_what_is_given_and_appends_what_is_new(desk):
    call(desk, todos=[item("a"), item("b")])
    merged = call(
        desk, merge=True, todos=[{"id": "b", "status": "completed"}, item("c"), {"id": "c", "content": "new"}]
    )

    assert merged["todos"] == [item("a"), item("b", status="completed"), item("c", "new")]


def test_without_merge_the_list_is_replaced(desk):
    call(desk, todos=[item("a")])

    assert call(desk, todos=[item("b")])["todos"] == [item("b")]
    assert call(desk, todos=[])["todos"] == []


def test_the_same_id_twice_is_one_item_at_its_first_place(desk):
    assert call(desk, todos=[item("a", "1"), item("b"), item("a", "2")])["todos"] == [item("a", "2"), item("b")]


@pytest.mark.parametrize(
    ("todos", "why"),
    [
        ([item("a", status="in_progress"), item("b", status="in_progress")], "only one item may be in_progress"),
        ([{"id": "z"}], "'z' is new and needs content"),
    ],
)
def test_a_plan_that_breaks_a_rule_changes_nothing(desk, todos, why):
    with pytest.raises(ModelCanFix, match=why):
        call(desk, todos=todos)
    assert desk.todos.writes == 0


def test_only_open_items_are_put_before_the_model_again(desk):
    plan = (item("a", status="completed"), item("b", status="cancelled"), item("c", "go on", "in_progress"), item("d"))

    assert open_items(plan) == "- [>] c. go on\n- [ ] d. do it"
    assert open_items(plan[:2]) == ""
