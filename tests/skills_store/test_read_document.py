"""Any bytes become a document; what was repaired and what is broken is said with its line."""

import pytest

from skills_store.document import MAX_BYTES, Document, encode, read, with_field


def skill(header: str, body: str = "# Title\n\nDo it.\n") -> Document:
    return read(f"---\n{header}\n---\n{body}".encode())


def lines_of(document: Document) -> list[int]:
    return [problem.line for problem in document.warnings]


def test_an_unquoted_colon_is_part_of_the_description_and_told_once_with_its_line():
    document = skill("name: rollout-guard\ndescription: Rollout guard: check the queue before 18:00")
    assert document.description == "Rollout guard: check the queue before 18:00"
    assert document.broken is None
    assert lines_of(document) == [3]


def test_a_repair_leaves_the_other_lines_as_they_were():
    document = skill("name: a\ndescription: one: two\nlicense: 'MIT: really'\nmetadata:\n  x: \"1: 2\"")
    assert document.header["license"] == "MIT: really"
    assert document.header["metadata"] == {"x": "1: 2"}
    assert lines_of(document) == [3]


def test_a_byte_order_mark_changes_nothing_and_comes_back_when_written():
    plain = b"---\nname: a\ndescription: d\n---\nBody \xef\xbb\xbf inside\n"
    marked = read(b"\xef\xbb\xbf" + plain)
    assert (marked.name, marked.description, marked.body) == ("a", "d", "Body \ufeff inside\n")
    assert marked.header == read(plain).header
    assert encode(marked.text, marked) == b"\xef\xbb\xbf" + plain


def test_windows_line_ends_and_blanks_behind_the_fence_are_understood_and_kept():
    data = b"---\r\nname: a\r\ndescription: d\r\n---  \r\nBody\r\n"
    document = read(data)
    assert (document.name, document.body, document.newline, document.body_line) == ("a", "Body\n", "\r\n", 5)
    assert encode(document.text.replace("Body", "New\nBody"), document) == data.replace(b"Body", b"New\r\nBody")


def test_mixed_line_ends_stay_where_they_were():
    data = b"---\r\nname: a\r\ndescription: d\n---\r\none\ntwo\r\nthree\r\n"
    document = read(data)
    assert encode(document.text, document) == data
    assert encode(document.text.replace("two", "2"), document) == data.replace(b"two", b"2")


def test_three_dashes_inside_a_value_end_no_header():
    data = b'---\nname: a\ndescription: "Part 1 --- overview"\nlicense: MIT\n---\nBody\n'
    changed = with_field(data, "license", "Apache-2.0")
    for document in (read(data), read(changed)):
        assert document.description == "Part 1 --- overview"
        assert document.body == "Body\n"
    assert read(changed).header["license"] == "Apache-2.0"


def test_rules_and_fenced_examples_stay_in_the_body():
    body = "one\n---\ntwo\n---\n```\n---\nname: other\n---\n```\n"
    document = skill("name: real\ndescription: d", body)
    assert (document.name, document.body) == ("real", body)


def test_a_fenced_example_makes_no_header():
    document = read(b"# Title\n\n```\n---\nname: other\n---\n```\n")
    assert document.name == ""
    assert document.broken is not None
    assert "does not start with a header" in document.broken.message


def test_a_header_that_is_never_closed_is_broken_and_its_text_kept():
    text = "---\nname: a\ndescription: d\n# Title\ntext"
    document = read(text.encode())
    assert document.broken is not None
    assert "never closed" in document.broken.message
    assert document.body == document.text == text


@pytest.mark.parametrize("marker", [">-", "|", "|+", ">2", ">"])
def test_block_scalars_show_their_text_and_never_the_marker(marker: str):
    indent = "  "
    document = skill(f"name: a\ndescription: {marker}\n{indent}first words\n{indent}second words")
    assert document.description == "first words second words"


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("name: a\ndescription: first\ncontinues at the edge", 4),
        ("name: a\ndescription: first\n\n  Keywords: a, b", 5),
    ],
)
def test_a_description_that_runs_on_wrongly_is_broken_with_its_line(header: str, line: int):
    document = skill(header, "## Setup\n")
    assert document.broken is not None
    assert document.broken.line == line
    assert document.description != "Setup"


def test_tabs_in_the_indentation_are_read_and_told():
    document = skill("name: a\ndescription: d\nmetadata:\n\tauthor: me")
    assert document.header["metadata"] == {"author": "me"}
    assert lines_of(document) == [5]


def test_values_stay_as_they_are_spelled():
    document = skill("name: yes\ndescription: 2024-01-01\nenabled: off\nweight: 1.50\nport: 0o17\nnothing: ~")
    assert (document.name, document.description) == ("yes", "2024-01-01")
    assert [document.header[k] for k in ("enabled", "weight", "port", "nothing")] == ["off", "1.50", "0o17", ""]


def test_changing_a_field_leaves_every_other_byte():
    data = b"---\r\nname: old\r\nenabled: true\r\nday: 2024-01-01\r\nx: 1.50\r\ndescription: d\r\n---\r\nname: old\r\n"
    assert with_field(data, "name", "new") == data.replace(b"name: old", b"name: new", 1)


