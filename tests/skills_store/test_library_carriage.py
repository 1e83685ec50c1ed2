"""Skills that come and go: bundled, imported, exported."""

import io
import json
import tarfile
import zipfile

import pytest

from skills_store.errors import StoreError
from skills_store.outcome import Applied
from skills_store.plan import Wish
from tests.fakes.skills import REVIEW, YOU, authors, created, library, reader, status, text, write

FILE = "art/maps/SKILL.md"


def bundled(tmp_path, body="", name="maps"):
    folder = tmp_path / "bundled"
    write(folder, f"art/{name}/SKILL.md", text(name) + body)
    write(folder, f"art/{name}/scripts/run.sh", "#!/bin/sh\n").chmod(0o755)
    return folder


def test_bundled_skills_come_in_once(tmp_path):
    store = library(tmp_path / "skills")
    assert store.seed(bundled(tmp_path)) == ("maps",)
    assert store.record("maps").owner == "bundled"
    assert (store.root / "art/maps/scripts/run.sh").stat().st_mode & 0o100
    assert store.seed(bundled(tmp_path)) == ()
    assert authors(store.root) == ["seed"]
    assert status(store.root) == ""


def test_an_unmodified_one_is_brought_up_to_date(tmp_path):
    store = library(tmp_path / "skills")
    store.seed(bundled(tmp_path))
    store.manage(Wish("pin", "maps", pin="keep"), YOU)
    assert store.seed(bundled(tmp_path, "4. More.\n")) == ("maps",)
    assert store.view("maps").content.endswith("4. More.\n")
    assert store.record("maps").pin == "keep"


def test_a_modified_one_stays_as_the_person_has_it(tmp_path):
    store = library(tmp_path / "skills")
    store.seed(bundled(tmp_path))
    write(store.root, FILE, text() + "Mine.\n")
    assert store.seed(bundled(tmp_path, "4. More.\n")) == ()
    assert store.view("maps").content.endswith("Mine.\n")


@pytest.mark.parametrize("action", ["delete", "archive"])
def test_one_that_the_person_took_away_stays_away(tmp_path, action):
    store = library(tmp_path / "skills")
    store.seed(bundled(tmp_path))
    store.manage(Wish(action, "maps"), YOU)
    assert store.seed(bundled(tmp_path, "4. More.\n")) == ()
    assert store.records() == ()


def test_a_skill_of_the_persons_with_the_name_is_left_alone(tmp_path):
    store = created(tmp_path / "skills", YOU)
    assert store.seed(bundled(tmp_path)) == ()
    assert store.record("maps").owner == "you"


def test_review_and_adoption_stay_off_bundled_skills(tmp_path):
    store = library(tmp_path / "skills")
    store.seed(bundled(tmp_path))
    wish = Wish("patch", "maps", old_string="Draw", new_string="Sketch")
    assert store.manage(wish, REVIEW, reader(store)).code == "ownership"
    assert store.manage(Wish("adopt", "maps"), YOU).code == "ownership"


@pytest.mark.parametrize("suffix", ["", ".zip", ".tar.gz"])
def test_what_goes_out_comes_in_again_byte_for_byte(tmp_path, suffix):
    store = created(tmp_path / "skills")
    store.manage(Wish("write_file", "maps", file_path="scripts/a.sh", file_content="#!/bin/sh\n"), YOU)
    parcel = store.export("maps", tmp_path / f"maps{suffix}")
    other = library(tmp_path / "other")
    done = other.import_(parcel, YOU)
    assert isinstance(done, Applied), done
    assert other.record("maps").owner == "installed"
    assert (other.root / "general/maps/SKILL.md").read_bytes() == (store.root / FILE).read_bytes()
    assert (other.root / "general/maps/scripts/a.sh").stat().st_mode & 0o100
    kept = json.loads((other.root / "general/maps/.provenance.json").read_text())
    assert kept["source"] == f"maps{suffix}"
    with pytest.raises(StoreError, match="exists already"):
        store.export("maps", parcel)


def zipped(tmp_path, files):
    place = tmp_path / "parcel.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return place


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"maps/SKILL.md": text(), "maps/../../evil.md": "x"}, "invalid"),
        ({"SKILL.md": text(), "/etc/evil": "x"}, "invalid"),
        ({"maps/SKILL.md": text(), "maps/bin/evil": "x"}, "invalid"),
        ({"readme.txt": "nothing here"}, "invalid"),
        ({"a/SKILL.md": text(), "b/SKILL.md": text("songs")}, "ambiguous"),
        ({"maps/SKILL.md": "no header"}, "invalid"),
        ({"maps/SKILL.md": text("../up")}, "invalid"),
        ({"maps/SKILL.md": text(), "maps/assets/a.md": "x" * 1_100_000}, "invalid"),
    ],
    ids=["leads out", "absolute", "elsewhere", "no skill", "two skills", "no header", "bad name", "too large"],
)
def test_a_bad_parcel_is_refused_whole(tmp_path, files, code):
    store = library(tmp_path / "skills")
    assert store.import_(zipped(tmp_path, files), YOU).code == code
    assert store.records() == ()
    assert not (tmp_path / "evil.md").exists()


def test_links_in_an_archive_are_passed_over(tmp_path):
    place = tmp_path / "maps.tar.gz"
    with tarfile.open(place, "w:gz") as archive:
        head = tarfile.TarInfo("maps/SKILL.md")
        head.size = len(text())
        archive.addfile(head, io.BytesIO(text().encode()))
        link = tarfile.TarInfo("maps/references/x.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    store = library(tmp_path / "skills")
    store.import_(place, YOU)
    assert store.view("maps").files == ()


def test_an_import_over_an_existing_name_is_refused(tmp_path):
    store = created(tmp_path / "skills")
    assert store.import_(store.export("maps", tmp_path / "out"), YOU).code == "exists"


def test_nothing_that_is_no_skill_is_imported(tmp_path):
    store = library(tmp_path / "skills")
    assert store.import_(tmp_path / "nowhere", YOU).code == "not_found"
    assert store.import_(write(tmp_path, "plain.txt", "x"), YOU).code == "not_found"


def test_skills_of_other_folders_are_read_and_never_written(tmp_path):
    write(tmp_path / "shared", "art/atlas/SKILL.md", text("atlas", "Use for atlases"))
    store = created(tmp_path / "skills", YOU, external_dirs=(tmp_path / "shared",))
    assert store.record("atlas").owner == "external"
    assert store.view("atlas").content == text("atlas", "Use for atlases")
    refused = store.manage(Wish("patch", "atlas", old_string="Everything", new_string="All"), YOU)
    assert refused.code == "ownership"
    assert "read-only" in refused.error
    assert store.manage(Wish("create", "atlas", content=text("atlas", "Use for atlases")), YOU).code == "exists"
