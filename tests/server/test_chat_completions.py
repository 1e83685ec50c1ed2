"""Chat completions, asked by the real `openai` package and by curl."""

import json
import socket
import subprocess
from collections.abc import Iterator
from threading import Event

import openai
import pytest

from assistant.errors import PersonMustAct, TryLater
from tests.fakes.model import UNTIL_STOPPED, calls, restarts, says, thinks, used
from tests.fakes.waiting import until

HI = [{"role": "user", "content": "hi"}]


@pytest.fixture
def client(served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=served.token) as found:
        yield found


def turns(served):
    return [run for run in served.get("/v1/runs").json()["data"] if run["kind"] == "turn"]


def test_the_models_are_ours_first_then_the_configured_one(client):
    assert [model.id for model in client.models.list().data] == ["hermes-agent", "scripted"]


def test_a_whole_answer_with_its_cost(served, client):
    served.script(says("Hello there.") + used(11, 3, 2))

    answer = client.chat.completions.create(model="hermes-agent", messages=HI)

    assert answer.choices[0].message.content == "Hello there."
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == "hermes-agent"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (11, 3, 14)
    assert answer.usage.prompt_tokens_details.cached_tokens == 2
    assert answer.id == f"chatcmpl-{turns(served)[0]['run_id']}"


def test_a_stream_with_thoughts_and_usage(served, client):
    served.script(thinks("hm") + says("Hello there.") + used(11, 3))

    chunks = list(
        client.chat.completions.create(
            model="hermes-agent", messages=HI, stream=True, stream_options={"include_usage": True}
        )
    )

    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == "Hello there."
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "hm"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage.total_tokens == 14
    assert {chunk.id for chunk in chunks} == {chunks[0].id}


def test_tools_are_told_as_events_that_a_plain_client_skips(served, client):
    (served.work / "a.txt").write_text("hello")
    served.script(says("Looking.") + calls("read_file", path="a.txt"), says("hello"))

    with served.http.stream("POST", "/v1/chat/completions", json={"messages": HI, "stream": True}) as answer:
        text = answer.read().decode()

    blocks = [block.split("\n") for block in text.strip().split("\n\n")]
    told = [json.loads(lines[1][6:]) for lines in blocks if lines[0] == "event: hermes.tool.progress"]
    assert [(t["tool"], t["label"], t["status"]) for t in told] == [
        ("read_file", "a.txt", "running"),
        ("read_file", "a.txt", "completed"),
    ]
    assert told[0]["toolCallId"] == told[1]["toolCallId"]
    said = [json.loads(lines[0][6:]) for lines in blocks if lines[0].startswith("data: {")]
    assert "".join(c["choices"][0]["delta"].get("content", "") for c in said if c["choices"]) == "Looking.\n\nhello"
    assert text.endswith("data: [DONE]\n\n")


def test_the_messages_as_sent_are_the_whole_conversation(served, client):
    served.script(says("one"), says("two"))
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": "Hi!"},
        {"role": "user", "content": "again"},
    ]

    client.chat.completions.create(model="hermes-agent", messages=talk)
    client.chat.completions.create(model="hermes-agent", messages=talk)

    first, second = turns(served)
    assert first["session_id"] != second["session_id"]
    for request in served.model.requests:
        assert [m.text for m in request.messages] == ["hello", "Hi!", "again"]
        assert "Be brief." in request.system


def test_a_named_session_has_its_own_history(served, client):
    served.script(says("one"), says("two"))
    named = {"X-Session-Id": "my chat 7"}
    client.chat.completions.create(model="hermes-agent", messages=HI, extra_headers=named)

    again = client.chat.completions.with_raw_response.create(
        model="hermes-agent", messages=[*HI, {"role": "user", "content": "and?"}], extra_headers=named
    )

    assert again.headers["X-Session-Id"] == "my chat 7"
    assert [m.text for m in served.model.requests[-1].messages] == ["hi", "one", "and?"]


def test_the_same_key_is_the_same_run(served, client):
    served.script(says("one"))
    key = {"Idempotency-Key": "k", "X-Session-Id": "s"}

    answers = [client.chat.completions.create(model="x", messages=HI, extra_headers=key) for _ in range(2)]

    assert [a.choices[0].message.content for a in answers] == ["one", "one"]
    assert len(turns(served)) == 1


@pytest.mark.parametrize("field", ["tools", "functions"])
def test_tools_of_the_client_are_refused_with_the_reason(served, field):
    answer = served.post("/v1/chat/completions", messages=HI, **{field: [{"type": "function"}]})

    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == field
    assert "hermes.tool.progress" in answer.json()["error"]["message"]
    assert served.post("/v1/chat/completions", messages=HI, tools=[], stream="x").status_code == 400


