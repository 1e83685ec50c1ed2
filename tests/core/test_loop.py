"""The loop alone: a scripted model, tools that are a table, no database."""

from collections.abc import Generator

from assistant.core.events import Event, ReplyEnded, ReplyRestarted, TextArrived, ToolEnded
from assistant.core.interrupt import Interrupt
from assistant.core.loop import STOPPED_EARLY, run_turn
from assistant.core.messages import Call, Chunk, Message
from assistant.core.ports import Ports
from assistant.core.turn import Stop, Turn
from skills_store.values import Origin
from tests.fakes.model import UNTIL_STOPPED, ScriptedModel, calls, calls_many, restarts, says


class TableTools:
    """Answers each tool by name from a table."""

    def __init__(self, interrupt: Interrupt, **answers: str | Message) -> None:
        self.interrupt = interrupt
        self.answers = answers
        self.asked: list[str] = []

    def answer(self, turn: Turn, calls: tuple[Call, ...]) -> Generator[Event, None, tuple[Message, ...]]:
        results = []
        for call in calls:
            self.asked.append(call.name)
            said = self.answers[call.name]
            text, origin = (said.text, said.origin) if isinstance(said, Message) else (said, Origin.TRUSTED)
            result = Message("tool", text, answers=call.id, name=call.name, origin=origin)
            yield ToolEnded(result, 0.0, "")
            results.append(result)
        return tuple(results)


HELLO = (Message("user", "hi"),)


def run(model, *, max_steps=5, interrupt=None, arrivals=None, messages=HELLO, **answers):
    interrupt = interrupt or Interrupt()
    tools = TableTools(interrupt, **answers)

    def nothing(turn):
        return turn
        yield

    ports = Ports(model, tools, interrupt, arrivals or nothing)
    events = []
    steps = run_turn(Turn("system", (), tuple(messages), max_steps), ports)
    while True:
        try:
            events.append(next(steps))
        except StopIteration as end:
            turn, why = end.value
            return turn, why, events, tools


def test_a_plain_answer_ends_the_turn_after_one_request():
    model = ScriptedModel(says("Good morning to you."))

    turn, why, events, _ = run(model)

    assert why is Stop.ANSWERED
    assert turn.messages[-1].text == "Good morning to you."
    assert [e.text for e in events if isinstance(e, TextArrived)] == ["Good", " morning", " to", " you."]
    assert isinstance(events[-1], ReplyEnded)
    model.finished()


def test_calls_are_answered_in_their_order_and_the_next_request_begins_with_the_whole_of_the_last():
    model = ScriptedModel(calls_many(("a", {}), ("b", {"x": 1})), says("done"))

    turn, _, _, tools = run(model, a="first", b="second")

    assert tools.asked == ["a", "b"]
    assert [m.text for m in turn.messages[2:4]] == ["first", "second"]
    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert (second.system, second.tools) == (first.system, first.tools)


def test_the_turn_ends_when_its_steps_are_spent_and_the_last_calls_still_get_results():
    model = ScriptedModel(calls("a"), calls("a"))

    turn, why, _, _ = run(model, max_steps=2, a="again")

    assert why is Stop.OUT_OF_STEPS
    assert turn.messages[-1].role == "tool"
    assert turn.unanswered() == ()


def test_a_stop_while_the_model_speaks_keeps_what_was_said():
    interrupt = Interrupt()
    model = ScriptedModel([Chunk(text="I was about"), interrupt.set, UNTIL_STOPPED])

    turn, why, _, _ = run(model, interrupt=interrupt)

    assert why is Stop.INTERRUPTED
    assert turn.messages[-1].text == "I was about"
    assert turn.messages[-1].sent is None


def test_a_stop_before_the_first_word_leaves_no_empty_message_for_the_provider():
    interrupt = Interrupt()
    model = ScriptedModel([interrupt.set, UNTIL_STOPPED])

    turn, _, _, _ = run(model, interrupt=interrupt)

    assert turn.messages[-1].text == ""
    assert turn.messages[-1].wire_text == STOPPED_EARLY


def test_a_call_that_arrived_before_the_stop_is_dropped_with_the_rest_of_the_reply():
    interrupt = Interrupt()
    model = ScriptedModel([*calls("a"), interrupt.set])

    turn, why, _, tools = run(model, interrupt=interrupt, a="never")

    assert (why, tools.asked) == (Stop.INTERRUPTED, [])
    assert turn.unanswered() == ()


def test_when_the_model_is_asked_again_its_first_words_count_for_nothing():
    model = ScriptedModel(says("Half an ans") + restarts("broken") + says("The whole answer."))

    turn, _, events, _ = run(model)

    assert turn.messages[-1].text == "The whole answer."
    assert ReplyRestarted("broken") in events


def test_a_turn_whose_process_died_before_the_results_acts_first_and_only_on_what_is_missing():
    said = Message("assistant", "", (Call("1", "a", "{}"), Call("2", "b", "{}")))
    history = (Message("user", "hi"), said, Message("tool", "one", answers="1"))
    model = ScriptedModel(says("done"))

    turn, _, _, tools = run(model, messages=history, b="two")

    assert tools.asked == ["b"]
    assert [m.text for m in turn.messages[2:4]] == ["one", "two"]


def test_a_reply_is_as_untrusted_as_the_worst_result_before_it():
    web = Message("tool", "buy now", origin=Origin.UNTRUSTED)
    model = ScriptedModel(calls("a"), calls("web"), calls("a"), says("done"))

    turn, _, _, _ = run(model, a="fine", web=web)

    replies = [m.origin for m in turn.messages if m.role == "assistant"]
    assert replies == [Origin.OWN, Origin.OWN, Origin.UNTRUSTED, Origin.UNTRUSTED]


def test_what_arrives_between_steps_is_in_the_next_request():
    steered = iter([None, "use tea instead"])

    def arrivals(turn):
        if words := next(steered, None):
            turn = turn.adding(Message("user", words))
        return turn
        yield

    model = ScriptedModel(calls("a"), says("tea it is"))

    run(model, arrivals=arrivals, a="coffee")

    assert model.requests[1].messages[-1].text == "use tea instead"
