"""A real Open WebUI from its own environment, with a server of ours behind it."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2

from assistant.home.place import Home
from assistant.home.running import read_running

ROOT = Path(__file__).parents[2]
PIPE = ROOT / "assistant" / "client" / "webui_pipe.py"
KEY = "a-key-for-open-webui"
LONGEST = 180.0
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "OFFLINE_MODE": "true",
    "TRANSFORMERS_OFFLINE": "1",
    "ENABLE_VERSION_UPDATE_CHECK": "false",
    "WEBUI_AUTH": "False",
    "WEBUI_SECRET_KEY": "test",
    "ENABLE_OLLAMA_API": "false",
    "RAG_EMBEDDING_ENGINE": "openai",
    "AUDIO_STT_ENGINE": "openai",
    "RAG_EMBEDDING_MODEL_AUTO_UPDATE": "false",
    "RAG_RERANKING_MODEL_AUTO_UPDATE": "false",
    "WHISPER_MODEL_AUTO_UPDATE": "false",
    "BYPASS_EMBEDDING_AND_RETRIEVAL": "true",
    "ENABLE_TITLE_GENERATION": "true",
    "ENABLE_TAGS_GENERATION": "false",
    "ENABLE_FOLLOW_UP_GENERATION": "false",
    "ENABLE_AUTOCOMPLETE_GENERATION": "false",
    "ENABLE_COMMUNITY_SHARING": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "SCARF_NO_ANALYTICS": "true",
    "ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS": "false",
}
"""Headless, on SQLite, without a download or a request to anywhere."""


def waited(true: Any, what: str) -> None:
    """Until it is true."""
    end = time.monotonic() + LONGEST
    while not true():
        assert time.monotonic() < end, f"waited {LONGEST:.0f} s for {what}"
        time.sleep(0.2)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Ours:
    """Our server, as a process."""

    def __init__(self, folder: Path, model_url: str) -> None:
        self.home, self.work = Home(folder / "home"), folder / "work"
        self.work.mkdir(parents=True)
        self.home.root.mkdir()
        self.port = free_port()
        self.home.config.write_text(
            "skills: {creation_nudge_interval: 0}\nmemory: {nudge_interval: 0}\nmodel: {name: scripted}\n"
            f"terminal: {{workdir: {self.work}}}\n"
        )
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "OPENAI_BASE_URL": model_url,
            "ASSISTANT_API_KEY": KEY,
        }
        self.begin()

    def begin(self) -> None:
        words = [sys.executable, "-m", "assistant", "--home", str(self.home.root), "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(words, cwd=self.work, env=self.environ)
        waited(lambda: read_running(self.home) is not None, "our server")

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(30)

    def ask(self, method: str, path: str, **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {KEY}"}
        answer = httpx2.request(method, f"http://127.0.0.1:{self.port}{path}", headers=headers, json=body or None)
        assert answer.status_code < 400, answer.text
        return answer.json()

    def turns(self) -> list[dict[str, Any]]:
        """Oldest first."""
        return [run for run in self.ask("GET", "/v1/runs?limit=500")["data"] if run["kind"] == "turn"][::-1]


class OpenWebUI:
    """Open WebUI, as a process; `begin` after `end` is its restart."""

    def __init__(self, program: str, folder: Path, ours: Ours) -> None:
        self.program, self.folder, self.ours = program, folder, ours
        (folder / "data").mkdir(parents=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx2.Client(base_url=self.url, timeout=120)
        self.begin()
        token = self.ask("POST", "/api/v1/auths/signin", email="", password="")["token"]
        self.token = token
        self.http.headers["Authorization"] = f"Bearer {token}"
        self.install()

    def begin(self) -> None:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "DATA_DIR": str(self.folder / "data"),
            "ENABLE_OPENAI_API": "true",
            "OPENAI_API_BASE_URLS": f"http://127.0.0.1:{self.ours.port}/v1",
            "OPENAI_API_KEYS": KEY,
            **QUIET,
        }
        words = [self.program, "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(words, cwd=self.folder, env=environ, stdout=log, stderr=log)
        waited(self.healthy, "Open WebUI")

    def healthy(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
        try:
            return bool(httpx2.get(f"{self.url}/health", timeout=5).json()["status"])
        except (httpx2.HTTPError, ValueError, KeyError):
            return False

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ask(self, method: str, path: str, **body: Any) -> Any:
        answer = self.http.request(method, path, json=body or None)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        return answer.json()

    def install(self) -> None:
        """Paste the pipe, switch it on, set its valves."""
        source = PIPE.read_text(encoding="utf-8")
        about = {"description": "the assistant"}
        self.ask("POST", "/api/v1/functions/create", id="hermes", name="Hermes", content=source, meta=about)
        self.ask("POST", "/api/v1/functions/id/hermes/toggle")
        valves = {"BASE_URL": f"http://127.0.0.1:{self.ours.port}", "API_KEY": KEY}
        self.ask("POST", "/api/v1/functions/id/hermes/valves/update", **valves)

    def chat(self, number: int = 0) -> dict[str, Any]:
        """The newest chat, whole."""
        listed = self.ask("GET", "/api/v1/chats/?page=1")
        found: dict[str, Any] = self.ask("GET", f"/api/v1/chats/{listed[number]['id']}")
        return found

    def answers(self) -> list[dict[str, Any]]:
        """The assistant's messages of the newest chat."""
        messages = self.chat()["chat"]["history"]["messages"].values()
        return [message for message in messages if message["role"] == "assistant"]
