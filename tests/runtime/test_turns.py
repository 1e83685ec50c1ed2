"""Turns over time: what is told and stored, steering, approvals, questions, stops and restarts."""

import json
import threading

import pytest

from assistant.core.events import ApprovalRequested, QuestionAsked, ToolStarted, TurnQueued
from assistant.core.messages import Call, Message
from assistant.core.ports import Start
from assistant.errors import Conflict, NotFound, PersonMustAct
from assistant.runtime.recovery import recover
from assistant.store.runs import HELD
from assistant.tools.processes import is_alive
from skills_store.values import Origin
from tests.fakes.model import UNTIL_STOPPED, calls, calls_many, says, used
from tests.fakes.world import World


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.close()
    world.model.finished()


def rebuilt(world, request):
    """The request as the database alone would make it."""
    stored = world.parts.sessions.messages(world.session)[: len(request.messages)]
    return [(m.role, m.wire_text, m.calls, m.answers) for m in stored]


def test_events_tell_a_turn_with_one_call_in_the_order_that_the_docstring_draws(world):
    world.script(calls("todo"), says("done"))

    turn = world.ask("go")

    assert turn.types == [
        "run.started",
        "message.completed",
        "tool.started",
        "tool.completed",
        "message.delta",
        "message.completed",
        "run.completed",
    ]
    seqs = [row["seq"] for row in world.parts.runs.told_rows(turn.run_id)]
    assert seqs == list(range(1, len(seqs) + 1))


def test_every_request_can_be_built_from_the_database_alone(world):
    (world.work / "a.txt").write_text("hello")
    world.script(
        calls_many(("read_file", {"path": "a.txt"}), ("search_files", {"pattern": "hello"})),
        calls("todo", todos=[{"id": "1", "content": "a", "status": "pending"}]),
        says("done"),
        calls("no_such_tool"),
        says("sorry"),
    )
    world.ask("go")
    world.again()
    world.ask("and now?")

    for request in world.model.requests:
        assert rebuilt(world, request) == [(m.role, m.wire_text, m.calls, m.answers) for m in request.messages]
    for earlier, later in zip(world.model.requests, world.model.requests[1:], strict=False):
        assert (later.system, later.tools) == (earlier.system, earlier.tools)
        before = [(m.role, m.wire_text) for m in earlier.messages]
        assert [(m.role, m.wire_text) for m in later.messages][: len(before)] == before


def test_the_person_reads_their_words_and_the_model_gets_the_time_as_well(world):
    world.script(says("hi"))
    world.ask("hello")

    message = world.messages()[0]

    assert message.text == "hello"
    assert "It is now Monday 5 January 2026" in message.wire_text
    assert world.parts.sessions.search("January") == []


def test_an_unknown_tool_is_answered_with_the_nearest_name(world):
    world.script(calls("read_fil", path="a"), says("ok"))

    [result] = world.ask("go").results()

    assert result.failed
    assert "did you mean read_file?" in result.text


def test_bad_arguments_are_answered_with_what_is_wrong(world):
    world.script(calls("read_file", path="a", limit="many", colour="red"), says("ok"))

    [result] = world.ask("go").results()

    assert "limit" in result.text
    assert "no parameter 'colour'" in result.text


def test_every_call_of_a_reply_gets_exactly_one_result_in_call_order(world):
    for name in ("a", "b", "c"):
        (world.work / name).write_text(name * 3)
    wanted = [("read_file", {"path": n}) for n in ("c", "missing", "a", "b")]
    world.script(calls_many(*wanted, ("todo", {}), ("read_file", {"path": "a"})), says("ok"))

    turn = world.ask("go")

    called = world.messages()[1].calls
    assert [r.answers for r in turn.results()] == [call.id for call in called]
    assert [m.answers for m in world.messages()[2:8]] == [call.id for call in called]


def test_a_long_result_is_bounded_and_the_whole_is_in_the_file_it_names(world):
    world.script(calls("terminal", command="seq 1 60000"), says("ok"))

    [result] = world.ask("go").results()

    assert len(result.text) <= 100_000


