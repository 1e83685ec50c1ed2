"""A backup, and the way back."""

import io
import json
import os
import sqlite3
import stat
import subprocess
import tarfile
from contextlib import closing
from datetime import UTC, datetime

import pytest

from assistant.backup.archive import FORMAT, MANIFEST, verify
from assistant.backup.make import Source, backup
from assistant.backup.restore import Target, restore, would_replace
from assistant.errors import PersonMustAct
from assistant.home import Home, find_template, prepare
from assistant.store.database import copy_to


def clock():
    return datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def git(folder, *words):
    clean = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}
    who = {f"GIT_{role}_{part}": "a@b" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    done = subprocess.run(["git", *words], cwd=folder, env=clean | who, capture_output=True, text=True, check=True)
    return done.stdout


def bundler(folder):
    def bundle(target):
        if (folder / ".git").is_dir():
            git(folder, "bundle", "create", "--quiet", str(target), "--all")

    return bundle


def unbundle(bundle, folder):
    git(bundle.parent, "init", "--quiet", "-b", "main", str(folder))
    git(folder, "fetch", "--quiet", "--update-head-ok", str(bundle), "refs/*:refs/*")
    git(folder, "reset", "--quiet", "--hard")


def damage(path):
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    except sqlite3.DatabaseError as fault:
        return [str(fault)]


def source_of(home):
    bundles = {"skills": bundler(home.skills), "memories": bundler(home.memories)}
    return Source(copy_to, damage, bundles, clock, "0.1.0")


def nobody():
    return ""


TARGET = Target(unbundle, damage, nobody, clock)


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    prepare(home, find_template())
    home.env_file.write_text("OPENAI_API_KEY=hush\n")
    home.config.write_text("agent: {max_steps: 3}\n")
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE messages (text)")
        connection.execute("INSERT INTO messages VALUES ('hello')")
        connection.commit()
    script = home.skills / "work" / "one" / "scripts" / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_bytes(b"#!/bin/sh\r\n\x00")
    script.chmod(0o755)
    (home.skills / "out").symlink_to("/etc/hostname")
    git(home.skills, "init", "--quiet", "-b", "main")
    git(home.skills, "add", ".")
    git(home.skills, "commit", "--quiet", "-m", "learn(one): it")
    git(home.skills, "update-ref", "refs/pending/p1", "HEAD")
    return home


@pytest.fixture
def file(home, tmp_path):
    target = tmp_path / "assistant.backup"
    backup(home, target, source_of(home))
    return target


@pytest.fixture
def empty(tmp_path):
    return Home(tmp_path / "restored")


def everything(root):
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file() and path.name != ".home.lock"}


def messages(home):
    with closing(sqlite3.connect(home.database)) as connection:
        return [row[0] for row in connection.execute("SELECT text FROM messages")]


def test_everything_but_secrets_comes_back(home, file, empty):
    restored = restore(file, empty, TARGET)
    assert set(restored.parts) == {"assistant.db", "skills", "config.yaml", "SOUL.md"}
    assert messages(empty) == ["hello"]
    assert empty.config.read_bytes() == home.config.read_bytes()
    assert git(empty.skills, "for-each-ref") == git(home.skills, "for-each-ref")
    assert git(empty.skills, "status", "--porcelain") == ""
    script = empty.skills / "work" / "one" / "scripts" / "run.sh"
    assert script.read_bytes() == b"#!/bin/sh\r\n\x00"
    assert script.stat().st_mode & stat.S_IXUSR
    assert (empty.skills / "out").readlink().as_posix() == "/etc/hostname"
    assert not empty.env_file.exists()
    assert not any(b"hush" in data for data in everything(empty.root).values())
    assert not list(empty.root.glob(".restore-*"))


def test_a_backup_is_the_persons_alone_and_leaves_nothing_beside_it(file, tmp_path):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {"home", "assistant.backup"}
    assert verify(file).created == "2030-01-02T03:04:05+00:00"


def test_what_was_written_but_not_yet_checkpointed_is_in_the_backup(home, tmp_path, empty):
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("INSERT INTO messages VALUES ('late')")
        connection.commit()
        backup(home, tmp_path / "b", source_of(home))
    restore(tmp_path / "b", empty, TARGET)
    assert messages(empty) == ["hello", "late"]


def test_a_home_that_is_not_empty_is_told_exactly_and_not_touched(home, file):
    before = everything(home.root)
    with pytest.raises(PersonMustAct, match="is not empty") as fault:
        restore(file, home, TARGET)
    assert all(told in str(fault.value) for told in would_replace(home))
    assert [told.split(" ")[0] for told in would_replace(home)] == ["assistant.db", "config.yaml", "SOUL.md", "skills/"]
    assert everything(home.root) == before


