"""`assistant` as other programs meet it: a process of its own, the real client, a scripted server on loopback."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.scene import PATH, Shell, skill
from tests.fakes.model import calls, says
from tests.fakes.openai_server import OpenAIServer, call, status, text

ROOT = Path(__file__).parents[2]


def environ(folder, server=None, **more):
    base = {"PATH": PATH, "HOME": str(folder), "HERMES_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    model = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test"} if server else {}
    return base | model | more


def assistant(folder, *words, server=None, given=None, **more):
    return subprocess.run(
        [sys.executable, "-m", "assistant", *words],
        env=environ(folder, server, **more),
        cwd=folder,
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        text=True,
        timeout=50,
    )


def test_the_answer_goes_to_standard_output_and_the_tools_to_the_notes(tmp_path):
    with OpenAIServer(call("terminal", command="echo 안녕"), text("It said 안녕.")) as server:
        done = assistant(tmp_path, "ask", "--here", "-", server=server, given="Say 안녕, please\n")
        server.finished()
    assert (done.returncode, done.stdout) == (0, "It said 안녕.\n")
    assert "terminal echo 안녕" in done.stderr
    assert server.headers[0]["authorization"] == "Bearer sk-test"
    assert "Say 안녕, please" in server.requests[0]["messages"][-1]["content"]


def test_json_is_one_object_with_the_fields_of_the_contract(tmp_path):
    with OpenAIServer(call("terminal", command="ls"), text("Nothing."), text("Still nothing.")) as server:
        first = assistant(tmp_path, "ask", "--here", "--json", "what is here?", server=server)
        again = assistant(tmp_path, "ask", "--here", "--json", "--continue", "and now?", server=server)
        server.finished()
    told, later = json.loads(first.stdout), json.loads(again.stdout)
    assert told.pop("session_id") == later["session_id"]
    assert told.pop("run_id") != later["run_id"]
    assert told == {
        "status": "completed",
        "answer": "Nothing.",
        "usage": {"input_tokens": 20, "output_tokens": 10, "cached_tokens": 0},
        "steps": 2,
        "tools": [{"name": "terminal", "ok": True}],
        "review": None,
    }


def test_what_is_risky_does_not_run_unattended_without_a_yes(tmp_path):
    risky = call("terminal", command="rm -r kept")
    for words, left in ((["--here"], True), (["--here", "--no"], True), (["--here", "--yes"], False)):
        (tmp_path / "kept").mkdir(exist_ok=True)
        with OpenAIServer(risky, text("Done.")) as server:
            done = assistant(tmp_path, "ask", *words, "remove it", server=server)
        assert done.returncode == 0
        assert (tmp_path / "kept").exists() is left, done.stderr


def test_a_refused_key_is_for_the_person_and_nothing_is_lost(tmp_path):
    with OpenAIServer(status(401, "bad key"), text("Better.")) as server:
        done = assistant(tmp_path, "ask", "--here", "hello", server=server)
        assert (done.returncode, done.stdout) == (2, "")
        assert "key" in done.stderr
        assert assistant(tmp_path, "ask", "--here", "--continue", "again", server=server).stdout == "Better.\n"
        server.finished()
    assert "hello" in json.dumps(server.requests[1])


def test_ctrl_c_stops_the_turn_and_keeps_what_was_said(tmp_path):
    with OpenAIServer(text("I begin and go on for ever", stall=5)) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "assistant", "ask", "--here", "go on"],
            env=environ(tmp_path, server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.stalled.wait(40)
        process.send_signal(signal.SIGINT)
        _, notes = process.communicate(timeout=40)
    assert process.returncode == 130
    assert "Traceback" not in notes
    (run,) = json.loads(assistant(tmp_path, "runs", "list", "--json").stdout)
    assert run["status"] == "cancelled"


def test_a_due_review_is_finished_before_leaving(tmp_path):
    shell = Shell(tmp_path)
    shell.fine("config", "set", "skills.creation_nudge_interval", "1")
    shell.fine("config", "set", "memory.nudge_interval", "0")
    shell.model.script(
        says("Left to right it is."),
        calls(
            "skill_manage",
            action="create",
            name="draw-diagrams",
            content=skill("draw-diagrams"),
            evidence=["left to right"],
        ),
        says("Kept."),
    )
    said = shell.fine("ask", "--here", "--json", "Draw it left to right, always")
    shell.model.finished()
    assert said.json["review"].keys() == {"run_id", "kind", "outcome"}
    assert said.json["review"]["outcome"] == "saved"
    assert said.notes == "✎ review: saved draw-diagrams\n"
    assert shell.fine("skills", "log", "--json").json[0]["actor"] == "review"


def test_what_a_dead_process_left_is_finished_by_the_next(tmp_path):
    with OpenAIServer(text("never heard to the end", stall=3)) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "assistant", "ask", "--here", "the first"],
            env=environ(tmp_path, server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert server.stalled.wait(40)
        process.kill()
        process.wait()
    shell = Shell(tmp_path)
    by_question = {"the first": "First, late.", "the second": "Second."}

    def reply(request):
        return says(next(words for asked, words in by_question.items() if asked in request.messages[-1].wire_text))

    shell.model.script(reply, reply)
    said = shell.fine("ask", "--here", "the second")
    shell.model.finished()
    assert said.out == "Second.\n"
    assert "going on with what was interrupted" in said.notes
    late = next(run for run in shell.fine("runs", "list", "--json").json if run["input"] == "the first")
    assert (late["output"], late["resumed"]) == ("First, late.", 1)
    assert {run["status"] for run in shell.fine("runs", "list", "--json").json} == {"completed"}


def test_a_reader_that_goes_away_is_no_fault(tmp_path):
    assistant(tmp_path, "skills", "list")
    process = subprocess.Popen(
        [sys.executable, "-m", "assistant", "config", "show", "--json"],
        env=environ(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    notes = process.stderr.read()
    process.wait(40)
    process.stderr.close()
    assert notes == b""


HEAVY = ("openai", "prompt_toolkit", "git", "uvicorn", "starlette", "mcp", "sqlite_utils")


@pytest.mark.parametrize("words", [["--help"], ["skills", "list"], ["sessions", "list"], ["config", "show"]])
def test_a_command_loads_only_what_it_needs(tmp_path, words):
    assert assistant(tmp_path, "sessions", "list").returncode == 0
    code = f"import sys\nfrom assistant.cli.run import run\nrun({words!r})\n"
    code += f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ(tmp_path), capture_output=True, text=True, timeout=40
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_the_version_is_answered_before_anything_is_loaded(tmp_path):
    code = "import sys\nsys.argv = ['assistant', '--version']\nfrom assistant.__main__ import main\nmain()\n"
    code += "assert not {'typer', 'pydantic', 'sqlite3', 'json'} & set(sys.modules), sorted(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ(tmp_path), capture_output=True, text=True, timeout=40
    )
    assert (done.returncode, done.stdout) == (0, "assistant 0.1.0\n"), done.stderr


def test_a_refusal_says_who_decided(tmp_path):
    with OpenAIServer(
        call("terminal", command="rm -r x"), text("No."), call("terminal", command="rm -r x"), text("No.")
    ) as server:
        alone = assistant(tmp_path, "ask", "--here", "clean up", server=server)
        told = assistant(tmp_path, "ask", "--here", "--no", "clean up", server=server)
        results = [request["messages"][-1]["content"] for request in server.requests]
    assert results[1].startswith("terminal: refused: nobody is there to allow it.")
    assert results[3].startswith("terminal: refused: the person said no beforehand, with --no.")
    assert "✗ terminal · refused: nobody is there to allow it." in alone.stderr
    assert "✗ denied · the person said no beforehand, with --no" in told.stderr