def test_words_typed_while_a_tool_runs_enter_before_the_next_step(world):
    gate = threading.Event()
    world.script([*says("Let me see"), *calls("todo"), gate], says("tea"))

    def steer(event, run_id):
        if event.type == "message.delta" and not gate.is_set():
            assert world.runs.steer(run_id, "use tea").mode == "steer"
            gate.set()

    turn = world.ask("coffee?", meanwhile=steer)

    assert "run.steered" in turn.types
    assert world.messages()[-2].text == "use tea"
    assert "use tea" in world.model.requests[-1].messages[-1].wire_text


def test_words_that_came_too_late_become_the_next_turn(world):
    gate = threading.Event()
    world.script([*says("coffee"), gate], says("tea it is"))

    def steer(event, run_id):
        if event.type == "message.delta":
            world.runs.steer(run_id, "use tea")
            gate.set()

    turn = world.ask("coffee?", meanwhile=steer)
    [queued] = [e for e in turn.events if isinstance(e, TurnQueued)]

    assert world.follow(queued.run_id).answer == "tea it is"
    assert [m.text for m in world.messages()] == ["coffee?", "coffee", "use tea", "tea it is"]


def test_queued_words_wait_for_the_turn_to_end(world):
    gate = threading.Event()
    world.script([*says("one"), gate], says("two"))
    first = world.start("first")
    accepted = world.runs.steer(first, "second", "queue")
    gate.set()

    assert accepted.mode == "queue"
    assert world.follow(accepted.run_id).answer == "two"
    assert [m.text for m in world.messages()] == ["first", "one", "second", "two"]


def test_words_for_a_run_that_is_over_become_a_turn_of_their_own(world):
    world.script(says("one"), says("two"))
    first = world.ask("first")

    accepted = world.runs.steer(first.run_id, "second")

    assert accepted.mode == "queue"
    assert world.follow(accepted.run_id).answer == "two"


def test_three_messages_at_once_are_answered_one_after_another_in_order(world):
    world.script(says("0"))
    world.ask("begin")
    world.script(says("1"), says("2"), says("3"))

    runs = [world.start(f"message {n}") for n in (1, 2, 3)]
    answers = [world.follow(run).answer for run in runs]

    assert answers == ["1", "2", "3"]
    assert [m.text for m in world.messages() if m.role == "assistant"] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("decision", ["once", "session", "always"])
def test_a_risky_command_runs_when_the_person_allows_it(world, decision):
    mark = world.work / "build"
    mark.mkdir()
    world.script(calls("terminal", command="rm -rf ./build"), says("gone"))

    def allow(event, run_id):
        if isinstance(event, ApprovalRequested):
            world.runs.decide(run_id, decision, event.approval_id)

    turn = world.ask("clean up", meanwhile=allow)

    assert not mark.exists()
    assert turn.types.index("approval.resolved") < turn.types.index("tool.started")
    mark.mkdir()
    world.script(calls("terminal", command="rm -rf ./build"), says("gone"))
    again = world.ask("clean up", meanwhile=allow)
    assert ("approval.requested" in again.types) == (decision == "once")


def test_a_refusal_reaches_the_model_with_the_persons_words_and_nothing_runs(world):
    mark = world.work / "build"
    mark.mkdir()
    world.script(calls("terminal", command="rm -rf ./build"), says("kept"))

    def deny(event, run_id):
        if isinstance(event, ApprovalRequested):
            world.runs.decide(run_id, "deny", feedback="I still need it")

    [result] = world.ask("clean up", meanwhile=deny).results()

    assert mark.exists()
    assert "I still need it" in result.text


def test_an_approval_is_answered_once_and_by_its_id(world):
    world.script(calls("terminal", command="rm -rf ./x"), says("kept"))
    faults = []

    def twice(event, run_id):
        if isinstance(event, ApprovalRequested):
            with pytest.raises(NotFound):
                world.runs.decide(run_id, "once", "apr_nowhere")
            world.runs.decide(run_id, "deny", event.approval_id)
            with pytest.raises(Conflict, match="deny by you") as fault:
                world.runs.decide(run_id, "once", event.approval_id)
            faults.append(fault)

    world.ask("clean up", meanwhile=twice)

    assert faults


