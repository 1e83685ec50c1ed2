"""The double keeps the rules of the port, and is strict about its script."""

from threading import Thread

import pytest

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Message, Request
from assistant.errors import TryLater
from tests.fakes.model import UNTIL_STOPPED, ScriptedModel, calls, calls_many, says, thinks, used

HELLO = Request("be brief", (), (Message("user", "hello"),))


def played(model, request=HELLO, interrupt=None):
    return list(model.stream(request, interrupt or Interrupt()))


@pytest.mark.parametrize("text", ["one", "two words", "  lead and trail \n\n", "가나 다라\n- x", " "])
def test_the_pieces_of_a_text_are_the_text(text):
    assert "".join(chunk.text for chunk in played(ScriptedModel(says(text)))) == text


def test_a_request_too_many_fails_and_stays_failed():
    model = ScriptedModel(says("hi"))
    played(model)
    model.finished()
    with pytest.raises(AssertionError, match="number 2"):
        played(model)
    with pytest.raises(AssertionError, match="1 requests came after"):
        model.finished()


def test_an_unsaid_reply_is_noticed():
    with pytest.raises(AssertionError, match="never asked for"):
        ScriptedModel(says("hi")).finished()


def test_calls_get_ids_that_the_session_does_not_have():
    earlier = Message("assistant", "", (Call("call-1", "todo", "{}"),))
    [one, two, cost] = played(
        ScriptedModel(calls_many(("a", {}), ("b", {"x": 1})) + used(3, 4)), Request("", (), (earlier,))
    )
    assert [one.call.id, two.call.id] == ["call-2", "call-3"]
    assert two.call.arguments == '{"x": 1}'
    assert cost.usage.output_tokens == 4


def test_a_reply_may_depend_on_the_request():
    model = ScriptedModel(lambda request: says(request.messages[-1].text.upper()))
    assert played(model)[0].text == "HELLO"
    assert model.requests == [HELLO]


def test_a_fault_comes_after_what_was_said():
    stream = ScriptedModel([*thinks("hm"), TryLater("busy")]).stream(HELLO, Interrupt())
    assert next(stream).reasoning == "hm"
    with pytest.raises(TryLater):
        next(stream)


def test_a_stop_ends_a_waiting_reply_quietly():
    interrupt = Interrupt()
    stream = ScriptedModel([*says("so"), UNTIL_STOPPED, *calls("todo")]).stream(HELLO, interrupt)
    assert next(stream).text == "so"
    Thread(target=interrupt.set).start()
    assert list(stream) == []
