"""Every event can be written as the contract's JSON and read back."""

import json

import pytest

from assistant.core.events import KINDS, LAST, ReplyEnded, Steered, ToolEnded, data_of, event_of
from assistant.core.messages import Call, Message

SAMPLES = {
    "run.started": {"kind": "turn", "model": "m"},
    "message.delta": {"text": "a"},
    "reasoning.delta": {"text": "a"},
    "message.restarted": {"reason": "broken"},
    "tool.started": {"call_id": "1", "tool": "terminal", "arguments": "{}", "preview": "ls"},
    "tool.output": {"call_id": "1", "text": "a"},
    "approval.requested": {
        "approval_id": "a",
        "call_id": "1",
        "tool": "terminal",
        "arguments": "{}",
        "why": "risky",
        "choices": ["once", "deny"],
        "rule": "",
    },
    "approval.resolved": {"approval_id": "a", "call_id": "1", "decision": "once", "by": "you", "feedback": ""},
    "question.asked": {"question_id": "q", "text": "Which?", "choices": ["a"], "call_id": "1"},
    "question.answered": {"question_id": "q", "answer": "a"},
    "todo.changed": {"todos": [{"id": "1", "content": "a", "status": "pending"}]},
    "turn.queued": {"run_id": "r", "text": "a"},
    "context.compacted": {"before": 2, "after": 1},
    "skill.changed": {"name": "a", "action": "create", "commit": "c"},
    "memory.changed": {"name": "user", "action": "add", "commit": "c"},
    "learning.staged": {"id": "1", "name": "a", "action": "create"},
    "review.queued": {"run_id": "r", "kind": "both"},
    "run.resumed": {"attempt": 1},
    "run.completed": {"output": "a", "usage": {"input_tokens": 1}},
    "run.failed": {"error": "a", "code": "fault"},
    "run.cancelled": {},
}


@pytest.mark.parametrize("kind", [k for k in KINDS if k in SAMPLES])
def test_an_event_survives_the_way_over_the_wire(kind):
    event = event_of(kind, SAMPLES[kind])

    assert json.loads(json.dumps(data_of(event), default=list)) == SAMPLES[kind]


def test_every_kind_has_a_sample_or_a_test_of_its_own():
    assert KINDS.keys() - SAMPLES.keys() == {ReplyEnded.type, ToolEnded.type, Steered.type}


def test_a_reply_keeps_its_number_text_and_calls():
    reply = ReplyEnded(Message("assistant", "hm", (Call("1", "a", "{}"),), number=7))

    assert event_of(reply.type, data_of(reply)) == reply


def test_a_result_keeps_whether_it_failed():
    ended = ToolEnded(Message("tool", "no", answers="1", name="a", failed=True, number=3), 0.5, "a")

    assert event_of(ended.type, data_of(ended)) == ended


def test_a_kind_of_a_newer_version_is_passed_over():
    assert event_of("future.kind", {"x": 1}) is None


def test_a_field_of_a_newer_version_is_passed_over():
    assert event_of("message.delta", {"text": "a", "mood": "fine"}) is not None


def test_the_last_events_are_known_kinds():
    assert {kind.type for kind in LAST} <= KINDS.keys()
