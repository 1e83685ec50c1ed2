"""A skill as a person reads it: also one that is broken, switched off or in the archive."""

from pathlib import Path

from assistant.runtime.views import Object, skill_object
from skills_store import document, index, sidecar
from skills_store.entry import Entry
from skills_store.errors import StoreError
from skills_store.files import Files
from skills_store.library import Library
from skills_store.names import ARCHIVE, SIDECAR, SKILL_FILE


def read_skill(library: Library, name: str) -> Object:
    """The skill's text, files and provenance; StoreError when there is none of that name, or several."""
    entry = entry_of(library, name)
    files = Files(Path(entry.external) if entry.external else library.root).under(entry.path)
    inside = {path[len(entry.path) + 1 :]: found for path, found in files.items()}
    main, side = inside.get(SKILL_FILE), inside.get(SIDECAR)
    known = sidecar.read(None if side is None or entry.external else side.data)
    record = library.reading.as_records((entry,))[0]
    return skill_object(record) | {
        "path": entry.path,
        "files": [path for path in inside if path not in (SKILL_FILE, SIDECAR)],
        "content": document.read(main.data).text if main is not None and not main.link else "",
        "warnings": [*record.warnings, *([known.damaged] if known.damaged else [])],
        "provenance": {
            "owner": record.owner,
            "adopted": known.adopted,
            "maker": known.maker,
            "source": known.source or entry.external,
            "created": known.created or None,
            "absorbed_into": known.absorbed_into,
        },
    }


def entry_of(library: Library, name: str) -> Entry:
    """The skill of a name, in the index or else in the archive."""
    try:
        return library.reading.entry(name)
    except StoreError as missing:
        archived = index.find(index.Index(library.root / ARCHIVE).look().entries, name)
        if missing.code != "not_found" or len(archived) != 1:
            raise
        return archived[0]._replace(path=f"{ARCHIVE}/{archived[0].path}")
