from dataclasses import replace
from pathlib import Path

import pytest

from assistant.core.messages import Effect
from assistant.safety.policy import Policy, Rule, explain, grant_key, judge
from assistant.safety.verdicts import Allow, Ask, Deny, strictest

PERSON = Path("/home/u")
POLICY = Policy(home=PERSON / ".hermes", workdir=PERSON / "proj", person=PERSON)


def ruled(*rules, **more):
    return replace(POLICY, rules=tuple(Rule(*rule) for rule in rules), **more)


def word(tool, policy=POLICY, effect=Effect.WORLD, **arguments):
    return judge(tool, effect, arguments, policy).word


ECHO = ("terminal", "echo *", "allow")
FORCE = ("terminal", "git push --force*", "deny")
YARN = ("terminal", "yarn", "deny")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo a", "allow"),
        ("echo a; touch x", "ask"),
        ("echo a && touch x", "ask"),
        ("echo a | sh", "ask"),
        ("echo a & touch x", "ask"),
        ("echo a\ntouch x", "ask"),
        ("echo $(touch x)", "ask"),
        ("touch x", "ask"),
        ("echo a > ~/.profile", "ask"),
        ("cd r && git push --force", "deny"),
        ("yarn test", "deny"),
        ("yarn", "deny"),
        ("sudo yarn", "deny"),
        ("FOO=1 /usr/bin/yarn test", "deny"),
        ("sh -c 'cd r; yarn test'", "deny"),
        ("yarnish", "ask"),
    ],
)
def test_a_rule_is_compared_with_each_part(command, expected):
    assert word("terminal", ruled(ECHO, FORCE, YARN), command=command) == expected


def test_a_rule_for_a_command_covers_neither_its_redirection_nor_its_variables():
    policy = ruled(("terminal", "cargo *", "allow"))

    assert word("terminal", policy, command="cargo check") == "allow"
    assert word("terminal", policy, command="cargo run") == "allow"
    assert word("terminal", policy, command="cargo check > ~/.profile") == "ask"
    assert word("terminal", policy, command="PATH=. cargo check") == "ask"


def test_a_rule_does_not_allow_a_name_that_is_put_together():
    assert word("terminal", ruled(("terminal", "r*", "allow")), command="x=m; r$x f") == "ask"


def test_the_last_rule_that_matches_wins():
    assert word("terminal", ruled(("terminal", "*", "allow"), YARN), command="yarn test") == "deny"
    assert word("terminal", ruled(YARN, ("terminal", "*", "allow")), command="yarn test") == "allow"


def test_no_rule_lifts_what_is_fatal_or_in_the_home():
    policy = ruled(("*", "*", "allow"))

    assert word("terminal", policy, command="rm -rf /") == "deny"
    assert word("write_file", policy, path="~/.hermes/skills/a") == "deny"
    assert word("terminal", policy, command="rm -rf build") == "allow"


def test_a_grant_is_for_exactly_this_call():
    assert grant_key("terminal", {"command": "rm f"}) == "terminal: rm f"
    assert grant_key("terminal", {"command": "rm f", "workdir": "/srv"}) == "terminal: rm f (in /srv)"
    assert grant_key("write_file", {"path": "rm f", "content": "x"}) == "write_file: rm f"
    assert grant_key("mcp__mail__send", {"to": "a", "text": "b"}) != grant_key("mcp__mail__send", {"to": "a"})


@pytest.mark.parametrize(
    ("mode", "quiet", "risky", "fatal", "write"),
    [
        ("smart", "allow", "ask", "deny", "allow"),
        ("manual", "ask", "ask", "deny", "ask"),
        ("off", "allow", "allow", "deny", "allow"),
    ],
)
def test_what_the_modes_mean(mode, quiet, risky, fatal, write):
    policy = replace(POLICY, mode=mode)

    assert word("terminal", policy, command="ls") == quiet
    assert word("terminal", policy, command="rm f") == risky
    assert word("terminal", policy, command="rm -rf /") == fatal
    assert word("write_file", policy, path="a.txt") == write
    assert word("write_file", policy, path="~/.hermes/config.yaml") == "deny"
    assert word("read_file", policy, Effect.READ, path="a.txt") == "allow"
    assert word("todo", policy, Effect.OWN) == "allow"