def test_nobody_answering_is_an_expiry_and_not_a_refusal_by_the_person(world):
    world.script(calls("terminal", command="rm -rf ./x"), says("kept"))

    def wait_a_day(event, run_id):
        if isinstance(event, ApprovalRequested):
            world.clock.advance(hours=25)

    turn = world.ask("clean up", meanwhile=wait_a_day)

    assert "nobody answered in time" in turn.results()[0].text
    row = world.parts.database.one("SELECT * FROM approvals")
    assert (row["decision"], row["decided_by"]) == ("expired", "timeout")


def test_a_question_waits_for_the_persons_answer(world):
    world.script(calls("clarify", question="Which colour?", choices=["red", "blue"]), says("blue it is"))

    def answer(event, run_id):
        if isinstance(event, QuestionAsked):
            assert world.parts.runs.row(run_id)["status"] == "waiting_for_answer"
            world.runs.answer(run_id, "blue")

    turn = world.ask("paint it", meanwhile=answer)

    assert "blue" in turn.results()[0].text
    assert world.parts.runs.row(turn.run_id)["status"] == "completed"


def test_a_stop_ends_a_command_with_its_children(world):
    world.script(calls("terminal", command="sleep 300 & sleep 300; echo late"))

    def stop(event, run_id):
        if isinstance(event, ToolStarted):
            world.runs.stop(run_id)

    turn = world.ask("wait", meanwhile=stop)

    assert turn.types[-1] == "run.cancelled"
    assert turn.results()[0].failed
    world.script(says("yes"))
    assert world.ask("still there?").answer == "yes"


def test_a_stop_while_the_model_speaks_keeps_what_was_said(world):
    world.script([*says("I was going to"), UNTIL_STOPPED])

    def stop(event, run_id):
        if event.type == "message.delta":
            world.runs.stop(run_id)

    world.ask("go on", meanwhile=stop)

    assert world.messages()[-1].text.startswith("I was")


def test_a_queued_run_can_be_stopped_before_it_begins(world):
    gate = threading.Event()
    world.script([*says("one"), gate])
    first = world.start("first")
    second = world.start("second")

    world.runs.stop(second)
    gate.set()

    assert world.follow(second).types == ["run.cancelled"]
    assert world.follow(first).answer == "one"


def test_a_fault_of_the_provider_ends_the_turn_with_its_sentence_and_a_history_that_goes_on(world):
    world.script(PersonMustAct("the key is wrong: set another"), says("hello again"))

    turn = world.ask("hello")

    assert turn.types[-1] == "run.failed"
    assert turn.events[-1].error == "the key is wrong: set another"
    assert world.ask("and now?").answer == "hello again"
    assert [m.role for m in world.model.requests[-1].messages] == ["user", "assistant", "user"]


def test_a_defect_is_reported_by_name_and_traced_in_the_log(world):
    world.script(RuntimeError("boom"))

    turn = world.ask("hello")

    assert "fault_" in turn.events[-1].error
    assert "RuntimeError: boom" in (world.home / "logs" / "assistant.log").read_text()


def test_the_same_key_gives_the_same_run_and_another_body_a_conflict(world):
    world.script(says("once"))
    wish = Start("hello", idempotency_key="k1")

    first = world.runs.start(wish)
    second = world.runs.start(wish)

    assert (second.run_id, second.replayed) == (first.run_id, True)
    with pytest.raises(Conflict, match="k1"):
        world.runs.start(Start("other", idempotency_key="k1"))
    world.follow(first.run_id)


def test_an_empty_message_and_an_unknown_session_are_told_so(world):
    with pytest.raises(PersonMustAct, match="empty"):
        world.runs.start(Start("  "))
    with pytest.raises(NotFound, match="ses_nowhere"):
        world.runs.start(Start("hi", "ses_nowhere"))


class Died:
    """A run as a killed process leaves it: rows up to some point, and an executor that nobody holds."""

    def __init__(self, world, *messages):
        self.world = world
        parts = world.parts
        with parts.database.writing() as tx:
            self.session = parts.sessions.create(tx, "m", workdir=str(world.work))
            self.run = parts.runs.queue(tx, Start("go"), "turn", self.session)
            parts.runs.set(tx, self.run, status="running", executor="exe_dead", started=parts.database.now())
            for message in messages:
                parts.sessions.add(tx, self.session, self.run, message)
            parts.runs.append(tx, self.run, started())
        world.session = self.session

    def resume(self):
        taken = recover(self.world.parts, self.world.working.executor, reserve=True)
        assert taken == [self.run]
        return self.world.follow(self.run)