def test_what_a_restore_replaces_is_kept(home, file):
    home.config.write_text("agent: {max_steps: 9}\n")
    (home.skills / "mine.txt").write_text("not committed")
    (home.root / "assistant.db-wal").write_bytes(b"of the old database")
    restored = restore(file, home, TARGET, replace=True)
    assert home.config.read_text() == "agent: {max_steps: 3}\n"
    assert restored.replaced is not None
    assert (restored.replaced / "config.yaml").read_text() == "agent: {max_steps: 9}\n"
    assert (restored.replaced / "skills" / "mine.txt").read_text() == "not committed"
    assert (restored.replaced / "assistant.db-wal").exists()
    assert not (home.root / "assistant.db-wal").exists()
    assert messages(home) == ["hello"]


def test_without_a_place_for_what_is_replaced_nothing_is_replaced(home, file):
    (home.root / f"replaced-{clock():%Y%m%dT%H%M%SZ}").touch()
    before = everything(home.root)
    with pytest.raises(PersonMustAct, match="File exists"):
        restore(file, home, TARGET, replace=True)
    assert everything(home.root) == before


def test_a_home_in_use_is_not_restored_into(file, empty):
    with pytest.raises(PersonMustAct, match="in use by the server"):
        restore(file, empty, Target(unbundle, damage, lambda: "the server", clock))


@pytest.mark.parametrize("cut", [0, 100, -200])
def test_a_torn_backup_changes_nothing(file, home, cut):
    file.write_bytes(file.read_bytes()[:cut])
    before = everything(home.root)
    with pytest.raises(PersonMustAct, match="backup"):
        restore(file, home, TARGET, replace=True)
    assert everything(home.root) == before


def test_one_changed_byte_is_noticed(file, empty):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(PersonMustAct, match="is not a whole backup"):
        restore(file, empty, TARGET)
    assert everything(empty.root) == {}


def packed(path, *members):
    """A hostile tar: a manifest, then members as given."""
    note = {"format": FORMAT, "version": "1", "created": "", "sha256": {m.name: "0" for m, _ in members}}
    first = tarfile.TarInfo(MANIFEST)
    with tarfile.open(path, "w:gz") as tar:
        for member, data in [(first, json.dumps(note).encode()), *members]:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def named(name, kind=tarfile.REGTYPE, link=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


@pytest.mark.parametrize(
    "members",
    [
        [named("../evil")],
        [named("/tmp/evil")],
        [named("skills/../../evil")],
        [named(".env")],
        [named("config.yaml", tarfile.SYMTYPE, "/etc/passwd")],
        [named("config.yaml", tarfile.LNKTYPE, "/etc/passwd")],
        [named("config.yaml", tarfile.FIFOTYPE)],
        [named("config.yaml", tarfile.DIRTYPE)],
        [named("config.yaml"), named("config.yaml")],
        [named("config.yaml")],
    ],
    ids=lambda members: ",".join(f"{m.name}:{m.type.decode()}" for m in members),
)
def test_no_path_and_no_link_leads_out_of_the_home(tmp_path, empty, members):
    packed(tmp_path / "bad", *[(member, b"") for member in members])
    before = set(tmp_path.rglob("*"))
    with pytest.raises(PersonMustAct, match="is not a whole backup"):
        restore(tmp_path / "bad", empty, TARGET)
    assert everything(empty.root) == {}
    assert set(tmp_path.rglob("*")) - before <= {empty.root, empty.lock}


def test_a_backup_of_a_newer_version_is_told(tmp_path, empty):
    note = tarfile.TarInfo(MANIFEST)
    data = json.dumps({"format": FORMAT + 1, "version": "9.0"}).encode()
    note.size = len(data)
    with tarfile.open(tmp_path / "new", "w:gz") as tar:
        tar.addfile(note, io.BytesIO(data))
    with pytest.raises(PersonMustAct, match="newer version"):
        restore(tmp_path / "new", empty, TARGET)


def test_a_damaged_database_is_not_backed_up_and_the_good_backup_stays(home, file):
    good = file.read_bytes()

    def damaged(path):
        return ["page 7 is torn"]

    source = source_of(home)
    with pytest.raises(PersonMustAct, match="damaged"):
        backup(home, file, Source(source.copy_database, damaged, source.bundles, clock, "0.1.0"))
    assert file.read_bytes() == good


def test_an_older_backup_is_replaced_and_another_file_never(home, file, tmp_path):
    home.config.write_text("agent: {max_steps: 4}\n")
    before = file.read_bytes()
    backup(home, file, source_of(home))
    assert file.read_bytes() != before
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear you")
    with pytest.raises(PersonMustAct, match="left alone"):
        backup(home, letter, source_of(home))
    assert letter.read_text() == "Dear you"


def test_a_folder_or_a_place_that_is_not_there_is_told(home, tmp_path):
    with pytest.raises(PersonMustAct, match="is a folder"):
        backup(home, tmp_path, source_of(home))
    with pytest.raises(PersonMustAct, match="cannot be written"):
        backup(home, tmp_path / "no" / "b", source_of(home))
    with pytest.raises(PersonMustAct, match="is not a file"):
        restore(tmp_path / "none", Home(tmp_path / "r"), TARGET)


def test_an_empty_home_has_nothing_to_back_up(empty, tmp_path):
    with pytest.raises(PersonMustAct, match="nothing to back up"):
        backup(empty, tmp_path / "b", source_of(empty))
    assert not (tmp_path / "b").exists()
