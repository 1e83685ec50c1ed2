"""Replies of every shape, through the real client from a real server."""

import json

import pytest

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Message, Request, Usage
from assistant.errors import PersonMustAct
from assistant.llm.faults import Passing
from tests.fakes.openai_server import (
    OpenAIServer,
    call,
    call_many,
    call_pieces,
    chunk,
    chunks,
    ended,
    plain,
    text,
    usage,
)
from tests.llm.scene import HELLO, calls_of, model_at, played, text_of, usage_of


def reply_to(step, request=HELLO):
    with OpenAIServer(step) as server:
        return played(model_at(server.base_url), request)


def test_text_streams_in_pieces_and_usage_comes_last():
    reply = reply_to(text("안녕하세요, 세계! 👋🏽 and hello"))
    assert text_of(reply) == "안녕하세요, 세계! 👋🏽 and hello"
    assert len(reply) > 4
    assert reply[-1].usage == Usage(10, 5, 0)


def test_cached_tokens_are_counted():
    assert usage_of(reply_to(chunks(chunk(content="a"), ended(), usage(100, 5, 90)))) == Usage(100, 5, 90)


def test_cached_tokens_are_counted_under_another_name():
    other = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": None, "prompt_cache_hit_tokens": 3}}
    assert usage_of(reply_to(chunks(chunk(content="a"), ended(), other))) == Usage(7, 0, 3)


def test_usage_told_with_every_piece_is_counted_once():
    pieces = [chunk(content="a") | {"usage": {"prompt_tokens": 9, "completion_tokens": n}} for n in (1, 2, 3)]
    assert usage_of(reply_to(chunks(*pieces, ended()))) == Usage(9, 3, 0)


def test_a_call_in_pieces_is_told_whole():
    [only] = calls_of(reply_to(call("write_file", path="가.txt", content='{"a": "b"}\n')))
    assert only.name == "write_file"
    assert json.loads(only.arguments) == {"path": "가.txt", "content": '{"a": "b"}\n'}
    assert not only.fault


def test_parallel_calls_keep_their_order_after_the_words():
    reply = reply_to(call_many(("a", {"x": 1}), ("b", {}), ("c", {"y": [1]}), words="I look."))
    assert text_of(reply) == "I look."
    assert [(c.name, c.arguments) for c in calls_of(reply)] == [("a", '{"x": 1}'), ("b", "{}"), ("c", '{"y": [1]}')]


def test_pieces_of_parallel_calls_may_come_mixed():
    first, second = call_pieces(0, "one", "a", '{"x": "long text"}'), call_pieces(1, "two", "b", '{"y": "other text"}')
    mixed = [piece for pair in zip(first, second, strict=False) for piece in pair]
    reply = reply_to(chunks(*mixed, *second[len(first) :], ended("tool_calls")))
    assert [c.arguments for c in calls_of(reply)] == ['{"x": "long text"}', '{"y": "other text"}']


@pytest.mark.parametrize("ids", [("a1", "a2"), ("", "")], ids=["other ids", "no ids"])
def test_two_calls_with_the_same_index_stay_two(ids):
    both = [piece for n, i in enumerate(ids) for piece in call_pieces(0, i, f"tool{n}", f'{{"n": {n}}}')]
    found = calls_of(reply_to(chunks(*both, ended("tool_calls"))))
    assert [(c.name, c.arguments) for c in found] == [("tool0", '{"n": 0}'), ("tool1", '{"n": 1}')]
    assert len({c.id for c in found}) == 2


def test_an_id_and_name_repeated_with_every_piece_are_one_call():
    pieces = [
        chunk(tool_calls=[{"index": 0, "id": "x", "function": {"name": "a", "arguments": part}}])
        for part in ('{"q":', ' "w"', "}")
    ]
    assert calls_of(reply_to(chunks(*pieces, ended("tool_calls")))) == [Call("x", "a", '{"q": "w"}')]


def test_calls_without_index_and_with_arguments_as_an_object_are_read():
    whole = [{"function": {"name": "a", "arguments": {"q": 1}}}, {"function": {"name": "b", "arguments": {}}}]
    found = calls_of(reply_to(chunks(chunk(tool_calls=whole), ended("tool_calls"))))
    assert [(c.name, c.arguments) for c in found] == [("a", '{"q": 1}'), ("b", "{}")]


def test_missing_and_repeated_ids_become_unique_in_the_session():
    earlier = Message("assistant", "", (Call("call_0", "a", "{}"),))
    again = [*call_pieces(0, "call_0", "a", "{}"), *call_pieces(1, "", "b", "{}"), *call_pieces(2, "fine", "c", "{}")]
    found = calls_of(reply_to(chunks(*again, ended("tool_calls")), Request("", (), (earlier,))))
    assert [c.id for c in found] == ["made-1", "made-2", "fine"]