def test_changing_a_field_of_several_lines_replaces_all_of_it():
    data = b"---\nname: a\ndescription: >-\n  one\n  two\nlicense: MIT\n---\nBody\n"
    assert with_field(data, "description", "a: b") == b'---\nname: a\ndescription: "a: b"\nlicense: MIT\n---\nBody\n'


def test_a_missing_field_is_put_below_the_fence():
    assert with_field(b"---\ndescription: d\n---\n", "name", "a") == b"---\nname: a\ndescription: d\n---\n"


def test_a_field_cannot_be_changed_without_a_header():
    with pytest.raises(ValueError, match="no header"):
        with_field(b"Body\n", "name", "a")


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("Read", ("Read",)),
        ("[Read, Grep]", ("Read", "Grep")),
        ("\n  - Read\n  - Grep", ("Read", "Grep")),
        ("Read Bash(git add:*) Grep", ("Read", "Bash(git add:*)", "Grep")),
        ("", ()),
    ],
)
def test_a_list_may_be_written_as_a_list_or_as_words_and_empty_means_none(written: str, tools: tuple[str, ...]):
    assert skill(f"name: a\ndescription: d\nallowed-tools: {written}").header["allowed-tools"] == tools


@pytest.mark.parametrize("header", ["name: [a, b]\ndescription: d", "name: a\ndescription: {x: y}"])
def test_a_name_or_description_that_is_no_text_is_refused(header: str):
    document = skill(header)
    assert document.broken is not None
    assert "must be one text" in document.broken.message


def test_a_platform_gate_that_cannot_be_read_does_not_open_the_skill():
    assert skill("name: a\ndescription: d\nplatforms: [macOS, Linux]").platforms == ("macos", "linux")
    assert skill("name: a\ndescription: d\nplatforms: {linux: true}").broken is not None


def test_of_equal_keys_the_first_counts_and_the_second_is_told():
    document = skill("name: a\ndescription: d\nname: b")
    assert document.name == "a"
    assert ["`name`" in problem.message for problem in document.warnings] == [True]
    assert lines_of(document) == [4]


def test_a_stray_byte_is_named_with_its_line_and_the_rest_is_still_shown():
    document = read(b"---\nname: a\ndescription: d\n---\nfirst\nbad \xff\n")
    assert document.broken is not None
    assert (document.broken.line, "0xFF" in document.broken.message) == (6, True)
    assert document.name == "a"


def test_letters_of_any_script_come_through():
    document = skill("name: a\ndescription: 카페 → 🚀", "카페 → 🚀\n")
    assert (document.description, document.body) == ("카페 → 🚀", "카페 → 🚀\n")


def test_a_long_header_is_read_to_its_end():
    filler = "\n".join(f"key{n}: value {n}" for n in range(200))
    document = skill(f"name: a\n{filler}\nplatforms: [linux]\ndescription: at the end")
    assert (document.description, document.platforms) == ("at the end", ("linux",))


@pytest.mark.parametrize(
    "header",
    [
        "\n".join("  " * depth + "k:" for depth in range(120)),
        "- " * 20_000,
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(f"{n}: &{n} [{', '.join(['*' + o] * 9)}]" for o, n in zip("abcdefg", "bcdefgh", strict=True)),
        "a: &a [*a]",
        "a: " + "x" * 100_000,
    ],
    ids=["deep keys", "deep lists", "copies of copies", "itself", "too long"],
)
def test_headers_that_explode_are_broken_at_small_cost(header: str):
    assert skill(header + "\ndescription: d").broken is not None


def test_a_value_of_open_brackets_is_just_text():
    assert skill("name: a\ndescription: " + "[" * 50_000).description == "[" * 50_000


def test_a_huge_file_is_broken_and_says_how_large_it_is():
    document = read(b"---\nname: a\ndescription: d\n---\n" + b"x" * MAX_BYTES)
    assert document.broken is not None
    assert "bytes" in document.broken.message


def test_a_tag_builds_nothing():
    document = skill("name: !!python/object/apply:os.system [echo]\ndescription: d")
    assert document.broken is not None


@pytest.mark.parametrize(
    "data", [b"", b"---", b"---\n", b"---\n---", b"\x00", b"\xff\xfe-\x00", b"---\n\n---\n", b"---\n- a\n---\n"]
)
def test_scraps_are_broken_documents(data: bytes):
    assert read(data).broken is not None


def test_a_control_character_is_named():
    document = skill("name: a\ndescription: bell \x07")
    assert document.broken is not None
    assert (document.broken.line, "U+0007" in document.broken.message) == (3, True)


@pytest.mark.parametrize(
    "value",
    [
        "[WIP] deploy",
        '"Deploy" the app',
        "'tis the season",
        "@home deploy",
        "`code` first",
        "% done: 3",
        "a: b: c",
        "*star*",
    ],
)
def test_prose_that_yaml_cannot_take_is_read_as_written(value: str):
    document = skill(f"name: a\ndescription: {value}\nlicense: MIT")
    assert (document.description, document.header["license"]) == (value, "MIT")
    assert lines_of(document) == [3]


def test_blank_lines_before_the_header_are_forgiven_and_told():
    document = read(b"\n\n---\nname: a\ndescription: d\n---\nBody\n")
    assert (document.name, document.broken, lines_of(document), document.body_line) == ("a", None, [1], 7)
