"""Each guard, row by row: what is refused with which code, what is staged, what passes."""

from dataclasses import replace

import pytest

from skills_store.change import Change, FileEdit, blob_hash
from skills_store.guards import GUARDS, Facts, Likeness, Refusal, Stage, judge, wish_problem
from skills_store.plan import Wish
from skills_store.scan import Finding
from skills_store.sidecar import Sidecar
from skills_store.values import Actor, Cause, Evidence, Origin, Owner
from tests.fakes.skills import ASSISTANT, CURATOR, REVIEW, YOU, text

FOLDER = "art/maps"
OLD, NEW = text().encode(), text().replace("scale", "compass").encode()
WIDE = text(about="Use when " + "x" * 60).encode()
UNTRUSTED = replace(REVIEW, evidence=(Evidence(1, "from the web", Origin.UNTRUSTED),))
FACTS = Facts(
    folder=FOLDER,
    files={"SKILL.md": OLD},
    sidecar=Sidecar(Owner.AGENT),
    seen=lambda _path: blob_hash(OLD),
)
SECRET = Finding("secret", f"{FOLDER}/SKILL.md", 3, "looks like a key", "block")
DOUBT = Finding("doubt", f"{FOLDER}/SKILL.md", 3, "looks odd", "warn")


def change(action="patch", cause=REVIEW, after=NEW, path=f"{FOLDER}/SKILL.md", before=OLD):
    edit = FileEdit(path, None if before is None else blob_hash(before), after)
    return Change("maps", "art", action, (edit,), cause, Owner.AGENT)


def owned(owner, **more):
    return replace(FACTS, sidecar=Sidecar(owner, **more))


CREATE = change("create", before=None)
NOTE = change("write_file", path=f"{FOLDER}/references/a.md", before=None, after=b"x")
ROWS = [
    # Ownership
    (change(), owned(Owner.YOU), "ownership"),
    (change(cause=CURATOR), owned(Owner.YOU), "ownership"),
    (change(), owned(Owner.BUNDLED), "ownership"),
    (change(), owned(Owner.INSTALLED), "ownership"),
    (change(), owned(Owner.AGENT, damaged="torn"), "ownership"),
    (change("archive", CURATOR), owned(Owner.BUNDLED), "ownership"),
    (change("archive", CURATOR), replace(owned(Owner.BUNDLED), prune_builtins=True), ""),
    (change(cause=CURATOR), replace(owned(Owner.BUNDLED), prune_builtins=True), "ownership"),
    (change(cause=YOU), owned(Owner.BUNDLED), ""),
    (change(cause=ASSISTANT), owned(Owner.YOU), ""),
    (change(), owned(Owner.AGENT, adopted=True), ""),
    # Pins
    (change(), owned(Owner.AGENT, pin="frozen"), "pinned"),
    (change(), owned(Owner.AGENT, pin="keep"), ""),
    (change("archive", CURATOR), owned(Owner.AGENT, pin="keep"), "pinned"),
    (change("delete", YOU), owned(Owner.YOU, pin="keep"), "pinned"),
    (change("delete", ASSISTANT), owned(Owner.YOU, pin="frozen"), "pinned"),
    (change(cause=YOU), owned(Owner.YOU, pin="frozen"), ""),
    # Evidence
    (change(cause=replace(REVIEW, evidence=())), FACTS, "no_evidence"),
    (change("stale", Cause(Actor.CURATOR)), FACTS, "no_evidence"),
    (change("stale", CURATOR), FACTS, ""),
    (change(cause=replace(YOU, evidence=())), FACTS, ""),
    # Read before write
    (change(), replace(FACTS, seen=lambda _path: None), "not_read"),
    (change(), replace(FACTS, seen=lambda _path: "0" * 40), "changed_since_read"),
    (change(cause=ASSISTANT), replace(FACTS, seen=lambda _path: None), ""),
    (CREATE, replace(FACTS, files={}, seen=lambda _path: None), ""),
    (NOTE, replace(FACTS, seen=lambda _path: None), ""),
    (change("archive", CURATOR), replace(FACTS, seen=lambda _path: None), ""),
    (change("archive"), replace(FACTS, absorbed_into="atlas", seen=lambda _path: None), "not_read"),
    # Form
    (change(after=b"no header"), FACTS, "invalid"),
    (change(cause=YOU, after=b"---\nname: maps\ndescription: x\n---\n"), FACTS, "invalid"),
    (replace(NOTE, edits=(FileEdit(f"{FOLDER}/references/a.md", None, b"x" * 100_001),)), FACTS, "invalid"),
    (replace(NOTE, edits=(FileEdit(f"{FOLDER}/references/a.md", None, b"x" * 100_000),)), FACTS, ""),
    (change("create", YOU, WIDE, before=None), replace(FACTS, files={}), "invalid"),
    (change("edit", YOU, WIDE), FACTS, ""),
    # What was turned down
    (change(), replace(FACTS, turned_down=lambda: "too long"), "conflict"),
    (change(cause=YOU), replace(FACTS, turned_down=lambda: "too long"), ""),
    # Library
    (CREATE, replace(FACTS, files={}, alike=lambda: (Likeness("charts", "same words"),)), "duplicate"),
    (CREATE, replace(FACTS, files={}, alike=lambda: (Likeness("charts", "x", False), Likeness("b", "x"))), "duplicate"),
    (CREATE, replace(FACTS, files={}, alike=lambda: (Likeness("charts", "same words", False),)), Stage),
    (change("create", YOU, before=None), replace(FACTS, files={}, alike=lambda: (Likeness("charts", "x"),)), ""),
    # Scan
    (change(), replace(FACTS, findings=lambda: (SECRET,)), "scan"),
    (change(), replace(FACTS, findings=lambda: (DOUBT,)), ""),
    (change(cause=YOU), replace(FACTS, findings=lambda: (SECRET,)), ""),
    # Asking the person
    (change(), replace(FACTS, your_lines=lambda: ("SKILL.md:3",)), Stage),
    (change(cause=ASSISTANT), replace(FACTS, your_lines=lambda: ("SKILL.md:3",)), ""),
    (change(cause=UNTRUSTED), FACTS, Stage),
    (change(cause=replace(ASSISTANT, heard=Origin.UNTRUSTED)), FACTS, Stage),
    (change(cause=replace(YOU, heard=Origin.UNTRUSTED)), FACTS, ""),
    (change(), replace(FACTS, approval="learning"), Stage),
    (change(cause=ASSISTANT), replace(FACTS, approval="learning"), ""),
    (change(cause=ASSISTANT), replace(FACTS, approval="all"), Stage),
    (change(cause=YOU), replace(FACTS, approval="all"), ""),
    (change(after=b"no header"), replace(FACTS, approval="all"), "invalid"),
    (change(), FACTS, ""),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "facts", "answer"), ROWS, ids=[str(number) for number in range(len(ROWS))])
