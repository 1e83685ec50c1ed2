"""What a provider is sent: the right form, the same bytes, and no work done twice."""

import json
from itertools import pairwise

import pytest

from assistant.core.messages import Call, Message, Request
from assistant.errors import PersonMustAct
from assistant.llm.dialect import Dialect
from assistant.llm.wire import Encoder, dumped, encoded
from tests.fakes.openai_server import OpenAIServer, status, text
from tests.llm.scene import HELLO, model_at, played, text_of

TOOL = {"type": "function", "function": {"name": "todo", "description": "", "parameters": {"type": "object"}}}
STEPS = (
    Message("user", "plan the day", sent="plan the day\n\n[it is Monday]"),
    Message("assistant", "", (Call("c1", "todo", '{"todos": []}'),), reasoning="first a list"),
    Message("tool", "[]", answers="c1", name="todo"),
    Message("assistant", "Nothing planned.", reasoning="easy"),
    Message("user", "좋아요 \u2028 </s>"),
)


def sent(request, dialect=None):
    return json.loads(Encoder("m").body(request, dialect or Dialect()))


def test_the_form_is_that_of_a_chat_request():
    body = sent(Request("You help.", (TOOL,), STEPS))
    called = {"id": "c1", "type": "function", "function": {"name": "todo", "arguments": '{"todos": []}'}}
    assert body == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [TOOL],
        "messages": [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "plan the day\n\n[it is Monday]"},
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "tool", "tool_call_id": "c1", "content": "[]"},
            {"role": "assistant", "content": "Nothing planned."},
            {"role": "user", "content": "좋아요 \u2028 </s>"},
        ],
    }


def test_without_system_and_tools_neither_is_named():
    body = sent(Request("", (), STEPS[:1]))
    assert "tools" not in body
    assert [m["role"] for m in body["messages"]] == ["user"]


@pytest.mark.parametrize("dialect", [Dialect(), Dialect(reasoning=True, usage=False)])
def test_each_body_starts_with_the_whole_of_the_one_before(dialect):
    encoder = Encoder("m")
    bodies = [encoder.body(Request("s", (TOOL,), STEPS[:n]), dialect) for n in range(1, len(STEPS) + 1)]
    for earlier, later in pairwise(bodies):
        assert later.startswith(earlier.removesuffix(b"]}"))
        assert len(later) > len(earlier)


def test_messages_read_again_from_the_database_give_the_same_bytes():
    again = tuple(Message(m.role, m.text, m.calls, m.answers, m.name, sent=m.sent, number=7) for m in STEPS)
    one, two = (Encoder("m").body(Request("s", (dict(TOOL),), ms), Dialect()) for ms in (STEPS, again))
    assert one == two


def test_half_characters_are_sent_as_question_marks():
    assert sent(Request("", (), (Message("user", "a\ud800b"),)))["messages"][0]["content"] == "a?b"


def test_only_what_is_new_is_encoded():
    encoder, dialect = Encoder("m"), Dialect()
    encoder.body(Request("s", (TOOL,), STEPS[:3]), dialect)
    before = encoder.remembered_bytes
    tools = (TOOL,)
    encoder.body(Request("s", tools, STEPS[:4]), dialect)
    encoder.body(Request("s", tools, STEPS[:4]), dialect)
    assert encoder.remembered_bytes - before == len(encoded(STEPS[3], dialect)) + len(dumped(tools))


def test_what_is_remembered_is_bounded():
    encoder = Encoder("m")
    big = tuple(Message("user", "x" * 1_000_000) for _ in range(20))
    assert len(encoder.body(Request("", (), big), Dialect())) > 20_000_000
    assert encoder.remembered_bytes <= 8 * 1024 * 1024


def test_extra_settings_travel_with_every_request():
    with OpenAIServer(text("hi")) as server:
        played(model_at(server.base_url, extra={"max_tokens": 64}))
    assert server.requests[0]["max_tokens"] == 64


def test_the_bytes_on_the_wire_are_the_bytes_that_were_built():
    with OpenAIServer(text("hi")) as server:
        played(model_at(server.base_url))
    assert server.bodies == [Encoder("scripted").body(HELLO, Dialect())]
    assert server.headers[0]["authorization"] == "Bearer sk-secret"


def test_one_connection_serves_the_steps_of_a_turn():
    with OpenAIServer(*[text("hi")] * 5) as server:
        model = model_at(server.base_url)
        for _ in range(5):
            played(model)
    assert server.connections == 1


def test_a_server_that_does_not_know_stream_options_is_asked_without_them():
    with OpenAIServer(status(400, "Unrecognized request argument: stream_options"), text("hi"), text("ho")) as server:
        model = model_at(server.base_url)
        assert text_of(played(model)) == "hi"
        assert text_of(played(model)) == "ho"
    assert ["stream_options" in request for request in server.requests] == [True, False, False]


def test_reasoning_is_sent_back_to_the_server_that_wants_it_and_to_no_other():
    wants = status(400, "The reasoning_content in the thinking mode must be passed back to the API.")
    request = Request("", (), (*STEPS[:3], Message("assistant", "", (Call("c2", "todo", "{}"),)), STEPS[2]))
    with OpenAIServer(wants, text("a"), text("b")) as needy, OpenAIServer(text("c")) as strict:
        model = model_at(needy.base_url)
        assert text_of(played(model, request)) == "a"
        assert text_of(played(model, request)) == "b"
        assert text_of(played(model_at(strict.base_url), request)) == "c"
    fields = [[m.get("reasoning_content") for m in r["messages"] if m["role"] == "assistant"] for r in needy.requests]
    assert fields == [[None, None], ["first a list", ""], ["first a list", ""]]
    assert b"reasoning" not in strict.bodies[0]


def test_a_server_that_refuses_both_ways_is_the_persons_matter():
    no = status(400, "reasoning_content is wrong")
    with OpenAIServer(no, no) as server, pytest.raises(PersonMustAct, match="reasoning_content is wrong"):
        played(model_at(server.base_url))
    server.finished()


def test_the_address_may_name_the_whole_path():
    with OpenAIServer(text("hi")) as server:
        assert text_of(played(model_at(server.base_url + "/chat/completions/"))) == "hi"


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host/v1", "https://", "http://a b/v1", "http://[::1/v1"])
def test_an_address_that_is_none_is_named(url):
    with pytest.raises(PersonMustAct, match=r"model\.base_url"):
        played(model_at(url))


def test_a_key_with_strange_characters_is_refused_before_it_is_sent():
    with OpenAIServer() as server, pytest.raises(PersonMustAct, match="copy it again"):
        played(model_at(server.base_url, key="sk-“quoted”"))
    assert server.bodies == []
