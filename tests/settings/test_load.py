"""Reading config.yaml: what is understood, and what is said when it is not."""

from pathlib import Path

import pytest

from assistant.errors import BadSetting
from assistant.settings import Settings, load, load_tolerant
from assistant.settings.tree import leaves

CONTRACT_DEFAULTS = {
    "model.name": "",
    "model.base_url": "",
    "model.api_key_env": "OPENAI_API_KEY",
    "model.context_window": 0,
    "model.fallback": "",
    "agent.max_steps": 90,
    "memory.memory_enabled": True,
    "memory.user_profile_enabled": True,
    "memory.nudge_interval": 10,
    "memory.memory_char_limit": 2200,
    "memory.user_char_limit": 1375,
    "memory.write_approval": "false",
    "skills.creation_nudge_interval": 10,
    "skills.write_approval": "false",
    "skills.scan": True,
    "skills.index_tokens": 1500,
    "skills.external_dirs": (),
    "skills.disabled": (),
    "skills.sync": "",
    "review.max_steps": 16,
    "review.model": "",
    "review.notify": "on",
    "review.daily_tokens": 500000,
    "review.sweep": True,
    "curator.enabled": True,
    "curator.interval_hours": 168,
    "curator.min_idle_hours": 2,
    "curator.stale_after_days": 30,
    "curator.archive_after_days": 90,
    "curator.consolidate": False,
    "curator.prune_builtins": False,
    "compression.threshold": 0.75,
    "compression.keep_recent": 0.2,
    "approvals.mode": "smart",
    "approvals.timeout": 300,
    "approvals.rules": (),
    "terminal.backend": "local",
    "terminal.timeout": 180,
    "terminal.workdir": "",
    "terminal.network": True,
    "terminal.isolated": False,
    "terminal.pass_env": (),
    "web.allow_private": False,
    "mcp.servers": {},
    "server.host": "127.0.0.1",
    "server.port": 8642,
    "server.api_key_env": "ASSISTANT_API_KEY",
    "server.allowed_hosts": (),
    "server.max_concurrent_runs": 64,
    "server.retention_days": 30,
    "display.tools": "line",
    "display.markdown": True,
    "timezone": "",
}


@pytest.fixture
def config(tmp_path):
    return tmp_path / "config.yaml"


def told(config: Path, text: str) -> str:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(BadSetting) as fault:
        load(config)
    return str(fault.value)


def read(config: Path, text: str) -> Settings:
    config.write_text(text, encoding="utf-8")
    return load(config)


def test_the_tree_has_exactly_the_settings_of_the_contract_at_their_defaults():
    assert leaves() == CONTRACT_DEFAULTS


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "agent:\nmemory: # all below is commented\n"])
def test_a_file_that_says_nothing_means_the_defaults(config, text):
    assert read(config, text) == Settings()


def test_no_file_means_the_defaults(config):
    assert load(config) == Settings()


def test_a_value_in_the_file_wins_and_its_neighbours_keep_their_defaults(config):
    settings = read(config, "memory: {nudge_interval: 3}\n")
    assert (settings.memory.nudge_interval, settings.memory.memory_char_limit) == (3, 2200)


def test_settings_cannot_be_changed_once_read(config):
    with pytest.raises(ValueError):
        read(config, "").agent.max_steps = 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [("true", "all"), ("false", "false"), ("all", "all"), ("learning", "learning"), ('"false"', "false")],
)
def test_write_approval_takes_a_boolean_where_its_meaning_is_clear(config, written, meant):
    assert read(config, f"skills: {{write_approval: {written}}}").skills.write_approval == meant


def test_on_and_off_are_words_and_only_true_and_false_are_booleans(config):
    settings = read(config, "approvals: {mode: off}\nreview: {notify: off}\nmodel: {name: yes}\n")
    assert (settings.approvals.mode, settings.review.notify, settings.model.name) == ("off", "off", "yes")
    assert "memory.memory_enabled is 'on'; it must be true or false" in told(config, "memory: {memory_enabled: on}")


def test_a_time_like_word_stays_a_word_and_a_leading_zero_means_nothing(config):
    settings = read(config, "model: {name: 22:30}\nagent: {max_steps: 010}\n")
    assert (settings.model.name, settings.agent.max_steps) == ("22:30", 10)


def test_rules_are_values_and_take_booleans_for_allow_and_deny(config):
    rules = "[{action: terminal, target: 'git *', effect: true}, {action: '*', effect: deny}]"
    assert [(r.action, r.target, r.effect) for r in read(config, f"approvals: {{rules: {rules}}}").approvals.rules] == [
        ("terminal", "git *", "allow"),
        ("*", "*", "deny"),
    ]