def started():
    from assistant.core.events import RunStarted

    return RunStarted("turn", "m")


PERSON = Message("user", "go", origin=Origin.YOU)


def called(name, **arguments):
    return Message("assistant", "", (Call("c1", name, json.dumps(arguments)),))


def test_a_run_that_died_before_the_reply_asks_the_model_again(world):
    died = Died(world, PERSON)
    world.script(says("back again"))

    turn = died.resume()

    assert turn.types[:2] == ["run.started", "run.resumed"]
    assert turn.answer == "back again"
    assert [m.text for m in world.messages()] == ["go", "back again"]


def test_a_call_that_only_reads_runs_again(world):
    (world.work / "a").write_text("hello")
    died = Died(world, PERSON, called("read_file", path="a"))
    world.script(says("read"))

    assert "hello" in died.resume().results()[0].text


def test_a_call_with_an_intent_and_no_result_is_never_repeated(world):
    died = Died(world, PERSON, called("terminal", command="echo x > twice"))
    with world.parts.database.writing() as tx:
        world.parts.ledger.intend(tx, died.run, "c1", "terminal")
    world.script(says("I will check"))

    turn = died.resume()

    assert "may or may not have happened" in turn.results()[0].text
    assert not (world.work / "twice").exists()


def test_a_call_without_an_intent_runs(world):
    died = Died(world, PERSON, called("terminal", command="echo x > once"))
    world.script(says("done"))

    died.resume()

    assert (world.work / "once").exists()


def test_deltas_of_a_reply_that_never_became_whole_are_void(world):
    from assistant.core.events import TextArrived

    died = Died(world, PERSON)
    with world.parts.database.writing() as tx:
        world.parts.runs.append(tx, died.run, TextArrived("half an"))
    world.script(says("a whole answer"))

    assert "message.restarted" in died.resume().types


def test_after_an_hour_the_person_is_asked_first(world):
    died = Died(world, PERSON)
    world.clock.advance(hours=2)
    world.script(says("going on"))
    recover(world.parts, world.working.executor, reserve=True)

    def go_on(event, run_id):
        if isinstance(event, QuestionAsked):
            world.runs.answer(run_id, "go on")

    assert world.follow(died.run, go_on).answer == "going on"


def test_an_old_run_that_the_person_gives_up_ends_in_order(world):
    died = Died(world, PERSON)
    world.clock.advance(hours=2)
    recover(world.parts, world.working.executor, reserve=True)

    def end(event, run_id):
        if isinstance(event, QuestionAsked):
            world.runs.answer(run_id, "end it here")

    assert world.follow(died.run, end).types[-1] == "run.cancelled"


def test_a_run_that_brings_the_program_down_again_and_again_is_given_up(world):
    died = Died(world, PERSON)
    with world.parts.database.writing() as tx:
        world.parts.runs.set(tx, died.run, resumed=10)

    assert recover(world.parts, world.working.executor, reserve=True) == []
    assert world.parts.runs.row(died.run)["status"] == "failed"


def test_a_living_executors_run_is_nobodys_orphan(world):
    gate = threading.Event()
    world.script([*says("one"), gate])
    run = world.start("first")
    world.runs.events(run).__next__()

    assert recover(world.parts, world.working.executor, reserve=True) == []
    assert world.parts.runs.row(run)["status"] in HELD
    gate.set()
    world.follow(run)


def test_a_background_command_is_looked_after_and_its_end_is_told_with_the_next_message(world):
    world.script(
        calls("terminal", command="read line; echo got $line; touch done", background=True),
        calls("process", action="list"),
        calls("process", action="write", id="bg1", data="hello\n"),
        calls("process", action="wait", id="bg1"),
        says("It is done."),
        calls("process", action="log", id="bg1"),
        says("It said so."),
    )

    def allow(event, run_id):
        if isinstance(event, ApprovalRequested):
            world.runs.decide(run_id, "once", event.approval_id)

    first = world.ask("wait for a line", meanwhile=allow)
    second = world.ask("what did it say?")

    assert "running: read line" in first.results()[1].text
    assert "got hello" in first.results()[2].text + first.results()[3].text
    assert (world.work / "done").exists()
    asked = next(m for m in world.messages() if m.text == "what did it say?")
    assert "The background command bg1 has ended with exit code 0: read line" in asked.wire_text
    assert "got hello" in second.results()[0].text


