"""An OpenAI-compatible server on loopback that plays a script, so that the real client is under test.

In a test:      with OpenAIServer(text("hi"), status(429, headers={"Retry-After": "1"})) as server: … server.base_url
From a shell:   python -m tests.fakes.openai_server --port 0 --script FILE.json     prints the port, serves until killed

A script is a list of steps, each played once; or `{"forever": step}`; or `{"rules": [{"when": WORDS, "steps": […]}]}`:
the first rule whose words stand in the newest user message answers, and its step is chosen by the number of replies
since that message, so a request that is asked again (after a crash, by another process) gets the same answer again.

A step is a dict (JSON): `chunks` (stream chunks, sent as they are) or `status`/`headers`/`body` (a plain response);
`cut` (send this many chunks, then cut the connection) or `stall` (… then say nothing more until the server closes);
or `silent` (never answer) or `hang_up` (cut the connection without an answer).
"""

import argparse
import json
import socket
from collections.abc import Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

Step = dict[str, Any]
PATIENCE = 60.0


def chunk(**delta: Any) -> dict[str, Any]:
    """One stream chunk with this delta."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def ended(reason: str | None = "stop") -> dict[str, Any]:
    """The chunk that says why the reply ended."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(input_tokens: int = 10, output_tokens: int = 5, cached_tokens: int = 0) -> dict[str, Any]:
    """The last chunk, with what it cost."""
    details = {"cached_tokens": cached_tokens}
    counts = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens, "prompt_tokens_details": details}
    return {"object": "chat.completion.chunk", "choices": [], "usage": counts}


def chunks(*some: dict[str, Any], **more: Any) -> Step:
    """A streamed reply of exactly these chunks."""
    return {"chunks": list(some), **more}


def text(words: str, finish: str | None = "stop", reasoning: str = "", **more: Any) -> Step:
    """A streamed answer, in pieces of four characters."""
    thought = [chunk(reasoning_content=reasoning)] if reasoning else []
    said = [chunk(content=words[i : i + 4]) for i in range(0, len(words), 4)]
    return chunks(chunk(role="assistant", content=""), *thought, *said, ended(finish), usage(), **more)


def call_pieces(number: int, call_id: str, name: str, arguments: str) -> list[dict[str, Any]]:
    """One call as the provider streams it: head first, then its arguments in pieces."""
    head = {"index": number, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"index": number, "function": {"arguments": arguments[i : i + 5]}} for i in range(0, len(arguments), 5)]
    return [chunk(tool_calls=[piece]) for piece in (head, *rest)]


def call(name: str, call_id: str = "", /, **arguments: Any) -> Step:
    """A streamed reply that calls one tool."""
    return call_many((name, arguments), prefix=call_id)


def call_many(*wanted: tuple[str, dict[str, Any]], words: str = "", prefix: str = "", **more: Any) -> Step:
    """A streamed reply that calls several tools, after some words."""
    said = [chunk(content=words)] if words else []
    pieces = [
        piece
        for number, (name, arguments) in enumerate(wanted)
        for piece in call_pieces(
            number,
            f"{prefix}{number}" if prefix else f"srv-{name}-{number}",
            name,
            json.dumps(arguments, ensure_ascii=False),
        )
    ]
    return chunks(*said, *pieces, ended("tool_calls"), usage(), **more)


def status(number: int, message: str = "no", headers: dict[str, str] | None = None, **error: Any) -> Step:
    """A refusal in the OpenAI form."""
    return {"status": number, "headers": headers or {}, "body": json.dumps({"error": {"message": message, **error}})}


def plain(body: str, kind: str = "application/json", code: int = 200) -> Step:
    """A response that is no stream."""
    return {"status": code, "headers": {"Content-Type": kind}, "body": body}


class OpenAIServer:
    """Plays a script to any number of clients; a context manager."""

    def __init__(self, *steps: Step, script: Any = None, models: Sequence[str] = ("scripted",), port: int = 0) -> None:
        self.script: Any = list(steps) if script is None else script
        self.models = list(models)
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.surplus = 0
        self.closing = Event()
        self.stalled = Event()
        self.lock = Lock()
        self.open: set[socket.socket] = set()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._http.daemon_threads = True
        self.port: int = self._http.server_address[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "OpenAIServer":
        Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        with self.lock:
            for connection in self.open:
                _cut(connection)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What was asked, parsed."""
        return [json.loads(body) for body in self.bodies]

    def finished(self) -> None:
        """Fail unless every step was played, and none was missing."""
        assert not self.surplus, f"{self.surplus} requests came after the script's end"
        assert not (isinstance(self.script, list) and self.script), f"never asked for: {self.script}"

    def next_step(self, body: bytes, headers: dict[str, str]) -> Step:
        """The answer to this request."""
        with self.lock:
            self.bodies.append(body)
            self.headers.append(headers)
            step = self._choose(json.loads(body))
            if step is None:
                self.surplus += 1
        return step or status(400, "the script has no step for this request")

    def _choose(self, request: dict[str, Any]) -> Step | None:
        if isinstance(self.script, list):
            return self.script.pop(0) if self.script else None
        if "forever" in self.script:
            forever: Step = self.script["forever"]
            return forever
        return by_rules(self.script["rules"], request["messages"])


def by_rules(rules: Iterable[dict[str, Any]], messages: list[dict[str, Any]]) -> Step | None:
    """The step of the first rule that fits the newest user message."""
    newest = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=0)
    replies = sum(message["role"] == "assistant" for message in messages[newest:])
    for rule in rules:
        if rule["when"] in (messages[newest]["content"] or "") and replies < len(rule["steps"]):
            step: Step = rule["steps"][replies]
            return step
    return None


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            with server.lock:
                server.connections += 1
                server.open.add(self.connection)

        def finish(self) -> None:
            with server.lock:
                server.open.discard(self.connection)
            super().finish()

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

        def log_message(self, *_words: Any) -> None:
            pass

        def do_GET(self) -> None:
            listed = [{"id": name, "object": "model"} for name in server.models]
            self._respond(plain(json.dumps({"object": "list", "data": listed})))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            step = server.next_step(body, {name.lower(): value for name, value in self.headers.items()})
            if step.get("hang_up"):
                self.close_connection = True
                _cut(self.connection)
            elif step.get("silent"):
                server.stalled.set()
                server.closing.wait(PATIENCE)
                self.close_connection = True
            elif "chunks" in step:
                self._stream(step)
            else:
                self._respond(step)

        def _respond(self, step: Step) -> None:
            body = step["body"].encode()
            self.send_response(step["status"])
            for name, value in {"Content-Type": "application/json", **step["headers"]}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, step: Step) -> None:
            shown = step.get("cut", step.get("stall"))
            events = [f"data: {json.dumps(c, ensure_ascii=False)}\n\n".encode() for c in step["chunks"][:shown]]
            if shown is None:
                events.append(b"data: [DONE]\n\n")
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            framed = b"".join(b"%x\r\n%s\r\n" % (len(event), event) for event in events)
            self.wfile.write(framed + (b"0\r\n\r\n" if shown is None else b""))
            if "stall" in step:
                server.stalled.set()
                server.closing.wait(PATIENCE)
            if shown is not None:
                self.close_connection = True
                _cut(self.connection)

    return Handler


def main() -> None:
    """Serve a script file until killed."""
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--script", type=Path, required=True)
    chosen = options.parse_args()
    with OpenAIServer(script=json.loads(chosen.script.read_text(encoding="utf-8")), port=chosen.port) as server:
        print(server.port, flush=True)
        server.closing.wait()


if __name__ == "__main__":
    main()
