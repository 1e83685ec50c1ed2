"""Running shell commands, to their end or in the background."""

import shutil
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from assistant.core.events import ToolOutput
from assistant.core.messages import Effect
from assistant.errors import ModelCanFix
from assistant.tools.background import Background, Job
from assistant.tools.capture import Capture
from assistant.tools.context import Context
from assistant.tools.declare import Result, tool
from assistant.tools.limits import shorten
from assistant.tools.places import origin_of_command, place
from assistant.tools.processes import Command, Ended, Shell, Watch
from skills_store.values import Origin

Action = Literal["list", "poll", "log", "wait", "kill", "write"]
LONGEST_WAIT = 600
LINES = 200


@tool(Effect.WORLD, preview="command")
def terminal(
    context: Context,
    command: Annotated[str, Field(description="Bash; no input can be typed")],
    timeout: Annotated[int | None, Field(ge=1, le=LONGEST_WAIT, description="Seconds")] = None,
    workdir: Annotated[str, Field(description="Folder for this command only")] = "",
    background: Annotated[bool, Field(description="Return at once; see the tool process")] = False,
) -> Result:
    """Run a shell command; cd lasts. Prefer the file tools for reading, writing and searching."""
    folder = folder_for(context, workdir)
    wish = Command(command, folder, context.environment, typed=background, inside=confinement(context))
    if background:
        return started(context, wish)
    shell = Shell(wish)
    capture = Capture()
    context.started_group(shell.group)
    shell.release()
    limit = timeout or context.settings.terminal.timeout
    watch = Watch(
        shell, capture, context.interrupt, lambda text: context.tell(ToolOutput(context.call_id, text)), limit
    )
    ended = watch.run()
    moved = "" if workdir else moved_to(context, ended.folder)
    notes = [how_it_ended(ended, limit), moved]
    text = capture.text(context.spill).rstrip("\n")
    said = "\n".join(part for part in [text, *notes] if part)
    origin = Origin.TRUSTED if "--unshare-net" in wish.inside else origin_of_command(command)
    return Result(said, origin, failed=bool(ended.code or ended.why), preview=shorten(command, 80))


def folder_for(context: Context, wanted: str) -> Path:
    """The folder a command runs in; ModelCanFix when there is none."""
    folder = place(context, wanted) if wanted else context.workdir()
    if not folder.is_dir():
        raise ModelCanFix(f"there is no folder {folder}; pass workdir with one that exists")
    return folder


def confinement(context: Context) -> tuple[str, ...]:
    """With the sandbox: everything can be read, only the workspace and a fresh /tmp written, our home never.

    The home's secrets look empty; programs outside are not seen or reached; nothing that it starts outlives it.
    """
    terminal = context.settings.terminal
    if terminal.backend == "local":
        return ()
    program = shutil.which("bwrap", path=context.environment.get("PATH"))
    if program is None:
        raise ModelCanFix(
            "no command was run: terminal.backend is bubblewrap and bwrap is not installed; only the person can "
            "change that (install bubblewrap, or: assistant config set terminal.backend local)"
        )
    root, home = str(context.root), str(context.home)
    readable = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp")
    writable = ("--bind", root, root, "--ro-bind-try", home, home)
    secrets = [str(context.home / name) for name in (".env", "server.json") if (context.home / name).exists()]
    hidden = [word for path in secrets for word in ("--ro-bind", "/dev/null", path)]
    network = () if terminal.network else ("--unshare-net",)
    return (program, *readable, *writable, *hidden, *network, "--unshare-pid", "--die-with-parent")


def moved_to(context: Context, folder: Path | None) -> str:
    """Keep the folder where the command ended; a line for the model when it is another one."""
    if folder is None or folder == context.workdir():
        return ""
    context.change_workdir(folder)
    return f"[working folder: {folder}]"


def how_it_ended(ended: Ended, limit: float) -> str:
    """One bracketed line."""
    if ended.why == "timeout":
        return f"[ended after {limit:g} seconds: the time limit; a longer one: timeout, or background]"
    if ended.why:
        return "[stopped by the person]"
    left = "; what it left running was ended, use background for that" if ended.leftovers else ""
    code = f"killed by signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
    return f"[{code}{left}]"


def started(context: Context, command: Command) -> Result:
    """Begin a command that outlives its call."""
    jobs = background_of(context)
    job = jobs.start(context.session_id, command)
    jobs.go(job, context.goes_on(job.shell.group))
    text = (
        f"Started {job.name} (process group {job.shell.group}). process(action=poll, id={job.name}) shows its output."
    )
    return Result(text, preview=shorten(command.text, 80))


def background_of(context: Context) -> Background:
    """Where commands go on after their call."""
    if context.background is None:
        raise ModelCanFix("nothing may run in the background here; run it without background")
    background: Background = context.background
    return background


@tool(Effect.WORLD, preview="action")
def process(
    context: Context,
    action: Annotated[Action, Field(description="poll: new output; log: the last lines")],
    id: Annotated[str, Field(description="For all but list")] = "",
    data: Annotated[str, Field(description="For write, with its newline; empty closes the input")] = "",
    timeout: Annotated[int, Field(ge=1, le=LONGEST_WAIT, description="For wait, seconds")] = 60,
) -> Result:
    """Look after commands started with terminal(background)."""
    jobs = background_of(context)
    if action == "list":
        said = [f"{job.name} {job.state()}: {shorten(job.command, 120)}" for job in jobs.all(context.session_id)]
        return Result("\n".join(said) or "Nothing runs in the background.", preview="list")
    job = jobs.find(context.session_id, id)
    if action == "write":
        job.type(data)
    elif action == "kill":
        job.end()
    elif action == "wait":
        wait_for(job, context, timeout)
    return Result(report(job, whole=action == "log"), origin_of_command(job.command), preview=f"{action} {job.name}")


def wait_for(job: Job, context: Context, seconds: int) -> None:
    """Until the command ends, the time is over or the run is stopped."""
    for _tenth in range(seconds * 10):
        if job.ended is not None or context.interrupt.wait(0.1):
            return


def report(job: Job, whole: bool) -> str:
    """Its state and its last lines: the ones not yet shown, or all."""
    text, job.seen = job.capture.since(0 if whole else job.seen)
    lines = text.splitlines()
    shown = [shorten(line, 2_000) if len(line) > 2_000 else line for line in lines[-LINES:]]
    left = f"[{len(lines) - len(shown)} earlier lines left out]\n" if len(lines) > len(shown) else ""
    return f"{left}{chr(10).join(shown) or '(no new output)'}\n[{job.name} {job.state()}]"
