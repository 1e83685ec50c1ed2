"""Every problem of a skill is a sentence with its line; the open format's own checker is the peer."""

from pathlib import Path

import pytest
from skills_ref import validate as peer

from skills_store.document import read
from skills_store.links import sections
from skills_store.names import category_problem, file_path_problem, name_problem
from skills_store.problems import error, introduced, warning
from skills_store.validate import problems, validate_folder

GOOD = "---\nname: {name}\ndescription: Use when a table is made.\n---\n# Steps\n\nDo it.\n"


def write(root: Path, name: str, text: str | None = None) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text or GOOD.format(name=name), "utf-8")
    return folder


def said(text: str, name: str = "a", **more: object) -> list[tuple[str, int]]:
    return [(p.message, p.line) for p in problems(read(text.encode()), name, **more)]  # type: ignore[arg-type]


def test_a_good_skill_has_no_problems(tmp_path: Path):
    assert validate_folder(write(tmp_path, "make-table")) == ()


@pytest.mark.parametrize("name", ["my-skill", "skill123", "my_skill.v2", "a", "x" * 64])
def test_names_that_are_accepted(name: str):
    assert name_problem(name) is None


@pytest.mark.parametrize(
    ("name", "part"),
    [
        *(
            ("../outside", "'../outside'"),
            ("/etc", "'/etc'"),
            ("a b", "'a b'"),
            ("a@b", "'a@b'"),
            ("A", "'A'"),
            ("", "''"),
        ),
        *(("deploy\u200b", "U+200B"), ("a\u202eb", "U+202E"), ("🚀", "🚀"), ("x" * 65, "64"), ("-a", "'-a'")),
        *(("node_modules", "passed over"), ("venv", "passed over"), ("a.", "passed over"), (".hidden", "'.hidden'")),
    ],
)
def test_names_that_are_refused_and_what_the_sentence_shows(name: str, part: str):
    assert part in (name_problem(name) or "")
    assert name == "" or part in (category_problem(name) or "")


def test_no_category_is_a_category():
    assert category_problem("") is None


@pytest.mark.parametrize("path", ["references/a.md", "templates/x/y.txt", "scripts/run.sh", "assets/로고.png"])
def test_paths_that_are_accepted(path: str):
    assert file_path_problem(path) is None


@pytest.mark.parametrize(
    ("path", "part"),
    [
        *(
            ("../SKILL.md", "leads out"),
            ("references/../../x", "leads out"),
            ("references/../../../etc/passwd", "leads out"),
        ),
        *(
            ("/etc/passwd", "leads out"),
            ("~/x", "leads out"),
            ("C:/x", "leads out"),
            ("references\\..\\x", "leads out"),
        ),
        *(
            ("SKILL.md", "the skill itself"),
            ("references/SKILL.md", "the skill itself"),
            ("skill.md", "the skill itself"),
        ),
        *((".provenance.json", "kept by the store"), ("references/.provenance.json", "kept by the store")),
        *(("notes.md", "in none of"), ("references", "in none of"), ("docs/a.md", "in none of"), ("", "in none of")),
        *(("references/.env", "not a usable"), ("references//a", "not a usable"), ("scripts/a?b", "not a usable")),
        *(("references/a\u200b.md", "U+200B"), ("references/a\u202egp.md", "U+202E")),
    ],
)
def test_paths_that_are_refused_and_why(path: str, part: str):
    assert part in (file_path_problem(path) or "")


def test_a_broken_header_is_the_first_problem_with_its_line():
    assert said("---\nname: a\ndescription: d\ntext at the edge\n---\nBody\n")[0][1] == 4


def test_a_name_that_differs_from_the_folder_is_an_error():
    assert any("but the folder is called 'a'" in message for message, _ in said(GOOD.format(name="b")))


def test_a_long_description_is_an_error_for_a_new_skill_and_a_warning_for_an_old_one():
    document = read(f"---\nname: a\ndescription: Use when {'x' * 60}\n---\nBody\n".encode())
    assert [(p.severity, p.line) for p in problems(document, "a", new=True)] == [("error", 3)]
    assert [(p.severity, p.line) for p in problems(document, "a")] == [("warning", 3)]


def test_width_is_counted_in_cells():
    document = read(f"---\nname: a\ndescription: {'가' * 31}\n---\nBody\n".encode())
    assert [p.severity for p in problems(document, "a", new=True)] == ["error"]


@pytest.mark.parametrize(
    ("text", "part", "line"),
    [
        ("---\nname: a\ndescription: Use it\n---\n\n \n", "the body is empty", 5),
        ("---\nname: a\ndescription: Use it\nlicence: MIT\n---\nBody\n", "`licence` is not known", 4),
        ("---\nname: a\ndescription: Use it\nmetadata: {a: {b: c}}\n---\nBody\n", "mapping of texts to texts", 4),
        ("---\nname: a\ndescription: Use it\nplatforms: [amiga]\n---\nBody\n", "'amiga' is no platform", 4),
        ("---\nname: a\ndescription: Use it\nlicense: [MIT]\n---\nBody\n", "`license` should be one text", 4),
        ("---\nname: a\ndescription: Use\u200b it\n---\nBody\n", "U+200B", 3),
        ("---\nname: a\ndescription: Makes tables\n---\nBody\n", "begin the description with the trigger", 3),
        ("---\ndescription: Use it\n---\nBody\n", "the header needs a `name`", 1),
        ("---\nname: a_b\ndescription: Use it\n---\nBody\n", "the open format allows", 2),
        ("---\nname: a\ndescription: Use it\n---\n" + "x" * 100_001, "at most 100,000", 5),
    ],
)
def test_each_problem_has_its_sentence_and_line(text: str, part: str, line: int):
    name = "a_b" if "a_b" in text else "a"
    assert [(part in message, at) for message, at in said(text, name)] == [(True, line)]