@pytest.mark.parametrize(
    "messages",
    [[], [{"role": "assistant", "content": "x"}], [{"role": "user", "content": " "}], [{"role": "king"}], "x"],
)
def test_messages_that_say_nothing_are_refused(served, messages):
    answer = served.post("/v1/chat/completions", messages=messages)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize(
    ("task", "header"),
    [
        ("### Task:\nGenerate a title.\n### Output:\nJSON\n<chat_history>…</chat_history>", None),
        ("Suggest three tags", {"X-Task": "tags_generation"}),
    ],
)
def test_what_a_front_end_asks_on_the_side_is_a_plain_model_call(served, client, task, header):
    served.script(says("A Title") + used(5, 2), says("A Title"))
    asked = [{"role": "user", "content": task}]

    answer = client.chat.completions.create(model="hermes-agent", messages=asked, extra_headers=header)
    stream = client.chat.completions.create(model="hermes-agent", messages=asked, extra_headers=header, stream=True)

    assert answer.choices[0].message.content == "A Title"
    assert answer.usage.total_tokens == 7
    assert "".join(c.choices[0].delta.content or "" for c in stream) == "A Title"
    assert served.get("/v1/runs").json()["data"] == served.get("/v1/sessions").json()["data"] == []
    assert served.model.requests[0].tools == ()


def test_a_person_who_writes_a_task_gets_the_assistant(served, client):
    served.script(says("ok"))
    client.chat.completions.create(model="hermes-agent", messages=[{"role": "user", "content": "### Task: tidy up"}])
    assert len(turns(served)) == 1


@pytest.mark.parametrize(
    ("fault", "status"), [(TryLater("the model is asleep"), 503), (PersonMustAct("the key is wrong"), 400)]
)
def test_a_run_that_fails_is_an_error_in_their_shape(served, client, fault, status):
    served.script(fault, fault)

    with pytest.raises(openai.APIStatusError, match=str(fault)) as caught:
        client.chat.completions.create(model="hermes-agent", messages=HI)
    with pytest.raises(openai.APIError, match=str(fault)):
        list(client.chat.completions.create(model="hermes-agent", messages=HI, stream=True))

    assert caught.value.status_code == status
    assert len(turns(served)) == 2


def test_what_is_said_again_is_not_told_twice(served, client):
    served.script(says("One two ") + restarts() + says("One two three."), says("One ") + restarts() + says("Other."))

    texts = []
    for _ in range(2):
        stream = client.chat.completions.create(model="hermes-agent", messages=HI, stream=True)
        texts.append("".join(chunk.choices[0].delta.content or "" for chunk in stream))

    assert texts[0] == "One two three."
    assert texts[1] == "One \n\n[the answer begins again]\n\nOther."


@pytest.mark.parametrize(("stream", "named"), [(True, False), (True, True), (False, False), (False, True)])
def test_leaving_stops_a_run_unless_its_session_was_named(served, stream, named):
    begun, hold = Event(), Event()
    served.script([*says("I begin "), begun.set, *([hold, *says("and end")] if named else [UNTIL_STOPPED])])
    headers = {"X-Session-Id": "mine"} if named else {}
    body = {"messages": HI, "stream": stream}
    sent = served.http.build_request("POST", "/v1/chat/completions", json=body, headers=headers)
    with socket.create_connection(("127.0.0.1", int(served.url.rsplit(":", 1)[1]))) as line:
        head = "\r\n".join(f"{name}: {value}" for name, value in sent.headers.items())
        line.sendall(f"POST {sent.url.path} HTTP/1.1\r\n{head}\r\n\r\n".encode() + sent.read())
        assert begun.wait(10)
    hold.set()

    until(lambda: turns(served)[0]["finished_at"] is not None)
    assert turns(served)[0]["status"] == ("completed" if named else "cancelled")


def test_curl(served):
    served.script(says("Hello curl."), says("Hello stream."))
    auth = f"Authorization: Bearer {served.token}"
    url = f"{served.url}/v1/chat/completions"

    def curl(body: dict) -> str:
        words = ["curl", "-sS", "-N", "--noproxy", "*", "-H", auth, "-H", "Content-Type: application/json"]
        return subprocess.run([*words, "-d", json.dumps(body), url], capture_output=True, text=True, check=True).stdout

    whole = json.loads(curl({"model": "hermes-agent", "messages": HI}))
    stream = curl({"model": "hermes-agent", "messages": HI, "stream": True})

    assert whole["choices"][0]["message"] == {"role": "assistant", "content": "Hello curl."}
    assert '"Hello"' in stream
    assert stream.endswith("data: [DONE]\n\n")
