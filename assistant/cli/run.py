"""From words to an exit code: what is raised on purpose becomes one sentence among the notes."""

import os
import sys
from collections.abc import Sequence

import typer
from typer import TyperException

from assistant.cli.app import app
from assistant.cli.given import Given
from assistant.errors import AssistantError
from skills_store.errors import StoreBusyError, StoreError

STORE_CODES = {
    "not_found": 4,
    "ownership": 3,
    "pinned": 3,
    "not_read": 3,
    "changed_since_read": 3,
    "no_evidence": 3,
    "duplicate": 3,
    "scan": 3,
    "untrusted": 3,
    "conflict": 1,
}
"""What a refusal of the store means to whoever called; any other is for the person to put right (2)."""
USAGE, INTERRUPTED = 2, 130


def run(words: Sequence[str], given: Given | None = None) -> int:
    """Run one command; its exit code."""
    given = given or Given()
    try:
        code = app(args=list(words), prog_name="assistant", obj=given, standalone_mode=False)
        return flushed(code if isinstance(code, int) else 0)
    except AssistantError as fault:
        return said(given, str(fault), fault.exit_code)
    except StoreError as fault:
        return said(given, sentence(fault), store_code(fault))
    except TyperException as fault:
        return usage(given, fault)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return flushed(1)


def store_code(fault: StoreError) -> int:
    """The exit code of a refusal."""
    return 1 if isinstance(fault, StoreBusyError) else STORE_CODES.get(fault.code, USAGE)


def sentence(fault: StoreError) -> str:
    """A refusal in words, with what to do instead; the tools of the model have commands beside them."""
    hint = fault.hint.replace("skills_list", "assistant skills list").replace("skill_view", "assistant skills show")
    return f"{fault.message} ({hint})" if hint else fault.message


def usage(given: Given, fault: TyperException) -> int:
    """A command that was not understood: what is wrong, and where to read more."""
    context = getattr(fault, "ctx", None)
    more = f" See: {context.command_path} --help" if context is not None else ""
    words = fault.format_message() if hasattr(fault, "format_message") else str(fault)
    return said(given, f"{words if words.endswith(('.', '?')) else f'{words}.'}{more}", USAGE)


def said(given: Given, words: str, code: int) -> int:
    """The code, once the sentence is out."""
    flushed(0)
    (given.streams.notes if given.streams else sys.stderr).write(f"{words}\n")
    return code


def flushed(code: int) -> int:
    """The code, once all output is out; whoever read it may have gone, which is no fault of ours."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