def test_dead_links_and_mentions_are_told_with_their_lines(tmp_path: Path):
    body = (
        "# T\n\n[here](references/a.md#top) [gone](references/b.md)\nsee `scripts/gone.sh`, [web](https://x.y)\n\n"
        "```\n[no link](in/code.md)\n```\n![p](assets/p%20q.png) [out](../other/SKILL.md)\n"
    )
    folder = write(tmp_path, "a", f"---\nname: a\ndescription: Use it\n---\n{body}")
    for file in ("references/a.md", "assets/p q.png"):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("x")
    found = [(p.line, p.message) for p in validate_folder(folder)]
    assert [(line, message.split("'")[1]) for line, message in found] == [
        (7, "references/b.md"),
        (8, "scripts/gone.sh"),
        (13, "../other/SKILL.md"),
    ]


def test_headings_are_found_by_a_parser_and_not_by_guessing():
    body = "# One\n\n```\n# code\n```\n\nTwo\n---\n\n    # indented\n\n### Three *bold*\n"
    assert [(s.title, s.level, s.line) for s in sections(body)] == [
        ("One", 1, 1),
        ("Two", 2, 7),
        ("Three *bold*", 3, 12),
    ]


def test_support_files_that_lie_wrong_or_are_too_large_are_told(tmp_path: Path):
    folder = write(tmp_path, "a")
    (folder / "notes.md").write_text("x")
    (folder / "references").mkdir()
    (folder / "references" / "big.md").write_text("x" * 100_001)
    (folder / "references" / "huge.bin").write_bytes(b"x" * 1_048_577)
    assert [(p.file, p.severity) for p in validate_folder(folder)] == [
        ("notes.md", "warning"),
        ("references/big.md", "error"),
        ("references/huge.bin", "error"),
    ]


def test_a_folder_of_skills_is_validated_skill_by_skill(tmp_path: Path):
    write(tmp_path, "web/good")
    (tmp_path / "web/good/SKILL.md").write_text(GOOD.format(name="good"))
    write(tmp_path, "web/bad", "no header\n")
    assert [p.file for p in validate_folder(tmp_path)] == ["web/bad/SKILL.md"]
    assert validate_folder(tmp_path / "web/good/SKILL.md") == ()


def test_nothing_to_validate_is_said(tmp_path: Path):
    assert "does not exist" in validate_folder(tmp_path / "none")[0].message
    assert "holds no SKILL.md" in validate_folder(tmp_path)[0].message


def test_an_old_problem_is_not_blamed_on_a_new_edit():
    old = (error(3, "old"), warning(4, "w"))
    assert introduced(old, (error(5, "old"), error(6, "new"), warning(7, "more"))) == (error(6, "new"),)


AGREE, WIDER, STRICTER = "agree", "wider", "stricter"


@pytest.mark.parametrize(
    ("header", "body", "verdict"),
    [
        ("name: a\ndescription: Use it", "Body\n", AGREE),
        ("name: a\ndescription: Use it\nlicense: MIT\nmetadata:\n  v: one", "Body\n", AGREE),
        ("name: a\ndescription: Use it\nallowed-tools: Read", "Body\n", AGREE),
        ("name: A\ndescription: Use it", "Body\n", AGREE),
        ("name: b\ndescription: Use it", "Body\n", AGREE),
        ("description: Use it", "Body\n", AGREE),
        ("name: a", "Body\n", AGREE),
        (f"name: a\ndescription: Use {'x' * 1024}", "Body\n", AGREE),
        ("name: a\ndescription: Use it\nplatforms: linux", "Body\n", WIDER),
        ("name: a\ndescription: Use it\nfavourite: blue", "Body\n", WIDER),
        ("name: a\ndescription: Use it: now", "Body\n", WIDER),
        ("name: a\ndescription: Use it\nname: b", "Body\n", WIDER),
        ("name: a\ndescription: [WIP] Use it", "Body\n", WIDER),
        (f"name: a\ndescription: Use it\ncompatibility: {'x' * 501}", "Body\n", WIDER),
        ("name: a\ndescription: Use it", "", STRICTER),
        ("name: a\ndescription: Use\u200b it", "Body\n", STRICTER),
        ("name: a\ndescription: Use it", "x" * 100_001, STRICTER),
    ],
)
def test_where_we_agree_with_the_peer_and_where_not(tmp_path: Path, header: str, body: str, verdict: str):
    folder = write(tmp_path, "a", f"---\n{header}\n---\n{body}")
    ours = not any(p.severity == "error" for p in validate_folder(folder))
    theirs = not peer(folder)
    assert {(True, False): WIDER, (False, True): STRICTER}.get((ours, theirs), AGREE) == verdict
