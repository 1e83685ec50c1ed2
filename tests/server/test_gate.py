"""Who may come in."""

import json

import httpx2
import pytest

from assistant.errors import PersonMustAct
from assistant.server.gate import BODY_BYTES, Door
from assistant.server.process import Listening, check


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}, {"Authorization": "Bearer \xff"}]
)
def test_without_the_token_nothing_but_health_is_answered(served, headers):
    raw = [(name, value.encode("latin-1")) for name, value in headers.items()]
    answer = httpx2.get(f"{served.url}/v1/runs", headers=raw)

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert set(answer.json()["error"]) == {"message", "type", "code", "param"}
    assert "server.json" in answer.json()["error"]["message"]
    assert httpx2.get(f"{served.url}/health").json()["status"] == "ok"


@pytest.mark.parametrize(
    ("host", "fits"),
    [
        ("127.0.0.1:1", True),
        ("localhost", True),
        ("[::1]:8642", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
        ("my.house", True),
    ],
)
def test_only_our_own_names_are_answered_for(host, fits):
    assert Door((), allowed_hosts=("My.House",)).host_allowed(host) == fits


def test_a_door_to_everywhere_takes_addresses_but_no_names():
    door = Door((), host="0.0.0.0")
    assert door.host_allowed("192.168.1.5:8642")
    assert not door.host_allowed("evil.example")


@pytest.mark.parametrize(
    ("origin", "fits"),
    [
        ("http://127.0.0.1:8642", True),
        ("http://127.0.0.1:9999", False),
        ("https://evil.example", False),
        ("null", False),
        ("", False),
        ("https://my.house", True),
    ],
)
def test_only_our_own_pages_may_ask(origin, fits):
    assert Door((), allowed_hosts=("my.house",)).origin_allowed(origin, "127.0.0.1:8642") == fits


def test_a_foreign_page_is_refused_even_with_the_token(served):
    answer = served.http.get("/v1/runs", headers={"Origin": "https://evil.example"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_not_allowed")
    answer = served.http.get("/v1/runs", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "host_not_allowed")


def test_a_body_that_is_too_long_is_refused_with_and_without_a_length(served):
    long = b'{"input": "' + b"x" * BODY_BYTES + b'"}'

    whole = served.http.post("/v1/runs", content=long)
    pieces = served.http.post("/v1/runs", content=iter([long[:5_000_000], long[5_000_000:]]))

    assert (whole.status_code, whole.json()["error"]["code"]) == (413, "body_too_long")
    assert pieces.status_code == 413


@pytest.mark.parametrize("key", ["", "fifteen-letters"])
def test_a_wide_bind_needs_a_key(key):
    with pytest.raises(PersonMustAct, match="16 characters"):
        check(Listening("0.0.0.0", 0, key=key))


@pytest.mark.parametrize(
    "listening", [Listening("127.0.0.1", 0), Listening("::1", 0), Listening("0.0.0.0", 0, key="k" * 16)]
)
def test_loopback_or_a_long_key_is_fine(listening):
    assert check(listening) is None


def test_the_token_is_in_a_file_of_the_owner_alone_and_gone_with_the_server(served):
    path = served.home / "server.json"
    told = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert told.keys() == {"pid", "port", "token", "version", "host"}
    assert len(told["token"]) >= 32
    served.hang_up()
    assert not path.exists()
    served.listen()


def test_answers_are_not_to_be_stored_or_guessed_at(served):
    headers = served.get("/v1/runs").headers
    assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == ("no-store", "nosniff")


def test_neither_token_nor_key_is_in_logs_or_events(served):
    served.get("/v1/runs")
    log = served.home / "logs" / "assistant.log"
    assert not log.exists() or served.token not in log.read_text()
