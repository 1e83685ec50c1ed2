import json

from assistant.core.messages import Effect
from assistant.tools.toolbox import ALL

EFFECTS = {
    "terminal": Effect.WORLD,
    "process": Effect.WORLD,
    "read_file": Effect.READ,
    "write_file": Effect.WORLD,
    "patch": Effect.WORLD,
    "search_files": Effect.READ,
    "todo": Effect.OWN,
    "memory": Effect.OWN,
    "session_search": Effect.READ,
    "skills_list": Effect.READ,
    "skill_view": Effect.READ,
    "skill_manage": Effect.OWN,
    "clarify": Effect.ASK,
}


def test_the_tools_come_in_a_fixed_order_with_their_effects():
    assert {tool.name: tool.effect for tool in ALL} == EFFECTS
    assert [tool.name for tool in ALL] == list(EFFECTS)


def test_all_schemas_together_stay_small():
    assert len(json.dumps([tool.schema() for tool in ALL])) <= 9_000


def test_each_tool_and_each_optional_parameter_of_the_stores_says_what_it_is_for():
    assert all(tool.description for tool in ALL)
    for name in ("memory", "skill_manage"):
        known = next(tool for tool in ALL if tool.name == name).parameters["properties"]
        assert "evidence" in known
        assert "description" in known["old_text" if name == "memory" else "old_string"]


def test_the_preview_names_a_parameter():
    assert all(tool.preview in ("", *tool.parameters["properties"]) for tool in ALL)
