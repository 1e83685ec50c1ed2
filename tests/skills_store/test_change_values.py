"""The values beneath: hashes, stories, streams, sidecars, counts; each compared with what it stands for."""

import re
import sqlite3
import subprocess
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_store import sidecar
from skills_store.change import Change, FileEdit, blob_hash, diff_of, fingerprint, unified
from skills_store.sidecar import Sidecar
from skills_store.story import actor_of, commit_of, message, one_line, person_of
from skills_store.stream import quoted
from skills_store.usage import Usage
from skills_store.values import Actor, Cause, Evidence, Owner
from tests.fakes.skills import clock

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_known_hashes():
    assert blob_hash(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_hash(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=60), st.lists(st.integers(0, 10**9), max_size=5))
def test_a_story_comes_back_as_it_was_told(why, session, run, messages):
    quotes = tuple(Evidence(number, "x") for number in messages)
    cause = Cause(Actor.REVIEW, why, session, run, "c", quotes)
    change = Change("maps", "art", "patch", (), cause, Owner.AGENT, "a subject")
    told = commit_of("a" * 40, message(change), person_of("review"), NOW)
    assert (told.actor, told.action, told.name, told.owner) == ("review", "patch", "maps", "agent")
    assert (told.session, told.run, told.call) == (one_line(session), one_line(run), "c")
    assert told.evidence == tuple(dict.fromkeys(messages))
    assert told.subject == "learn(maps): a subject"
    assert "".join(told.why.split()) == "".join(char for char in why if char.isprintable() and not char.isspace())


def test_odd_blanks_in_a_reason_stay_blanks():
    change = Change("maps", "art", "patch", (), Cause(Actor.REVIEW, "지도\u3000그리기\x1e\u200bx"))
    assert message(change).split("\n\n")[1] == "지도 그리기 x"


@pytest.mark.parametrize(
    ("name", "mail", "actor"),
    [
        ("review", "review@assistant.localhost", "review"),
        ("unknown", "unknown@assistant.localhost", "unknown"),
        ("review", "ada@example.org", "you"),
        ("Ada", "review@assistant.localhost", "you"),
        ("king", "king@assistant.localhost", "you"),
    ],
)
def test_whoever_uses_plain_git_is_the_person(name, mail, actor):
    assert actor_of(name, mail) == actor


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=40))
def test_any_path_is_quoted_for_the_stream(path):
    inside = quoted(path)[1:-1]
    assert b"\n" not in inside
    assert re.sub(rb"\\(.)", lambda found: b"\n" if found[1] == b"n" else found[1], inside) == path.encode()


def test_a_difference_is_one_that_git_applies(tmp_path):
    (tmp_path / "a.md").write_bytes(b"one\ntwo")
    patch = unified("a.md", b"one\ntwo", b"one\n2\nthree\n")
    done = subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.md").read_bytes() == b"one\n2\nthree\n"


def test_a_difference_leaves_the_sidecar_out_unless_it_is_all():
    side = ("art/maps/.provenance.json", b"{}\n", b'{"pin": "keep"}\n')
    assert ".provenance" not in diff_of([("art/maps/SKILL.md", b"a\n", b"b\n"), side])
    assert ".provenance" in diff_of([side])
    assert "binary file" in unified("assets/a.png", None, b"\x00\xff")


def test_a_fingerprint_is_of_lines_and_paths_and_neither_of_the_sidecar_nor_of_what_stands_around():
    def mark(path, data, side=b"1", before=None):
        old = None if before is None else blob_hash(before)
        edits = (FileEdit(path, old, data), FileEdit("art/maps/.provenance.json", None, side))
        known = {} if before is None else {path: before}
        return fingerprint(Change("maps", "art", "patch", edits, Cause(Actor.REVIEW)), known)

    assert mark("a", b"x") == mark("a", b"x", b"2")
    assert (
        len({mark("a", b"x"), mark("b", b"x"), mark("a", b"y"), mark("a", None), mark("a", b"\0x"), mark("a", b"\0y")})
        == 6
    )
    patch = mark("a", b"1\nnew\n", before=b"1\nold\n")
    assert patch == mark("a", b"0\n1\nnew\n2\n", before=b"0\n1\nold\n2\n")
    assert patch != mark("a", b"1\nnew\nmore\n", before=b"1\nold\n")


SIDECARS = st.builds(
    Sidecar,
    owner=st.sampled_from(Owner),
    adopted=st.booleans(),
    pin=st.sampled_from(sidecar.PINS),
    state=st.sampled_from(sidecar.STATES),
    maker=st.text(max_size=9),
    source=st.text(max_size=9),
    absorbed_into=st.text(max_size=9),
)


@given(SIDECARS)
def test_a_sidecar_comes_back_as_it_was_written(known):
    assert sidecar.read(known.write()) == known


@given(st.binary(max_size=80))
def test_any_bytes_are_a_sidecar_or_a_damaged_one(data):
    known = sidecar.read(data)
    assert known.damaged or known.pin in sidecar.PINS


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'"x"', b'{"pin": "x"}', b'{"owner": 3}', b'{"adopted": "yes"}', b"\xff"]
)
def test_a_damaged_sidecar_says_so(data):
    assert "cannot be read" in sidecar.read(data).damaged


def test_sidecars_merge_fact_by_fact():
    base, today = Sidecar(Owner.AGENT), Sidecar(Owner.AGENT, pin="keep")
    wanted = Sidecar(Owner.AGENT, state="archived")
    merged = sidecar.read(sidecar.merged(base.write(), today.write(), wanted.write()))
    assert (merged.pin, merged.state) == ("keep", "archived")
    assert sidecar.merged(base.write(), base.write(), None) is None
    assert sidecar.merged(base.write(), today.write(), None) == today.write()
    assert sidecar.merged(base.write(), b"torn", wanted.write()) == b"torn"


@pytest.fixture
def usage():
    db = sqlite3.connect(":memory:")
    db.execute(
        "CREATE TABLE skill_usage (name TEXT PRIMARY KEY, views INT, uses INT, patches INT, "
        "last_used TEXT, last_viewed TEXT, last_patched TEXT, created TEXT)"
    )

    def write(change):
        with db:
            change(db)

    yield Usage(db, write, clock())
    db.close()


def test_counts_of_one_skill_leave_others_alone(usage):
    usage.viewed("maps", by_person_turn=True)
    usage.viewed("maps", by_person_turn=False)
    usage.patched("songs")
    told = usage.all()
    assert (told["maps"].views, told["maps"].uses, told["maps"].patches) == (2, 1, 0)
    assert told["maps"].last_used < told["maps"].last_viewed
    assert (told["songs"].views, told["songs"].patches) == (0, 1)


def test_counts_follow_a_rename_and_end_with_a_delete(usage):
    usage.viewed("maps", by_person_turn=True)
    usage.renamed("maps", "charts")
    assert set(usage.all()) == {"charts"}
    usage.forget("charts")
    assert usage.all() == {}


def test_counts_that_are_no_numbers_recover(usage):
    usage.viewed("maps", by_person_turn=True)
    usage.db.execute("UPDATE skill_usage SET views = 'many', last_used = 'soon'")
    assert (usage.all()["maps"].views, usage.all()["maps"].last_used) == (0, None)
    usage.viewed("maps", by_person_turn=False)
    assert usage.all()["maps"].views == 1
