"""Showing and changing config.yaml."""

from pathlib import Path

import pytest

from assistant.errors import BadSetting, PersonMustAct
from assistant.home import find_template
from assistant.settings import Settings, load
from assistant.settings.carry import carry_over
from assistant.settings.describe import describe
from assistant.settings.edit import edit, get, set_value, show
from assistant.settings.tree import leaves
from tests.settings.template import template_text


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes((find_template() / "config.yaml").read_bytes())
    return path


def changed_lines(before: str, after: str) -> list[str]:
    old, new = before.splitlines(), after.splitlines()
    assert len(old) == len(new)
    return [line for was, line in zip(old, new, strict=True) if was != line]


def test_the_template_is_what_the_tree_says(config):
    assert config.read_text() == template_text()
    assert load(config) == Settings()


def test_every_setting_has_a_meaning_that_fits_a_line():
    rows = describe()
    assert [row.key for row in rows] == list(leaves())
    assert [row.key for row in rows if not row.meaning.endswith(".") or "\n" in row.meaning] == []


@pytest.mark.parametrize(
    ("key", "text", "line"),
    [
        ("agent.max_steps", "7", "  max_steps: 7   # Requests"),
        ("model.name", "5", '  name: "5"'),
        ("model.name", "a: b", '  name: "a: b"'),
        ("skills.write_approval", "true", "  write_approval: true  "),
        ("skills.write_approval", "learning", '  write_approval: "learning"'),
        ("skills.disabled", "[a, b]", "  disabled: [a, b]  "),
        ("approvals.mode", "off", "  mode: off"),
        ("approvals.rules", "[{action: terminal, effect: deny}]", "  rules: [{action: terminal, effect: deny}] #"),
        ("timezone", "Europe/Berlin", 'timezone: "Europe/Berlin"'),
    ],
)
def test_setting_a_value_changes_one_line_and_keeps_its_comment(config, key, text, line):
    before = config.read_text()
    changed = set_value(config, key, text)
    [new] = changed_lines(before, config.read_text())
    assert new.startswith(line.rstrip())
    assert "  # " in new or "] # " in new or '" # ' in new
    assert changed.key == key
    assert changed.before != changed.after


def test_a_value_is_read_back_as_it_was_set(config):
    set_value(config, "mcp.servers", "{notes: {command: notes-mcp, args: [--stdio]}}")
    set_value(config, "compression.threshold", "0.5")
    settings = load(config)
    assert settings.mcp.servers["notes"].args == ("--stdio",)
    assert settings.compression.threshold == 0.5


def test_a_missing_group_or_file_is_made(tmp_path):
    path = tmp_path / "config.yaml"
    set_value(path, "agent.max_steps", "7")
    set_value(path, "timezone", "UTC")
    assert (load(path).agent.max_steps, load(path).timezone) == (7, "UTC")


def test_line_ends_of_windows_stay(config):
    config.write_bytes(b"agent:\r\n  max_steps: 5 # mine\r\n")
    set_value(config, "agent.max_steps", "6")
    assert config.read_bytes() == b"agent:\r\n  max_steps: 6 # mine\r\n"


def test_a_link_keeps_leading_where_it_led(config, tmp_path):
    link = tmp_path / "linked.yaml"
    link.symlink_to(config)
    set_value(link, "agent.max_steps", "6")
    assert link.is_symlink()
    assert load(config).agent.max_steps == 6


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        ("agent.max_stepz", "7", "there is no setting agent.max_stepz; did you mean agent.max_steps?"),
        ("agent", "7", "there is no setting agent"),
        ("agent.max_steps", "many", "agent.max_steps is 'many'; it must be a whole number."),
        ("agent.max_steps", "[", "agent.max_steps is '['; it must be a whole number."),
        ("compression.threshold", "0.1", "keep_recent must be smaller than threshold"),
        ("model.api_key_env", "sk-live-abc", "must be the name of an environment variable"),
    ],
)
def test_a_bad_value_is_refused_and_nothing_is_written(config, key, text, sentence):
    before = config.read_bytes()
    with pytest.raises(BadSetting) as fault:
        set_value(config, key, text)
    assert sentence in str(fault.value)
    assert "sk-live" not in str(fault.value)
    assert config.read_bytes() == before


def test_a_broken_file_is_not_made_worse(config):
    config.write_text("agent: [\n")
    with pytest.raises(BadSetting, match="line 2, column 1"):
        set_value(config, "agent.max_steps", "7")
    assert config.read_text() == "agent: [\n"


