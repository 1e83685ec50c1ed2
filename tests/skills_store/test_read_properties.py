"""What holds for every header and every file, tried on many; the long form is fuzz_document.py."""

import random

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from skills_store.header import _simple, quoted_value, read_header
from tests.skills_store.fuzz_document import check, made_up

PLAIN = st.text(st.sampled_from("ab 1-_.,:#'\"!?&*[]{}|>%@`~가é\\/()=+;<\t"), max_size=12)
KEYS = st.sampled_from(["name", "description", "a-b", "x_1"])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, PLAIN, min_size=1, max_size=3))
def test_the_short_way_reads_simple_headers_as_yaml_does(fields: dict[str, str]):
    lines = [f"{key}: {value}" for key, value in fields.items()]
    short = _simple(lines)
    if short is not None:
        assert short.values == yaml.load("\n".join(lines), Loader=yaml.BaseLoader)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_a_quoted_value_is_read_back_as_it_was(value: str):
    assert read_header(f"key: {quoted_value(value)}").values == {"key": value}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_any_file_of_odd_pieces_passes_every_check(seed: int):
    check(made_up(random.Random(seed)))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([b"", b"---\n", b"---\nname: a\ndescription: "]))
def test_any_bytes_pass_every_check(data: bytes, start: bytes):
    check(start + data)