def test_where_nothing_of_the_machine_can_be_written_nothing_risky_asks():
    policy = replace(POLICY, isolated=True)

    assert word("terminal", policy, command="rm -rf build") == "allow"
    assert word("terminal", policy, command="rm -rf /") == "deny"
    assert word("terminal", ruled(("terminal", "yarn", "ask"), isolated=True), command="yarn") == "ask"


@pytest.mark.parametrize(
    ("tool", "path", "expected"),
    [
        ("write_file", "a.txt", "allow"),
        ("patch", "sub/a.txt", "allow"),
        ("write_file", "/tmp/a.txt", "allow"),
        ("write_file", "../a.txt", "ask"),
        ("write_file", "~/.bashrc", "ask"),
        ("write_file", ".git/hooks/pre-commit", "ask"),
        ("write_file", ".env", "ask"),
        ("write_file", "~/.hermes/SOUL.md", "deny"),
        ("patch", "../.hermes/memories/USER.md", "deny"),
        ("read_file", "~/.hermes/skills/general/x/SKILL.md", "allow"),
        ("read_file", "~/.hermes/.env", "deny"),
        ("read_file", "~/.hermes/server.json", "deny"),
        ("read_file", "~/.ssh/id_ed25519", "ask"),
        ("read_file", "~/.ssh/id_ed25519.pub", "allow"),
        ("read_file", "~/.aws/credentials", "ask"),
        ("read_file", ".env.example", "allow"),
        ("search_files", "~/.ssh", "ask"),
        ("search_files", ".", "allow"),
    ],
)
def test_paths_of_the_file_tools(tool, path, expected):
    assert word(tool, effect=Effect.READ, path=path, content="x") == expected


def test_a_rule_may_name_a_path():
    policy = ruled(("write_file", "/srv/*", "allow"), ("read_file", "*secret*", "deny"))

    assert word("write_file", policy, path="/srv/a.txt") == "allow"
    assert word("read_file", policy, Effect.READ, path="my-secret.txt") == "deny"


def test_a_tool_nobody_knows_asks_and_a_rule_may_allow_it():
    assert word("mcp__mail__send") == "ask"
    assert word("mcp__mail__send", ruled(("mcp__mail__*", "*", "allow"))) == "allow"
    assert word("mcp__mail__list", effect=Effect.READ) == "allow"


def test_typing_into_a_running_program_asks():
    assert word("process", action="poll", id="bg1") == "allow"
    assert word("process", action="write", id="bg1", data="yes\n") == "ask"
    assert word("process", action="write", id="bg1", data="rm -rf /\n") == "deny"


def test_a_command_is_judged_in_the_folder_it_will_run_in():
    assert word("terminal", command="rm -rf .", workdir="/") == "deny"
    assert word("terminal", command="echo x > a", workdir="~/.hermes/skills") == "deny"
    assert word("terminal", command="echo x > a", workdir="/srv") == "ask"


def test_explaining_shows_every_part():
    verdict, parts = explain("ls && rm f", POLICY)

    assert verdict.word == "ask"
    assert [(text, part.word) for text, part in parts] == [("ls", "allow"), ("rm f", "ask")]


def test_the_strictest_verdict_wins():
    assert strictest([Allow("a"), Deny("b"), Ask("c"), Deny("d")]) == Deny("b")
    assert strictest([]) == Allow()


def test_impossible_paths_get_a_verdict_too():
    assert word("write_file", path="a\0b") in ("allow", "ask")
    assert word("terminal", command="echo x > 'a\0b'") in ("allow", "ask")