def test_a_background_command_ends_with_the_program(world):
    world.script(calls("terminal", command="sleep 7201", background=True), says("It runs."))
    world.ask("sleep")
    [job] = world.parts.background.all(world.session)
    assert world.parts.ledger.gone_on()

    world.again()

    assert not is_alive(job.shell.group)
    assert not world.parts.ledger.gone_on()


def test_what_a_dead_process_left_in_the_background_is_ended(world):
    world.script(calls("terminal", command="sleep 7202", background=True), says("It runs."))
    turn = world.ask("sleep")
    [job] = world.parts.background.all(world.session)
    with world.parts.database.writing() as tx:
        world.parts.runs.set(tx, turn.run_id, executor="dead")

    recover(world.parts, world.working.executor, reserve=True)

    job.end()
    assert job.ended.code == -9
    assert not world.parts.ledger.gone_on()


def test_a_call_that_has_just_failed_twice_is_not_run_a_third_time(world):
    (world.work / "a.txt").write_text("one")
    empty = calls("patch", path="a.txt", old_string=" ", new_string="two")
    world.script(empty, empty, empty, calls("read_file", path="a.txt"), empty, says("I cannot."))

    results = world.ask("patch it").results()

    assert "copy the exact text" in results[0].text
    assert "has just failed twice" in results[2].text
    assert "copy the exact text" in results[4].text
    assert (world.work / "a.txt").read_text() == "one"


def test_a_review_spends_its_steps_and_no_more_is_paid_for_apart_and_leaves_the_session_what_it_has(world):
    world.configure("review: {max_steps: 3}\nskills: {creation_nudge_interval: 1}\n")
    view = calls("skill_view", name="writing-a-skill")
    world.script(
        calls("terminal", command="sleep 7203", background=True) + used(100, 10),
        says("It runs.") + used(120, 5),
        *[view + used(200, 7)] * 3,
    )
    turn = world.ask("sleep")

    world.follow(turn.review())

    spent = world.parts.database.all(
        "SELECT kind, count(*) n, sum(input_tokens) i FROM usage GROUP BY kind ORDER BY kind"
    )
    assert [(row["kind"], row["n"], row["i"]) for row in spent] == [("review", 3, 600), ("turn", 2, 220)]
    [job] = world.parts.background.all(world.session)
    assert job.state() == "running"


def test_instructions_that_come_with_a_later_turn_reach_the_model_and_leave_the_prompt_alone(world):
    world.script(says("hi"), says("ja"))
    world.ask("hello")
    run = world.runs.start(Start("und jetzt?", world.session, instructions="Answer in German.")).run_id
    world.follow(run)

    first, second = world.model.requests
    assert second.system == first.system
    assert "Instructions for this turn: Answer in German." in second.messages[-1].wire_text
    assert world.messages()[-2].text == "und jetzt?"


def test_messages_keep_their_order_when_the_clock_is_set_back_between_them(world):
    gate = threading.Event()
    world.script([*says("0"), gate], says("1"), says("2"))
    begun = world.start("begin")
    first = world.start("first")
    world.clock.advance(hours=-12)
    second = world.start("second")
    gate.set()

    assert [world.follow(run).answer for run in (begun, first, second)] == ["0", "1", "2"]
    assert [m.text for m in world.messages()] == ["begin", "0", "first", "1", "second", "2"]


def test_a_clock_that_jumps_to_and_fro_loses_no_event_and_no_answer(world):
    world.script(calls("terminal", command="rm -rf ./x"), calls("todo"), says("done"))
    jumps = iter((-12, 20, -40, 5) * 10)

    def jump(event, run_id):
        world.clock.advance(hours=next(jumps) if not isinstance(event, ApprovalRequested) else -12)
        if isinstance(event, ApprovalRequested):
            world.runs.decide(run_id, "once", event.approval_id)

    turn = world.ask("clean up", meanwhile=jump)

    assert (turn.answer, turn.types[-1]) == ("done", "run.completed")
    seqs = [row["seq"] for row in world.parts.runs.told_rows(turn.run_id)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert [r.failed for r in turn.results()] == [False, False]
