import os
import shutil
import subprocess
import threading
import time
from dataclasses import replace

import pytest

from assistant.core.events import ToolOutput
from assistant.errors import ModelCanFix
from assistant.tools.processes import is_alive
from assistant.tools.terminal import process, terminal
from skills_store.values import Origin
from tests.fakes.context import Desk


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.background.close()


@pytest.fixture
def confined(desk):
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    desk.backend = "bubblewrap"
    return desk


def run(desk, command, **more):
    return terminal.run(desk.context(), command=command, **more)


def until(true, seconds=10.0):
    """Wait for something that happens in another process; False when it never does."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not true():
        if time.monotonic() > end:
            return False
        pause.wait(0.02)
    return True


def test_output_and_exit_code_reach_the_model(desk):
    result = run(desk, "echo out; echo err >&2; exit 3")

    assert result.text == "out\nerr\n[exit code 3]"
    assert result.failed


def test_a_command_that_ends_well_is_not_a_failure(desk):
    assert not run(desk, "true").failed


def test_the_working_folder_is_kept_between_commands(desk):
    (desk.folder / "below").mkdir()

    assert "[working folder: " in run(desk, "cd below && pwd").text
    assert run(desk, "pwd").text.startswith(str(desk.root / "work" / "below"))


def test_the_folder_is_told_apart_from_output_that_looks_like_it(desk):
    run(desk, "echo /etc; echo '[working folder: /etc]'")

    assert desk.folder == desk.root / "work"


def test_a_command_that_exits_from_another_folder_still_moves(desk):
    (desk.folder / "below").mkdir()
    run(desk, "cd below; exit 1")

    assert desk.folder.name == "below"


def test_workdir_holds_for_one_command_only(desk):
    (desk.folder / "below").mkdir()
    first = run(desk, "pwd", workdir="below")
    second = run(desk, "pwd")

    assert first.text.startswith(str(desk.root / "work" / "below"))
    assert second.text == f"{desk.root / 'work'}\n[exit code 0]"


def test_a_missing_folder_is_named(desk):
    with pytest.raises(ModelCanFix, match=r"no folder .*/nowhere"):
        run(desk, "pwd", workdir="nowhere")


def test_the_group_is_recorded_before_the_command_does_anything(desk, tmp_path):
    mark = tmp_path / "mark"
    seen = []
    context = desk.context()
    object.__setattr__(context, "started_group", lambda group: seen.append((group, mark.exists())))
    terminal.run(context, command=f"touch {mark}")

    assert seen[0][1] is False
    assert mark.exists()


def test_a_command_runs_in_a_group_of_its_own(desk):
    result = run(desk, "ps -o pgid= -p $$ | tr -d ' '")

    assert result.text.splitlines()[0] == str(desk.groups[0])
    assert desk.groups[0] != os.getpgrp()


def test_nothing_can_be_typed_into_it(desk):
    assert run(desk, "read x || echo closed").text.startswith("closed")


def test_only_the_given_environment_is_seen(desk):
    assert run(desk, "echo ${VIRTUAL_ENV-none}/$HOME").text.startswith(f"none/{desk.root}")


def test_a_time_limit_ends_the_whole_group(desk):
    result = run(desk, "echo begun; sleep 61 & sleep 62", timeout=1)

    assert "begun" in result.text
    assert "ended after 1 seconds" in result.text
    assert result.failed
    assert until(lambda: not is_alive(desk.groups[0]))


def test_stop_ends_the_whole_group_and_keeps_what_was_said(desk):
    context = desk.context()
    stopper = threading.Thread(target=lambda: until(lambda: desk.told) and desk.interrupt.set())
    stopper.start()
    result = terminal.run(context, command="echo begun; trap '' TERM; sleep 63 & wait")
    stopper.join()

    assert result.text == "begun\n[stopped by the person]"
    assert until(lambda: not is_alive(desk.groups[0]))


def test_a_command_that_closed_its_output_can_still_be_stopped(desk):
    context = desk.context()
    stopper = threading.Thread(target=lambda: until(lambda: desk.groups) and desk.interrupt.set())
    stopper.start()
    result = terminal.run(context, command="exec >&- 2>&-; sleep 64")
    stopper.join()

    assert "[stopped by the person]" in result.text
    assert until(lambda: not is_alive(desk.groups[0]))


def test_what_it_leaves_running_is_ended_and_said(desk):
    result = run(desk, "sleep 65 & echo done")

    assert "use background for that" in result.text
    assert until(lambda: not is_alive(desk.groups[0]))


def test_output_is_told_while_it_comes_in_few_pieces(desk):
    run(desk, "for i in $(seq 300); do echo line $i; done")
    told = [event.text for event in desk.told if isinstance(event, ToolOutput)]

    assert told
    assert len(told) <= 30
    assert "line 300" in told[-1]


def test_a_long_output_keeps_both_ends_and_names_the_file(desk):
    result = run(desk, "seq 1 60000")

    assert result.text.startswith("1\n2\n")
    assert result.text.endswith("59999\n60000\n[exit code 0]")
    assert str(desk.spilled[0]) in result.text
    assert len(result.text) < 60_000
    assert desk.spilled[0].read_text() == "".join(f"{n}\n" for n in range(1, 60001))


def test_colours_and_progress_bars_are_taken_out(desk):
    assert run(desk, r"printf '\033[31mred\033[0m\n 10%%\r100%%\n'").text == "red\n100%\n[exit code 0]"


def test_broken_bytes_do_not_break_the_result(desk):
    assert run(desk, r"printf 'a\xffb\n'").text.startswith("a\ufffdb")


def test_a_syntax_error_is_bash_s_own_message_with_the_right_line(desk):
    result = run(desk, "echo a\necho (\n")

    assert "line 2" in result.text
    assert result.failed


def test_a_heredoc_and_many_lines_run_as_written(desk):
    assert run(desk, "cat <<'E'\n$x\nE\necho '\"'").text.startswith('$x\n"\n')


def test_a_command_that_talks_to_the_network_is_not_believed(desk):
    assert run(desk, "echo https://example.org").origin is Origin.UNTRUSTED
    assert run(desk, "echo hello").origin is Origin.TRUSTED


def test_a_background_command_is_followed_by_name(desk):
    started = run(desk, "echo one; read x; echo got $x", background=True)
    job = desk.background.all("session-1")[0]
    assert job.name in started.text
    assert until(lambda: job.capture.total)

    first = process.run(desk.context(), action="poll", id=job.name)
    process.run(desk.context(), action="write", id=job.name, data="two\n")
    last = process.run(desk.context(), action="wait", id=job.name)

    assert first.text == f"one\n[{job.name} running]"
    assert "got two" in process.run(desk.context(), action="log", id=job.name).text
    assert "ended with exit code 0" in last.text


def test_a_background_command_can_be_killed(desk):
    run(desk, "sleep 66", background=True)
    job = desk.background.all("session-1")[0]

    assert "stopped" in process.run(desk.context(), action="kill", id=job.name).text
    assert until(lambda: not is_alive(job.shell.group))


def test_the_list_shows_each_background_command(desk):
    assert process.run(desk.context(), action="list").text == "Nothing runs in the background."
    run(desk, "sleep 67", background=True)

    assert "running: sleep 67" in process.run(desk.context(), action="list").text


def test_an_unknown_background_command_names_those_there_are(desk):
    run(desk, "sleep 68", background=True)

    with pytest.raises(ModelCanFix, match=r"no background command 'x'; there are: bg1"):
        process.run(desk.context(), action="poll", id="x")


def test_closing_ends_what_runs_in_the_background(desk):
    run(desk, "trap '' TERM; sleep 69", background=True)
    job = desk.background.all("session-1")[0]
    desk.background.close()

    assert until(lambda: not is_alive(job.shell.group))


def test_nothing_runs_unconfined_where_the_person_wanted_it_confined(desk):
    desk.backend = "bubblewrap"
    context = desk.context()

    context = replace(context, environment={"PATH": "/nowhere"})
    with pytest.raises(ModelCanFix, match="no command was run"):
        terminal.run(context, command="echo hi")
    assert desk.groups == []


def test_a_confined_command_writes_its_workspace_and_nothing_else(confined, tmp_path_factory):
    context = confined.context()
    outside = tmp_path_factory.mktemp("outside")
    (context.home).mkdir(exist_ok=True)

    inside = terminal.run(context, command="echo hi > here && cat here")
    (context.home / ".env").write_text("KEY=sesame")
    assert "sesame" not in terminal.run(context, command=f"cat {context.home}/.env").text
    refused = terminal.run(context, command=f"echo hi > {outside}/there; echo hi > {context.home}/there")

    assert inside.text.startswith("hi")
    assert refused.failed
    assert not list(outside.iterdir())
    assert not (context.home / "there").exists()


def test_a_confined_command_without_network_is_believed_and_cannot_call_out(confined):
    context = confined.context()
    context.settings.terminal.network = False

    result = terminal.run(context, command="cat /proc/net/dev; echo https://example.org")

    assert result.origin is Origin.TRUSTED
    assert "eth0" not in result.text


def test_a_confined_command_keeps_its_folder(confined):
    run(confined, "mkdir below && cd below")

    assert run(confined, "pwd").text.startswith(str(confined.root / "work" / "below"))


def test_a_confined_command_ends_at_its_time_limit_with_all_that_it_started(confined):
    result = run(confined, "echo begun; setsid sleep 7101 & sleep 7102", timeout=1)

    assert "ended after 1 seconds" in result.text
    assert until(lambda: not is_alive(confined.groups[0]) and not running("710[12]"))


def test_a_confined_command_ends_when_it_is_stopped(confined):
    stopper = threading.Thread(target=lambda: until(lambda: confined.told) and confined.interrupt.set())
    stopper.start()
    result = run(confined, "echo begun; trap '' TERM; sleep 7103 & wait")
    stopper.join()

    assert result.text == "begun\n[stopped by the person]"
    assert until(lambda: not is_alive(confined.groups[0]) and not running("7103"))


def test_a_confined_command_goes_on_in_the_background_and_reaches_nothing_outside(confined):
    run(confined, "read x; echo $x > there; ps -A | wc -l; sleep 7104", background=True)
    job = confined.background.all("session-1")[0]

    process.run(confined.context(), action="write", id=job.name, data="here\n")
    assert until(lambda: job.capture.total)
    assert (confined.folder / "there").read_text() == "here\n"
    assert int(process.run(confined.context(), action="poll", id=job.name).text.split()[0]) < 10
    process.run(confined.context(), action="kill", id=job.name)
    assert not running("7104")


def running(pattern):
    """Whether a `sleep` of such a length runs."""
    return subprocess.run(["pgrep", "-f", f"^sleep {pattern}"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("text", ["echo a\0b", "echo " + "x" * 3_000_000])
def test_a_command_that_cannot_be_started_says_why(desk, text):
    with pytest.raises(ModelCanFix, match="did not start"):
        run(desk, text)
