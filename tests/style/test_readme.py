"""The README is true: its Python runs, its files exist, its tables say what the code says."""

import re

import pytest

from tests.style.code import ROOT
from tests.style.readme import README, blocks, command_table, commands, has_commands, setting_table, settings, table
from tests.style.transcript import transcript

TEXT = README.read_text(encoding="utf-8")
needs_commands = pytest.mark.skipif(not has_commands(), reason="there is no command tree yet")


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: re.findall(r"(?:def|class) (\w+)", block)[0])
def test_every_python_block_runs_and_its_tests_pass(block):
    names: dict[str, object] = {"__name__": "readme"}
    exec(compile(block, "README.md", "exec"), names)
    tests = [thing for name, thing in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def test_every_linked_file_exists():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", TEXT)
    assert len(links) >= 6
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_every_make_target_it_names_exists():
    named = set(re.findall(r"`make ([a-z-]+)`", TEXT))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert named
    assert named <= targets


def test_the_table_of_settings_is_the_settings_tree():
    assert table("settings") == setting_table()
    assert [name for name, _, meaning in settings() if f"| `{name}` |" not in TEXT or not meaning] == []


def test_the_transcript_is_what_the_demo_prints():
    assert table("demo") == transcript()


@needs_commands
def test_the_table_of_commands_is_the_help():
    assert table("commands") == command_table()
    assert [name for name, text in commands().items() if not text] == []


@needs_commands
def test_every_command_in_an_example_exists():
    known = [name.split()[1:] for name in commands()]
    examples = [words.split() for words in re.findall(r"\bassistant ((?:[a-z]+ ?){1,2})", "\n".join(blocks("sh")))]
    assert examples
    assert [words for words in examples if not any(name == words[: len(name)] for name in known)] == []
