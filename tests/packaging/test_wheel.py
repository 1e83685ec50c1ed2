"""What `pip install .` puts on a machine: a command that works without the source tree."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer, text

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with nothing of ours in it but the built wheel; other packages are those of this one."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    [wheel] = folder.glob("hermes_assistant-*.whl")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    python = folder / "env/bin/python"
    subprocess.run([*pip, "--python", str(python), "install", "--no-deps", str(wheel)], check=True, capture_output=True)
    return folder


def assistant(installed, *words, **environ):
    command = [str(installed / "env/bin/assistant"), *words]
    shared = {
        "PATH": os.environ["PATH"],
        "HOME": str(installed),
        "HERMES_HOME": str(installed / "home"),
        "PYTHONPATH": sysconfig.get_paths()["purelib"],
    }
    return subprocess.run(
        command, cwd=installed, env=shared | environ, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_command_comes_from_the_wheel_and_knows_its_version(installed):
    where = subprocess.run(
        [str(installed / "env/bin/python"), "-c", "import assistant; print(assistant.__file__)"],
        cwd=installed,
        env={"PYTHONPATH": sysconfig.get_paths()["purelib"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(installed))
    assert assistant(installed, "--version").stdout.strip().endswith("0.1.0")


def test_a_first_question_is_answered_in_a_home_filled_from_the_wheels_template(installed):
    with OpenAIServer(text("Hello from afar.")) as server:
        done = assistant(installed, "ask", "--here", "hello", OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="k")
        server.finished()

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Hello from afar."
    home = installed / "home"
    assert (home / "config.yaml").read_text().startswith("#")
    assert list(home.glob("skills/*/*/SKILL.md"))
    system = server.requests[0]["messages"][0]["content"]
    assert "# How to work" in system