def test_when_a_change_takes_effect_is_said(config):
    assert "when the server starts next" in set_value(config, "server.port", "1").takes_effect
    assert "open session" in set_value(config, "skills.index_tokens", "1").takes_effect


def test_each_value_is_shown_with_its_origin(config):
    set_value(config, "agent.max_steps", "7")
    environ = {"ASSISTANT_MODEL": "small", "OPENAI_BASE_URL": "http://localhost:1/v1"}
    origins = {shown.key: (shown.value, shown.origin) for shown in show(config, environ)}
    assert origins["agent.max_steps"] == ("7", "file")
    assert origins["memory.nudge_interval"] == ("10", "default")
    assert origins["model.name"] == ("small", "environment (ASSISTANT_MODEL)")
    assert origins["model.base_url"] == ('"http://localhost:1/v1"', "environment (OPENAI_BASE_URL)")


def test_the_environments_model_wins_and_its_address_only_fills_in(config):
    set_value(config, "model.name", "large")
    set_value(config, "model.base_url", "http://mine/v1")
    environ = {"ASSISTANT_MODEL": "small", "OPENAI_BASE_URL": "http://other/v1"}
    assert [get(config, environ, key).value for key in ("model.name", "model.base_url")] == [
        "small",
        '"http://mine/v1"',
    ]


def test_what_may_be_secret_in_a_servers_environment_is_not_shown(config):
    changed = set_value(config, "mcp.servers", "{a: {command: x, env: {TOKEN: hush}}}")
    assert "hush" not in changed.after + get(config, {}, "mcp.servers").value
    assert load(config).mcp.servers["a"].env == {"TOKEN": "hush"}


def never(fault: str) -> bool:
    return False


def typing(text: str):
    def editor(path: Path) -> None:
        path.write_text(text)

    return editor


def test_an_edited_file_replaces_the_old_one_once_it_is_right(config):
    assert edit(config, typing("agent: {max_steps: 3}\n"), never)
    assert load(config).agent.max_steps == 3
    assert list(config.parent.iterdir()) == [config]


def test_an_editor_closed_without_a_change_changes_nothing(config):
    before = config.stat().st_mtime_ns
    assert not edit(config, lambda path: None, never)
    assert config.stat().st_mtime_ns == before


def test_a_bad_edit_opens_again_with_the_fault(config):
    texts = iter(["agent: {max_steps: x}\n", "agent: {max_steps: 4}\n"])
    faults: list[str] = []

    def again(fault: str) -> bool:
        faults.append(fault)
        return True

    assert edit(config, lambda path: typing(next(texts))(path), again)
    assert "it must be a whole number" in faults[0]
    assert load(config).agent.max_steps == 4


def test_a_bad_edit_that_is_given_up_is_kept_beside_the_unchanged_file(config):
    before = config.read_bytes()
    with pytest.raises(BadSetting, match="is unchanged") as fault:
        edit(config, typing("agent: {max_steps: x}\n"), never)
    [draft] = [path for path in config.parent.iterdir() if path != config]
    assert str(draft) in str(fault.value)
    assert draft.read_text() == "agent: {max_steps: x}\n"
    assert config.read_bytes() == before


def test_a_file_changed_by_somebody_else_meanwhile_is_not_overwritten(config):
    def editor(path: Path) -> None:
        path.write_text("agent: {max_steps: 3}\n")
        set_value(config, "agent.max_steps", "8")

    with pytest.raises(PersonMustAct, match="somebody else"):
        edit(config, editor, never)
    assert load(config).agent.max_steps == 8


def test_what_another_program_set_in_our_words_is_carried_over(config, tmp_path):
    theirs = tmp_path / "theirs.yaml"
    theirs.write_text("memory: {nudge_interval: 5, provider: x}\nskills: {disabled: [one]}\nagent: {max_turns: 500}\n")
    assert set(carry_over(theirs, config)) == {"memory.provider", "agent.max_turns"}
    assert (load(config).memory.nudge_interval, load(config).skills.disabled) == (5, ("one",))


def test_a_broken_file_of_another_program_carries_nothing_over(config, tmp_path):
    theirs = tmp_path / "theirs.yaml"
    theirs.write_text("memory: [\n")
    [told] = carry_over(theirs, config)
    assert "not valid YAML" in told
    assert config.read_text() == template_text()
