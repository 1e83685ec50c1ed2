"""The .env file."""

import pytest

from assistant.errors import BadSetting
from assistant.home.secrets import filled, read_secrets


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".env"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=plain", "plain"),
        ("export KEY=plain", "plain"),
        ("  KEY = spaced  ", "spaced"),
        ("KEY=", ""),
        ("KEY=a#b", "a#b"),
        ("KEY=a # a remark", "a"),
        ("KEY= # only a remark", ""),
        ("KEY='a # b'", "a # b"),
        ("KEY='back\\'", "back\\"),
        ('KEY="two\\nlines" # remark', "two\nlines"),
        ('KEY="a \\"word\\""', 'a "word"'),
        ("KEY=a=b==", "a=b=="),
        ("KEY=$HOME", "$HOME"),
        ("\ufeffKEY=marked\r", "marked"),
    ],
)
def test_a_line_is_a_name_and_a_value(file, line, value):
    file.write_text(f"{line}\n", encoding="utf-8", newline="")
    assert read_secrets(file) == {"KEY": value}


def test_only_unset_variables_are_filled(file):
    file.write_text("# keys\n\nA=file\nB=file\n")
    assert filled({"A": "set", "C": ""}, file) == {"A": "set", "B": "file", "C": ""}


def test_no_file_means_no_secrets(file):
    assert read_secrets(file) == {}


@pytest.mark.parametrize("line", ["hush", "a b=hush", "KEY='hush", 'KEY="hush" more', "1KEY=hush"])
def test_a_broken_line_is_told_by_its_number_and_never_shown(file, line):
    file.write_text(f"A=1\n{line}\n")
    with pytest.raises(BadSetting, match="line 2") as fault:
        read_secrets(file)
    assert "hush" not in str(fault.value)


def test_a_file_that_is_not_text_is_told(file):
    file.write_bytes(b"A=\xff")
    with pytest.raises(BadSetting, match="not UTF-8"):
        read_secrets(file)
