"""What goes wrong at a provider: who is told, what, and whether another attempt is made."""

import socket
import ssl
from datetime import timedelta
from email.utils import format_datetime

import pytest

from assistant.core.interrupt import Interrupt
from assistant.errors import PersonMustAct, TryLater
from assistant.llm.faults import Passing, QuotaSpent, Refusal, TooLong, Unreachable, Where, explain, stated_wait
from assistant.llm.provider import unreachable
from assistant.llm.retry import Fallback, Retrying, backoff
from tests.fakes.model import ScriptedModel, says
from tests.fakes.openai_server import OpenAIServer, chunk, chunks, ended, plain, status, text
from tests.llm.scene import HELLO, NOON, model_at, played, retrying_at, text_of

HERE = Where("m", "http://host/v1")


def outcome(*steps):
    """The reply after retries, and how long was waited between them."""
    waits = []
    with OpenAIServer(*steps) as server:
        reply = played(retrying_at(server.base_url, waits))
        server.finished()
    return reply, waits


def fault_of(*steps):
    """What finally was raised, and how long was waited before."""
    waits = []
    with OpenAIServer(*steps) as server:
        with pytest.raises((TryLater, PersonMustAct)) as caught:
            played(retrying_at(server.base_url, waits))
        server.finished()
    return caught.value, waits


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": format_datetime(NOON + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "soon"}, 1.0),
        ({}, 1.0),
    ],
)
def test_a_throttled_request_waits_as_long_as_it_was_asked_to(headers, wait):
    reply, waits = outcome(status(429, "provider returned error", headers), text("hi"))
    assert text_of(reply) == "hi"
    assert waits == [wait]
    assert "busy" in reply[0].restarted


def test_a_wait_in_words_counts():
    assert outcome(status(429, "Rate limit reached (TPM). Please try again in 7.66s."), text("hi"))[1] == [7.66]


@pytest.mark.parametrize(
    ("words", "wait"),
    [
        ("try again in 1h2m3s", 3723.0),
        ("Please retry in 36.5s.", 36.5),
        ("try again in 20ms", 0.02),
        ("try again in 7m12s", 432.0),
        ("try again later", None),
        ("", None),
    ],
)
def test_waits_in_words(words, wait):
    assert stated_wait(words) == wait


@pytest.mark.parametrize(
    "step",
    [
        status(429, "Your weekly quota resets on 2026-12-07."),
        status(429, "You exceeded your current quota, check your plan.", code="insufficient_quota"),
        status(429, "slow down", {"Retry-After": "3601"}),
        status(429, "5-hour limit reached"),
    ],
)
def test_a_used_up_quota_ends_at_once(step):
    fault, waits = fault_of(step)
    assert isinstance(fault, QuotaSpent)
    assert waits == []
    assert "429" in str(fault)


def test_the_reset_time_is_told():
    assert "resets on 2026-12-07" in str(fault_of(status(429, "Your weekly quota resets on 2026-12-07."))[0])


@pytest.mark.parametrize("code", [500, 502, 503, 529, 408])
def test_a_server_fault_is_outlived(code):
    reply, waits = outcome(status(code), status(code), text("hi"))
    assert text_of(reply) == "hi"
    assert waits == [1.0, 2.0]
    assert [bool(chunk.restarted) for chunk in reply[:2]] == [True, True]


def test_a_server_fault_that_stays_ends_with_what_to_do():
    fault, waits = fault_of(*[plain("<html>Bad gateway</html>", "text/html", 502)] * 5)
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert type(fault) is TryLater
    assert "502: (a web page) (asked 5 times)" in str(fault)


def test_a_broken_stream_is_asked_again_and_the_first_words_are_void():
    reply, waits = outcome(text("half an answer that never", cut=4), text("whole"))
    assert [c.text for c in reply[:2]] == ["half", " an "]
    assert "broke off" in next(c.restarted for c in reply if c.restarted)
    assert text_of(reply) == "whole"
    assert waits == [1.0]


def test_a_connection_given_up_between_two_requests_is_made_anew_without_a_word():
    with OpenAIServer(text("one"), {"hang_up": True}, text("two")) as server:
        model = model_at(server.base_url)
        assert [text_of(played(model)) for _ in range(2)] == ["one", "two"]
        assert server.connections == 2


def test_a_new_connection_that_is_cut_without_an_answer_is_a_fault():
    with OpenAIServer({"hang_up": True}) as server, pytest.raises(Passing, match="broke off"):
        played(model_at(server.base_url))


def test_a_stalled_stream_counts_as_broken():
    with OpenAIServer(text("half an answer", stall=3), text("whole")) as server:
        reply = played(retrying_at(server.base_url, patience=0.2))
    assert text_of(reply) == "whole"
    assert any("silent for too long" in c.restarted for c in reply)


def test_a_fault_told_inside_the_stream_is_told():
    broken = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
    reply, _ = outcome(chunks(chunk(content="so"), broken), text("whole"))
    assert text_of(reply) == "whole"
    assert "Overloaded" in reply[1].restarted


def test_a_throttle_told_inside_the_stream_keeps_its_status():
    broken = {"error": {"message": "Your daily quota is used up", "code": 429}}
    assert isinstance(fault_of(chunks(broken))[0], QuotaSpent)