def test_a_row_of_the_table(asked, facts, answer):
    verdict = judge(asked, facts)
    if answer is Stage:
        assert isinstance(verdict, Stage)
        assert verdict.why
    elif answer:
        assert isinstance(verdict, Refusal)
        assert verdict.code == answer
        assert len(verdict.error.split()) > 3
    else:
        assert verdict is None


def test_every_guard_can_say_no_or_ask():
    silent = [guard for guard in GUARDS if not any(guard(asked, facts) for asked, facts, _answer in ROWS)]
    assert [guard.__name__ for guard in silent] == ["places", "absorbed"]


def test_the_order_decides_which_reason_is_told():
    facts = replace(FACTS, sidecar=Sidecar(Owner.YOU), seen=lambda _path: None, findings=lambda: (SECRET,))
    assert judge(change(after=b"bad"), facts).code == "ownership"


def test_a_review_is_sent_to_a_skill_that_it_may_extend():
    near = (Likeness("yours", "same words", False), Likeness("mine", "same words"))
    refused = judge(CREATE, replace(FACTS, files={}, alike=lambda: near))
    assert (refused.code, refused.hint) == ("duplicate", "view mine and extend it instead")


def test_costly_facts_are_asked_for_only_when_they_matter():
    def never():
        raise AssertionError("asked for without need")

    facts = replace(FACTS, alike=never, findings=never, your_lines=never)
    assert judge(change(cause=YOU), facts) is None


@pytest.mark.parametrize(
    "wish",
    [
        Wish("patch", "maps", file_path="SKILL.md"),
        Wish("write_file", "art/maps", file_path="references/a.md"),
        Wish("rename", "maps", new_name="charts"),
        Wish("pin", "maps", pin="keep"),
    ],
    ids=lambda wish: wish.action,
)
def test_wishes_that_are_well_formed(wish):
    assert wish_problem(wish, Actor.YOU) is None


@pytest.mark.parametrize(
    "wish",
    [
        Wish("patch", "../maps"),
        Wish("patch", "a/../maps"),
        Wish("create", "maps", category="node_modules"),
        Wish("write_file", "maps", file_path="SKILL.md"),
        Wish("patch", "maps", file_path="../x"),
        Wish("rename", "maps", new_name="../x"),
        Wish("pin", "maps", pin="forever"),
    ],
    ids=lambda wish: f"{wish.action} {wish.name}",
)
def test_wishes_that_are_not(wish):
    assert wish_problem(wish, Actor.YOU).code == "invalid"
