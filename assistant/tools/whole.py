"""Reading and replacing files of the person: whole, with their mode, line ends and byte-order mark kept."""

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from assistant.errors import ModelCanFix

LARGEST = 20_000_000
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Text:
    """A text file as it is edited: `\\n` between lines if the file knows only one kind of line end."""

    text: str
    newline: str = "\n"
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """Another text in the manner of this file."""
        if self.newline == "\r\n":
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        return (BOM if self.bom else b"") + text.encode("utf-8", "surrogateescape")


def bytes_of(path: Path) -> bytes:
    """The bytes of a plain file; ModelCanFix says why there are none and what lies near."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise ModelCanFix(f"{path} is a folder; search_files(target=names) lists what is in it")
        if not stat.S_ISREG(about.st_mode):
            raise ModelCanFix(f"{path} is not a plain file but {kind_of(about.st_mode)}, and is not read")
        if about.st_size > LARGEST:
            size = f"{about.st_size / 1e6:.0f} MB"
            raise ModelCanFix(f"{path} is too large ({size}); search_files or `sed -n` in the terminal shows parts")
        return path.read_bytes()
    except FileNotFoundError as problem:
        raise ModelCanFix(f"there is no file {path}{similar(path)}") from problem
    except OSError as problem:
        raise ModelCanFix(f"{path} cannot be read: {problem.strerror}") from problem


def text_of(path: Path, data: bytes) -> Text:
    """The bytes as text; ModelCanFix when they are none."""
    if b"\0" in data[:8192]:
        raise ModelCanFix(f"{path} is a binary file ({len(data):,} bytes); `file` in the terminal says what kind")
    bom = data.startswith(BOM)
    text = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
    only_crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return Text(text.replace("\r\n", "\n"), "\r\n", bom) if only_crlf else Text(text, "\n", bom)


def kind_of(mode: int) -> str:
    """What a special file is, in words."""
    kinds = (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a disk"),
    )
    return next((words for test, words in kinds if test(mode)), "something else")


def similar(path: Path) -> str:
    """Names that come near, as the end of a sentence; the folder that is missing, if that is the reason."""
    folder = path.parent
    if not folder.is_dir():
        there = next((parent for parent in folder.parents if parent.is_dir()), folder)
        return f"; its folder does not exist, the nearest that does is {there}"
    with suppress(OSError):
        names = sorted(os.listdir(folder))
        same = [name for name in names if name.casefold() == path.name.casefold()]
        near = same or get_close_matches(path.name, names, n=5, cutoff=0.6)
        if near:
            return f"; did you mean {' or '.join(str(folder / name) for name in near)}?"
    return ""


def write(path: Path, data: bytes) -> bool:
    """Replace a file in one step, its mode kept and a link followed; whether it is new."""
    target = path.resolve()
    try:
        new = not target.exists()
        if not new and not target.is_file():
            raise ModelCanFix(f"{path} is not a plain file and cannot be written")
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(target, data, None if new else stat.S_IMODE(target.stat().st_mode))
    except OSError as problem:
        reason = problem.strerror or errno.errorcode.get(problem.errno or 0, "unknown reason")
        raise ModelCanFix(f"{path} cannot be written: {reason}") from problem
    return new


def replace_whole(target: Path, data: bytes, mode: int | None) -> None:
    """A reader, or a crash, sees the old bytes or the new."""
    draft = target.with_name(f".draft-{os.getpid()}-{target.name[:100]}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            draft.chmod(mode)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
