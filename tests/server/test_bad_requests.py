"""Bad input gets a sentence that says what is wrong, never a fault of ours."""

import json

import pytest


def error(answer):
    return answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "JSON object"),
        (b"{", "Invalid JSON"),
        (b"[]", "object"),
        (b"null", "object"),
        (b'{"input": 5}', "input"),
        (b'{"input": ""}', "empty"),
        (b'{"input": "\xff"}', "JSON"),
        (b'{"input": "\\ud800"}', "JSON"),
        (b'{"input": ' + b"[" * 5000, "JSON"),
        (b'{"input": [{"type": "image_url"}]}', "only text"),
        (b'{"input": "x", "session_id": 7}', "session_id"),
        (b'{"input": "x", "model": "' + b"m" * 300 + b'"}', "model"),
    ],
)
def test_a_run_cannot_be_started_with_it(served, body, said):
    answer = served.http.post("/v1/runs", content=body)

    assert answer.status_code == 400, answer.text
    assert said in error(answer)["message"]
    assert error(answer)["type"] == "invalid_request_error"
    assert served.get("/v1/runs").json()["data"] == []


def test_unknown_fields_are_ignored(served):
    answer = served.post("/v1/runs", input="   ", colour="blue")
    assert "empty" in error(answer)["message"]


@pytest.mark.parametrize(
    ("path", "param"),
    [
        ("/v1/runs?limit=0", "limit"),
        ("/v1/runs?limit=x", "limit"),
        ("/v1/runs?status=asleep", "status"),
        ("/v1/search", "q"),
        ("/v1/search?q=", "q"),
        ("/v1/sessions?limit=501", "limit"),
        ("/v1/runs/run_1/events?after=-1", "after"),
        (f"/v1/runs/run_1/events?after={10**30}", "after"),
    ],
)
def test_a_query_is_checked(served, path, param):
    answer = served.http.get(path)
    assert (answer.status_code, error(answer)["param"]) == (400, param)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/runs/none",
        "/v1/sessions/none",
        "/v1/sessions/none/messages",
        "/v1/skills/none",
        "/v1/runs?after=none",
        "/v1/skills/none/history",
        "/v1/nothing",
        "/",
    ],
)
def test_what_is_not_there_is_404(served, path):
    answer = served.http.get(path)
    assert answer.status_code == 404, answer.text
    assert error(answer)["code"] == "not_found"


def test_a_wrong_method_is_405(served):
    answer = served.http.delete("/v1/runs")
    assert (answer.status_code, error(answer)["code"]) == (405, "method_not_allowed")


def test_odd_paths_are_no_fault(served):
    for path in ("/v1/runs/%00", "/v1/runs/%ff%fe", "/v1/sessions/..%2f..", "/v1/skills/%F0%9F%98%80/diff/zz"):
        assert served.http.get(path).status_code in (400, 404), path


def test_the_document_names_every_endpoint_and_every_field(served):
    told = served.get("/openapi.json").json()
    listed = served.get("/v1/capabilities").json()["endpoints"]
    assert {(e["method"].lower(), e["path"]) for e in listed} == {
        (method, path) for path, methods in told["paths"].items() for method in methods
    }
    assert json.dumps(told)
