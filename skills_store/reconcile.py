"""Brings an old change onto today's files: as it was where they did not move on, merged where they did."""

from collections.abc import Callable, Mapping, Sequence

from skills_store import sidecar
from skills_store.change import FileEdit, as_text
from skills_store.errors import MergeConflictError
from skills_store.files import OnDisk, mode_of
from skills_store.names import SIDECAR
from skills_store.story import Touched

BY_HAND = "edit the file by hand; both versions are shown"
Merge = Callable[[bytes, bytes, bytes], tuple[bytes, bool]]


def backwards(touched: Sequence[Touched]) -> tuple[Touched, ...]:
    """The same files, from after to before."""
    return tuple(Touched(item.path, item.after, item.before, item.mode) for item in touched)


def reconcile(
    touched: Sequence[Touched], blobs: Mapping[str, bytes], read: Callable[[str], OnDisk | None], merge: Merge
) -> tuple[FileEdit, ...]:
    """The edits that do to today's files what was done to the old ones; MergeConflictError shows what cannot be."""
    edits = []
    for item in touched:
        now = read(item.path)
        today = None if now is None else now.blob
        if today == item.after:
            continue
        wanted = blobs[item.after] if item.after else None
        if today != item.before:
            base = blobs[item.before] if item.before else None
            wanted = brought_forward(item.path, base, None if now is None else now.data, wanted, merge)
            if wanted == (None if now is None else now.data):
                continue
        edits.append(FileEdit(item.path, today, wanted, mode_of(item.mode) if item.after and now is None else None))
    return tuple(edits)


def brought_forward(
    path: str, base: bytes | None, today: bytes | None, wanted: bytes | None, merge: Merge
) -> bytes | None:
    """One file that moved on since."""
    if path.endswith(SIDECAR):
        return sidecar.merged(base, today, wanted)
    texts = [as_text(version) for version in (base, today, wanted)]
    if base is None or today is None or wanted is None or None in texts:
        happened = "was removed" if today is None else "was changed" if wanted is None else "became another file"
        raise MergeConflictError(f"{path} {happened} since", both(path, texts[1], texts[2]), BY_HAND)
    merged, clean = merge(today, base, wanted)
    if not clean:
        shown = merged.decode("utf-8", "replace")
        raise MergeConflictError(f"{path} was changed in the same lines since", shown, BY_HAND)
    return merged


def both(path: str, today: str | None, wanted: str | None) -> str:
    """Two versions, one after the other."""
    shown = [("today", today), ("wanted", wanted)]
    return "\n".join(f"--- {path}, {name}:\n{text if text is not None else '(no such file)'}" for name, text in shown)
