"""The built-in model: small, without tools, served by a child process of ours that ends with us."""

import os
import secrets
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import IO
from weakref import finalize

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Chunk, Message, Request
from assistant.llm.client import Endpoint
from assistant.llm.faults import Passing, Unreachable
from assistant.llm.provider import OpenAIModel
from assistant.llm.weights import ready, weights_in

NAME = "builtin"
CONTEXT = 2048
ANSWER = 400
SYSTEM = "You are a helpful AI assistant."
HABITS = {"max_tokens": ANSWER, "temperature": 0.2, "top_p": 0.9, "repeat_penalty": 1.1}
START_SECONDS = 120.0
PATIENCE = 600.0
ROOT = Path(__file__).parents[2]


class LocalServer:
    """The child process, started when first needed and again if it died."""

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._lock = Lock()
        self._child: list[subprocess.Popen[str]] = []
        self._endpoint: Endpoint | None = None
        finalize(self, end, self._child)

    def endpoint(self, interrupt: Interrupt) -> Endpoint | None:
        """Where it answers; None when interrupted while it starts."""
        with self._lock:
            if self._endpoint is None or not self._child or self._child[0].poll() is not None:
                end(self._child)
                self._endpoint = self._start(interrupt)
            return self._endpoint

    def child_id(self) -> int:
        """The child's process id; 0 without one."""
        return self._child[0].pid if self._child else 0

    def close(self) -> None:
        """End the child."""
        with self._lock:
            end(self._child)

    def _start(self, interrupt: Interrupt) -> Endpoint | None:
        key = secrets.token_urlsafe(16)
        words = [str(self._weights), str(CONTEXT), str(threads())]
        with tempfile.TemporaryFile("w+", errors="replace") as complaints:
            child = subprocess.Popen(
                [sys.executable, "-m", "assistant.llm.local_server", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                cwd=ROOT,
                start_new_session=True,
            )
            self._child.append(child)
            with interrupt.waking(child.kill):
                address = first_answer(child, key)
            if address:
                return Endpoint(f"{address}/v1", key, PATIENCE)
            end(self._child)
            if interrupt.is_set():
                return None
            raise Passing(f"The built-in model did not start: {last_words(complaints)}", tries=2, act=True)


class LocalModel:
    """Answers from a short prompt and the newest messages; knows little and calls no tools."""

    name = NAME
    window = CONTEXT
    tools_supported = False

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._server = LocalServer(weights_in(cache))
        self._model: OpenAIModel | None = None
        self._endpoint: Endpoint | None = None

    def stream(self, request: Request, interrupt: Interrupt) -> Iterator[Chunk]:
        """The reply's pieces; the first request waits until the model is loaded."""
        if not ready(self._cache):
            raise Unreachable("The built-in model is not installed: run `assistant setup --local`.")
        endpoint = self._server.endpoint(interrupt)
        if endpoint is None:
            return
        if self._model is None or endpoint is not self._endpoint:
            self._model, self._endpoint = OpenAIModel(NAME, endpoint, CONTEXT, HABITS), endpoint
        yield from self._model.stream(Request(SYSTEM, (), shortened(request.messages)), interrupt)

    def close(self) -> None:
        """End the child process."""
        self._server.close()


def threads() -> int:
    """One a core that we may use, four at most: more makes so small a model slower."""
    return max(1, min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))


def shortened(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """What was said, without tools, as far back as the window holds; the newest message at least in part."""
    room = CONTEXT - ANSWER - 128
    kept: list[Message] = []
    for message in reversed(messages):
        if message.role == "tool" or not message.text:
            continue
        cost = cautious_tokens(message.text)
        if cost > room and kept:
            break
        text = message.text if cost <= room else message.text[: room // 3]
        kept.append(Message(message.role, text))
        room -= cost
    while len(kept) > 1 and kept[-1].role == "assistant":
        kept.pop()
    return tuple(reversed(kept))


def cautious_tokens(text: str) -> int:
    """At most about so many tokens: this model spells wide scripts out in bytes."""
    wide = sum(not character.isascii() for character in text)
    return (len(text) - wide) // 3 + wide * 3 + 8


def first_answer(child: "subprocess.Popen[str]", key: str) -> str:
    """The child's address once it is ready; empty when it died or took too long."""
    if child.stdin is None or child.stdout is None:
        return ""
    try:
        child.stdin.write(f"{key}\n")
        child.stdin.flush()
    except OSError:
        return ""
    answered, _, _ = select.select([child.stdout], [], [], START_SECONDS)
    return child.stdout.readline().strip() if answered else ""


def end(children: "list[subprocess.Popen[str]]") -> None:
    """End the child and forget it; also when its owner is forgotten."""
    while children:
        child = children.pop()
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()


def last_words(complaints: IO[str]) -> str:
    """The end of what the child complained about."""
    complaints.seek(0)
    lines = complaints.read().strip().splitlines()
    return lines[-1][-300:] if lines else "it gave no reason"