def test_empty_answers_are_asked_again_three_times_in_all():
    assert text_of(outcome(chunks(ended()), chunks(ended()), text("hi"))[0]) == "hi"
    fault, waits = fault_of(*[chunks(ended())] * 3)
    assert "empty answer. (asked 3 times)" in str(fault)
    assert waits == [1.0, 2.0]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (status(401, "Incorrect API key provided: sk-secret"), "API key was not accepted"),
        (status(402, "pay"), "add credit"),
        (status(403, "no"), "may not use scripted"),
        (status(404, "The model does not exist"), "'scripted' or the address http://127"),
        (plain("<!doctype html><p>Not Found", "text/html", 404), "(a web page)"),
        (plain("<html>hello</html>", "text/html; charset=utf-8"), "answers with a web page"),
        (status(400, "invalid tool call arguments"), "invalid tool call arguments"),
        (status(400, "model does not support tools"), "does not support tools"),
        (status(400, "max_tokens may not exceed the output cap 16384"), "output cap 16384"),
        (status(400, "expected a value <= 32768, got 65536"), "got 65536"),
        (plain("plain words", "text/plain", 422), "plain words"),
    ],
)
def test_what_only_a_person_can_mend_is_told_at_once(step, said):
    fault, waits = fault_of(step)
    assert isinstance(fault, PersonMustAct)
    assert not isinstance(fault, TooLong)
    assert said in str(fault)
    assert "sk-secret" not in str(fault)
    assert waits == []


@pytest.mark.parametrize(
    "step",
    [
        status(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
        status(400, "the request exceeds the available context size"),
        status(413, "too large"),
        status(400, "prompt is too long: 210000 tokens"),
    ],
)
def test_an_overflow_is_known_as_one(step):
    assert isinstance(fault_of(step)[0], TooLong)


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens may not exceed the output cap 16384",
        "expected a value <= 32768, got 65536",
        "invalid tool call arguments",
    ],
)
def test_what_is_no_overflow_is_not_taken_for_one(words):
    assert type(explain(Refusal(400, words), HERE)) is PersonMustAct


def test_the_deeper_words_of_a_go_between_are_told():
    step = status(400, "Provider returned error", metadata={"raw": "temperature must be 1"})
    assert "temperature must be 1" in str(fault_of(step)[0])


def test_nothing_listening_is_tried_briefly_and_then_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        waits = []
        with pytest.raises(Unreachable, match="Nothing listens at http://127"):
            played(retrying_at(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", waits))
    assert waits == [1.0, 2.0]


def test_a_server_without_tls_is_told():
    with OpenAIServer(text("hi")) as server, pytest.raises(Unreachable, match="does it want http://"):
        played(retrying_at(server.base_url.replace("http:", "https:")))


@pytest.mark.parametrize(
    ("cause", "kind", "said"),
    [
        (ssl.SSLCertVerificationError("self-signed certificate"), Unreachable, "self-signed"),
        (socket.gaierror("Name or service not known"), Passing, "was not found"),
        (ConnectionResetError("reset by peer"), Passing, "reset by peer"),
        (TimeoutError(), Passing, "silent"),
    ],
)
def test_the_cause_is_found_below_what_wraps_it(cause, kind, said):
    wrapped = RuntimeError("Connection error.")
    wrapped.__cause__ = OSError()
    wrapped.__cause__.__context__ = cause
    fault = unreachable(wrapped, HERE)
    assert type(fault) is kind
    assert said in str(fault)


def test_a_wait_is_never_longer_than_ten_minutes():
    waits = []
    model = ScriptedModel(Passing("busy", wait=9999.0), says("hi"))
    played(Retrying(model, lambda _interrupt, seconds: waits.append(seconds)))
    assert waits == [600.0]


def test_pauses_grow_to_a_minute_and_differ_by_chance():
    assert [backoff(n, 0.0) for n in (1, 2, 3, 7, 30)] == [1.0, 2.0, 4.0, 60.0, 60.0]
    assert backoff(1, 1.0) == 1.5


def test_a_stop_while_waiting_ends_the_reply_without_another_attempt():
    interrupt = Interrupt()
    with OpenAIServer(status(429, "busy", {"Retry-After": "500"})) as server:
        stream = Retrying(model_at(server.base_url)).stream(HELLO, interrupt)
        assert "busy" in next(stream).restarted
        interrupt.set()
        assert list(stream) == []
    assert len(server.bodies) == 1


def test_the_second_model_takes_over_for_the_rest_of_the_turn():
    first = ScriptedModel([*says("par"), TryLater("away")], name="first")
    second = ScriptedModel(says("one"), says("two"), name="second")
    second.window = 2000
    model = Fallback(first, second)
    assert model.name == "first"
    reply = played(model)
    assert next(c.restarted for c in reply if c.restarted) == "away Going on with second."
    assert text_of(reply) == "one"
    assert (model.name, model.window) == ("second", 2000)
    assert text_of(played(model)) == "two"
    assert len(first.requests) == 1


def test_when_the_second_fails_too_its_fault_is_told():
    model = Fallback(ScriptedModel(TryLater("a")), ScriptedModel(TryLater("b"), TryLater("c")))
    for said in "bc":
        with pytest.raises(TryLater, match=said):
            played(model)


@pytest.mark.parametrize("fault", [PersonMustAct("wrong key"), TooLong("too long")])
def test_a_fault_of_the_settings_does_not_change_the_model(fault):
    model = Fallback(ScriptedModel(fault), ScriptedModel())
    with pytest.raises(PersonMustAct):
        played(model)


def test_a_refusal_without_words_is_still_a_sentence():
    assert str(explain(Refusal(400, ""), HERE)).endswith("http://host/v1 said 400")
