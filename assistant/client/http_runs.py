"""The port `Runs` over HTTP: the same questions, asked of a server."""

import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2

from assistant.core.events import LAST, Decision, event_of
from assistant.core.ports import Accepted, Mode, Start, Started, Told
from assistant.errors import AssistantError, Conflict, Denied, NotFound, PersonMustAct, TryLater

ANSWER_SECONDS, SILENCE_SECONDS = 35.0, 40.0
"""How long an answer may take, and how long a stream may be silent; the server says something every 15 s."""
BACK_SECONDS = 20.0
"""How long a server that went away is looked for before we give up following."""
PAUSE_SECONDS = 0.2
FAULTS: Mapping[int, type[AssistantError]] = {
    400: PersonMustAct,
    401: PersonMustAct,
    403: Denied,
    404: NotFound,
    409: Conflict,
    413: PersonMustAct,
    503: TryLater,
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server answers, and the token it wants."""

    url: str
    token: str


def trust(url: str) -> ssl.SSLContext | bool:
    """Whose certificates are believed: those of the system; nobody's where there are none, which saves loading them."""
    return True if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class HttpRuns:
    """Asks a server; looks for it again when it went away meanwhile."""

    def __init__(
        self,
        address: Address,
        find: Callable[[], Address],
        workdir: str = "",
        ticks: Callable[[], float] = time.monotonic,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        self._find = find
        self._address = address
        self._workdir = workdir
        self._ticks = ticks
        self._rest = rest
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=4)
        patience = httpx2.Timeout(ANSWER_SECONDS, connect=5.0)
        self._http = httpx2.Client(timeout=patience, limits=limits, trust_env=False, verify=trust(address.url))

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    # -- the port ------------------------------------------------------------------------------------------------

    def start(self, wish: Start) -> Started:
        """Write a run down on the server."""
        body = {
            "input": wish.input,
            "session_id": wish.session_id,
            "model": wish.model,
            "instructions": wish.instructions,
            "workdir": wish.workdir or self._workdir,
        }
        headers = {"Idempotency-Key": wish.idempotency_key} if wish.idempotency_key else {}
        answer = self._ask("POST", "/v1/runs", body, headers)
        told = answer.json()
        return Started(told["run_id"], told["session_id"], answer.headers.get("Idempotency-Replayed") == "true")

    def events(self, run_id: str, after: int = 0) -> Iterator[Told]:
        """Every event past a number; a lost connection, or a server that starts again, loses nothing."""
        gone_since: float | None = None
        while True:
            try:
                begun = after
                for told, seq in self._stream(run_id, after):
                    after, gone_since = seq, None
                    if told:
                        yield told
                        if isinstance(told.event, LAST):
                            return
                if after == begun and self.get(f"/v1/runs/{run_id}")["finished_at"]:
                    return
            except (httpx2.HTTPError, TryLater):
                gone_since = self._ticks() if gone_since is None else gone_since
                if self._ticks() - gone_since > BACK_SECONDS:
                    raise TryLater(f"the server went away; the run is {run_id}, and goes on when it is back") from None
            self._rest(PAUSE_SECONDS)
            self._look_again()

    def steer(self, run_id: str, text: str, mode: Mode = "steer") -> Accepted:
        """Words for a running turn or the next."""
        told = self._ask("POST", f"/v1/runs/{run_id}/steer", {"input": text, "mode": mode}).json()
        return Accepted(told["accepted"], told["run_id"])

    def stop(self, run_id: str) -> None:
        """End a run soon."""
        self._ask("POST", f"/v1/runs/{run_id}/stop", {})

    def decide(self, run_id: str, decision: Decision, approval_id: str = "", feedback: str = "") -> None:
        """Answer an approval."""
        body = {"decision": decision, "approval_id": approval_id, "feedback": feedback}
        self._ask("POST", f"/v1/runs/{run_id}/approval", body)

    def answer(self, run_id: str, answer: str, question_id: str = "") -> None:
        """Answer a question."""
        self._ask("POST", f"/v1/runs/{run_id}/answer", {"answer": answer, "question_id": question_id})

    # -- beyond the port -----------------------------------------------------------------------------------------

    def get(self, path: str, **query: str | int) -> Any:
        """Any other question: the JSON of a path."""
        wanted = httpx2.QueryParams(query)
        return self._ask("GET", f"{path}?{wanted}" if query else path, None).json()

    # -- how -----------------------------------------------------------------------------------------------------

    def _ask(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        try:
            answer = self._send(method, path, body, headers)
        except httpx2.ConnectError:
            self._look_again()
            try:
                answer = self._send(method, path, body, headers)
            except httpx2.HTTPError as fault:
                raise TryLater(f"the server at {self._address.url} does not answer ({fault})") from fault
        except httpx2.HTTPError as fault:
            raise TryLater(
                f"the server at {self._address.url} did not answer ({fault or type(fault).__name__})"
            ) from fault
        if answer.is_error:
            raise fault_of(answer.status_code, answer.content)
        return answer

    def _send(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None) -> httpx2.Response:
        address = self._address
        content = None if body is None else json.dumps(body).encode()
        return self._http.request(
            method, address.url + path, content=content, headers={**self._headers(address), **(headers or {})}
        )

    def _stream(self, run_id: str, after: int) -> Iterator[tuple[Told | None, int]]:
        address = self._address
        url = f"{address.url}/v1/runs/{run_id}/events?after={after}"
        patience = httpx2.Timeout(SILENCE_SECONDS, connect=5.0)
        with self._http.stream("GET", url, headers=self._headers(address), timeout=patience) as answer:
            if answer.is_error:
                raise fault_of(answer.status_code, answer.read())
            yield from frames(answer.iter_bytes())

    def _look_again(self) -> None:
        try:
            self._address = self._find()
        except TryLater:
            return

    def _headers(self, address: Address) -> dict[str, str]:
        return {"Authorization": f"Bearer {address.token}", "Content-Type": "application/json"}


def frames(pieces: Iterator[bytes]) -> Iterator[tuple[Told | None, int]]:
    """The events of a stream with their numbers; None for a kind of a newer version."""
    rest = b""
    for piece in pieces:
        *blocks, rest = (rest + piece).split(b"\n\n")
        for block in blocks:
            line = next((line for line in block.split(b"\n") if line.startswith(b"data:")), None)
            if line is not None:
                yield told_of(json.loads(line[5:]))


def told_of(data: Mapping[str, Any]) -> tuple[Told | None, int]:
    """An event from its data."""
    event = event_of(data["type"], data)
    seq = int(data["seq"])
    return (Told(seq, datetime.fromisoformat(data["at"]), event) if event else None), seq


def fault_of(status: int, body: bytes) -> AssistantError:
    """What the server refused, as the exception that the engine itself would have raised."""
    try:
        message = str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the server answered {status}: {body[:200].decode(errors='replace')}"
    return FAULTS.get(status, AssistantError)(message)
