"""How the person changes things: an editor over a copy, whose refused text is not lost, and what came of a change."""

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assistant.cli.show import Show
from assistant.errors import AssistantError, PersonMustAct
from assistant.runtime.inbox import landed
from assistant.store import memory
from skills_store import outcome
from skills_store.errors import StoreError

Outcome = outcome.Outcome | memory.Outcome


def tell(show: Show, result: Outcome) -> None:
    """Say what was done, and what to look at twice; a refusal is raised with its code."""
    if isinstance(result, outcome.Staged | memory.Staged):
        show.note(f"it waits for your yes: assistant inbox show {result.id}")
        return
    show.note(landed(result))
    for warning in getattr(result, "warnings", ()):
        show.note(f"warning: {warning}")


def run_editor(environ: Mapping[str, str], path: Path) -> None:
    """Open a file in VISUAL or EDITOR and wait until it is closed."""
    editor = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(editor), str(path)], env=dict(environ), check=False)
    except (OSError, ValueError) as fault:
        raise PersonMustAct(f"the editor {editor!r} cannot be started ({fault}): set EDITOR to yours") from None
    if done.returncode:
        raise PersonMustAct(f"the editor {editor!r} ended with code {done.returncode}; nothing was changed")


@contextmanager
def edited(show: Show, environ: Mapping[str, str], text: str, name: str, source: Path | None = None) -> Iterator[str]:
    """The text as the person leaves it; when the body refuses it, it stays, and the person is told where.

    With a `source` no editor is opened: its text is the new one.
    """
    if source is not None:
        yield text_of(source)
        return
    folder = Path(tempfile.mkdtemp(prefix="assistant-"))
    draft = folder / name
    draft.write_text(text, encoding="utf-8", newline="")
    try:
        run_editor(environ, draft)
        yield text_of(draft)
    except (AssistantError, StoreError):
        if draft.read_bytes() == text.encode():
            shutil.rmtree(folder)
        else:
            show.note(f"Your text is in {draft}.")
        raise
    shutil.rmtree(folder)


def text_of(path: Path) -> str:
    """The text of a file, or of standard input for `-`."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise PersonMustAct(f"{path} is not UTF-8 text (byte {fault.start}); nothing was changed") from None
    except OSError as fault:
        raise PersonMustAct(f"{path} cannot be read: {fault.strerror}") from None