def test_servers_of_tools_are_named_values(config):
    text = "mcp: {servers: {notes: {command: notes-mcp, args: [--stdio]}, far: {url: 'https://example.org/mcp'}}}"
    servers = read(config, text).mcp.servers
    assert (servers["notes"].args, servers["far"].url) == (("--stdio",), "https://example.org/mcp")


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(config):
    config.write_bytes(b"\xef\xbb\xbfagent:\r\n  max_steps: 5\r\n")
    assert load(config).agent.max_steps == 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "memory:\n  nudge_intervall: 3\n",
            "line 2: there is no setting memory.nudge_intervall; did you mean memory.nudge_interval?",
        ),
        ("nudge_interval: 3\n", "line 1: there is no setting nudge_interval; did you mean memory.nudge_interval?"),
        ("modle: {}\n", "line 1: there is no setting modle; did you mean model?"),
        ("agent: {zzzzzz: 1}\n", "line 1: there is no setting agent.zzzzzz."),
        ("agent:\n  max_steps: ten\n", "line 2: agent.max_steps is 'ten'; it must be a whole number."),
        ("agent: {max_steps: 7.5}\n", "agent.max_steps is 7.5; it must be a whole number."),
        ("agent: {max_steps: true}\n", "agent.max_steps is true; it must be a whole number."),
        ("agent: {max_steps: 0}\n", "agent.max_steps is 0; it must be 1 or more."),
        ("agent: 7\n", "agent is 7; it must be a group of `name: value` lines."),
        ("model: {name: 5}\n", "model.name is 5; it must be text (in quotes, if it looks like a number)."),
        ("model: {name: }\n", "model.name is empty; it must be text"),
        ("server: {port: 70000}\n", "server.port is 70000; it must be 65535 or less."),
        ("review: {notify: loud}\n", "review.notify is 'loud'; it must be one of 'on' or 'off'."),
        ("skills: {disabled: one}\n", "skills.disabled is 'one'; it must be a list."),
        ("skills:\n  disabled:\n    - fine\n    - 7\n", "line 4: skills.disabled.1 is 7; it must be text"),
        ("approvals: {rules: [{action: a, effect: x}]}\n", "approvals.rules.0.effect is 'x'; it must be one of"),
        ("approvals: {rules: [{action: a}]}\n", "approvals.rules.0.effect is missing."),
        ("mcp: {servers: {a: {}}}\n", "mcp.servers.a: it needs either command or url."),
        ("timezone: Mars/Base\n", "timezone: it must be the name of a time zone"),
        ("timezone: ../../etc/passwd\n", "timezone: it must be the name of a time zone"),
        ("compression: {threshold: 0.1}\n", "compression: keep_recent must be smaller than threshold."),
        ("curator: {stale_after_days: 200}\n", "archive_after_days must not be smaller than stale_after_days."),
        ("- a\n", "must be a group of `name: value` lines, not a list."),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_is_expected(config, text, sentence):
    words = told(config, text)
    assert sentence in words
    assert str(config) in words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("agent: {max_steps: 1\nmemory: x\n", "line 2, column 7, is not valid YAML"),
        ("agent: {max_steps: 1}\nagent: {max_steps: 2}\n", "line 2, column 1, is not valid YAML: 'agent' stands twice"),
        ("model: !!python/object:os.system {}\n", "line 1, column 8, is not valid YAML"),
        ("? [a, b]\n: 3\n", "a name must be one word"),
        ("a: " + "[" * 5000, "is not valid YAML"),
        ("agent: {max_steps: " + "9" * 5000 + "}", "is not valid YAML"),
        ("model: {name: \x01}", "is not valid YAML"),
    ],
)
def test_broken_yaml_is_told_with_line_and_column(config, text, sentence):
    assert sentence in told(config, text)


def test_all_faults_are_told_at_once(config):
    assert told(config, "agent: {max_steps: x}\nweb: {allow_private: 1}\n").count("\n") == 1


def test_a_file_that_is_not_text_or_not_a_file_is_told(config, tmp_path):
    config.write_bytes(b"model: {name: \xff}")
    with pytest.raises(BadSetting, match="not UTF-8 text"):
        load(config)
    with pytest.raises(BadSetting, match="cannot be read"):
        load(tmp_path)


def test_of_another_programs_file_what_fits_is_taken_and_the_rest_is_named(config):
    config.write_text(
        "model: {default: gpt, name: small}\nagent: {max_turns: 500, max_steps: 7}\n"
        "mcp: {servers: {a: {}}}\ndisplay: {tool_progress: all}\nplugins: []\nmemory: {nudge_interval: often}\n"
    )
    settings, unused = load_tolerant(config)
    assert (settings.model.name, settings.agent.max_steps, settings.memory.nudge_interval) == ("small", 7, 10)
    assert set(unused) == {
        "model.default", "agent.max_turns", "mcp.servers", "display.tool_progress", "plugins", "memory.nudge_interval",
    }  # fmt: skip