@pytest.mark.parametrize("sent", ["[1]", '"text"', "{oops", '{"a": NaN}', "null", '{"a": 1} trailing'])
def test_arguments_that_are_no_object_become_a_fault_the_model_can_read(sent):
    [only] = calls_of(reply_to(chunks(*call_pieces(0, "x", "a", sent), ended("tool_calls"))))
    assert only.arguments == "{}"
    assert sent[:4] in only.fault
    assert "send the whole call again" in only.fault


def test_bare_line_ends_inside_arguments_are_mended():
    [only] = calls_of(reply_to(chunks(*call_pieces(0, "x", "a", '{"text": "one\ntwo"}'), ended("tool_calls"))))
    assert only == Call("x", "a", '{"text": "one\\ntwo"}')


def test_a_call_cut_at_the_output_limit_is_not_to_be_run():
    cut = call_pieces(0, "x", "write_file", '{"path": "a", "content": "abc')
    [only] = calls_of(reply_to(chunks(*cut, ended("length"))))
    assert only.arguments == "{}"
    assert "cut off at the output limit" in only.fault


def test_only_the_last_call_counts_as_cut():
    whole, cut = call_pieces(0, "x", "a", '{"n": 1}'), call_pieces(1, "y", "b", "")
    first, last = calls_of(reply_to(chunks(*whole, *cut, ended("length"))))
    assert (first.fault, first.arguments) == ("", '{"n": 1}')
    assert last.fault


def test_a_text_cut_at_the_output_limit_says_so():
    assert text_of(reply_to(text("half a sent", finish="length"))).endswith("cut at the model's output limit.]")


def test_a_missing_finish_reason_with_text_is_a_normal_end():
    assert text_of(reply_to(chunks(chunk(content="done")))) == "done"


def test_a_missing_finish_reason_inside_a_call_is_a_broken_stream():
    with pytest.raises(Passing, match="inside a tool call"):
        reply_to(chunks(*call_pieces(0, "x", "a", '{"n": ')))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_told_apart_from_the_answer(field):
    reply = reply_to(chunks(chunk(**{field: "first I "}), chunk(**{field: "think"}), chunk(content="42"), ended()))
    assert "".join(c.reasoning for c in reply) == "first I think"
    assert text_of(reply) == "42"


def test_content_in_parts_is_read():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]
    reply = reply_to(chunks(chunk(content=parts), ended()))
    assert (reply[0].reasoning, text_of(reply)) == ("hm", "yes")


def test_an_answer_that_does_not_stream_is_taken_as_it_is():
    made = [{"id": "x", "type": "function", "function": {"name": "a", "arguments": "{}"}}]
    message = {"role": "assistant", "content": "whole", "tool_calls": made}
    cost = {"prompt_tokens": 3, "completion_tokens": 1}
    whole = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": cost}
    reply = reply_to(plain(json.dumps(whole)))
    assert text_of(reply) == "whole"
    assert calls_of(reply) == [Call("x", "a", "{}")]
    assert usage_of(reply) == Usage(3, 1)


def test_other_line_separators_inside_a_text_do_not_break_it():
    assert text_of(reply_to(text("a\u2028b\x85c\u2029d"))) == "a\u2028b\x85c\u2029d"


def test_half_characters_never_reach_the_database():
    half = r'data: {"choices": [{"delta": {"content": "ok \ud83d"}}]}'
    reply = reply_to(plain(half + "\n\n", "text/event-stream"))
    assert text_of(reply).encode() == "ok \ufffd".encode()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (chunks(), "empty answer"),
        (chunks(ended(), usage()), "empty answer"),
        (chunks(chunk(content=None), ended()), "empty answer"),
        (chunks(chunk(content=""), ended("tool_calls")), "empty answer"),
        (chunks(chunk(content=" \n"), ended()), "empty answer"),
        (plain(""), "empty answer"),
        (plain('{"choices": []}'), "empty answer"),
        (plain("", "text/event-stream"), "empty answer"),
        (chunks(chunk(reasoning_content="hm"), ended()), "thought but gave no answer"),
        (chunks(chunk(content="<think>all of it</think>\n"), ended()), "thought but gave no answer"),
        (chunks(chunk(content="<think>never closed"), ended()), "thought but gave no answer"),
        (chunks(chunk(reasoning_content="hm"), ended("length")), "output limit on thinking"),
        (plain("[]"), "no reply"),
        (plain("{broken"), "cannot be read"),
        (plain("data: {broken\n\n", "text/event-stream"), "cannot be read"),
    ],
)
def test_an_answer_without_content_is_worth_another_attempt(step, said):
    with pytest.raises(Passing, match=said):
        reply_to(step)


def test_a_withheld_answer_is_the_persons_matter():
    with pytest.raises(PersonMustAct, match="content filter"):
        reply_to(chunks(ended("content_filter")))


def test_an_empty_answer_still_costs_what_it_costs():
    with OpenAIServer(chunks(ended(), usage(50, 0))) as server:
        stream = model_at(server.base_url).stream(HELLO, Interrupt())
        assert next(stream).usage == Usage(50, 0)
        with pytest.raises(Passing):
            next(stream)
