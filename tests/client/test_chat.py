import pytest

from assistant.client.face import Place
from assistant.client.input import Lost
from assistant.core.events import (
    ApprovalResolved,
    LearningStaged,
    MemoryChanged,
    QuestionAnswered,
    ReplyEnded,
    ReviewQueued,
    RunCancelled,
    RunCompleted,
    SkillChanged,
    Steered,
)
from assistant.core.messages import Message
from assistant.core.ports import Start
from assistant.errors import TryLater
from tests.client.scenes import QUESTION, RISKY, Chat

DONE = RunCompleted("ok", {})


def test_a_line_begins_a_turn_and_the_next_goes_to_the_same_session():
    chat = Chat()
    chat.talk.typed("안녕")
    chat.tell(ReplyEnded(Message("assistant", "Hello.")), DONE)
    chat.talk.typed("again")
    assert chat.runs.wishes == [Start("안녕"), Start("again", session_id="session_1")]
    assert chat.shown == "❯ 안녕\n\nHello.\n\n❯ again"


def test_words_typed_while_it_works_steer_and_are_shown_when_they_arrive():
    chat = Chat()
    chat.talk.typed("begin")
    chat.talk.typed("use the other one")
    assert chat.runs.steers == [("use the other one", "steer")]
    assert [(w.text, w.when) for w in chat.talk.waiting] == [("use the other one", "next step")]
    chat.tell(Steered("use the other one"))
    assert chat.talk.waiting == []
    assert chat.shown.endswith("❯ use the other one")


def test_queued_words_wait_and_their_turn_is_followed_after_this_one():
    chat = Chat()
    chat.talk.typed("begin")
    chat.talk.typed("/queue then this")
    assert [w.when for w in chat.talk.waiting] == ["next turn"]
    chat.tell(DONE)
    assert chat.shown.endswith("❯ then this")
    chat.tell(ReplyEnded(Message("assistant", "Second.")), DONE, run="run_2")
    assert chat.shown.endswith("Second.")
    assert not chat.talk.page.busy


def test_words_that_came_too_late_for_a_turn_are_found_in_the_one_they_became():
    chat = Chat(unfinished=lambda session_id: "run_7")
    chat.talk.typed("begin")
    chat.talk.typed("too late")
    chat.tell(DONE)
    assert chat.shown.endswith("❯ too late")
    assert chat.place.run_id == "run_7"


def test_words_that_no_turn_took_in_come_back_to_the_input():
    chat = Chat()
    chat.talk.typed("begin")
    chat.talk.typed("too late")
    chat.tell(DONE)
    assert chat.face.given_back == ["too late"]


def test_words_that_could_not_be_sent_come_back_with_the_reason():
    class Away(type(Chat().runs)):
        def start(self, wish):
            raise TryLater("the server does not answer")

    chat = Chat(runs=Away())
    chat.talk.typed("hello")
    assert chat.face.given_back == ["hello"]
    assert chat.shown.endswith("✗ the server does not answer")
    assert not chat.talk.page.busy


@pytest.mark.parametrize(
    ("said", "decided"),
    [
        ("1", ("app_1", "once", "")),
        ("session", ("app_1", "session", "")),
        ("A", ("app_1", "always", "")),
        ("deny not on Friday", ("app_1", "deny", "not on Friday")),
        ("/approve", ("app_1", "once", "")),
        ("/approve always", ("app_1", "always", "")),
        ("/deny", ("app_1", "deny", "")),
        ("/deny 위험해요", ("app_1", "deny", "위험해요")),
    ],
)
def test_an_approval_is_decided_where_it_is_asked(said, decided):
    chat = Chat()
    chat.talk.typed("begin")
    chat.runs.runs["run_1"].open.add("app_1")
    chat.tell(RISKY)
    chat.talk.typed(said)
    assert chat.runs.decisions == [decided]
    assert chat.talk.asked is None


@pytest.mark.parametrize("said", ["sure", "5", "once more", "once please"])
def test_what_is_no_clear_answer_decides_nothing(said):
    chat = Chat()
    chat.talk.typed("begin")
    chat.tell(RISKY)
    chat.talk.typed(said)
    assert chat.runs.decisions == []
    assert "please answer once, session, always or deny" in chat.shown
    assert chat.runs.steers == []


def test_a_prompt_goes_away_when_it_is_answered_elsewhere():
    chat = Chat()
    chat.talk.typed("begin")
    chat.tell(RISKY)
    assert chat.talk.prompt() == "1 once  2 this session  3 always  4 deny (why …)"
    chat.tell(ApprovalResolved("app_1", "call_1", "deny", "web", "no"), QUESTION)
    assert chat.talk.asked == QUESTION
    chat.tell(QuestionAnswered("q_1", "main"))
    assert chat.talk.prompt() == ""


@pytest.mark.parametrize(("said", "answer"), [("2", "다른 것"), ("neither", "neither"), ("3", "3")])
def test_a_question_takes_a_number_or_own_words(said, answer):
    chat = Chat()
    chat.talk.typed("begin")
    chat.runs.runs["run_1"].open.add("q_1")
    chat.tell(QUESTION)
    chat.talk.typed(said)
    assert chat.runs.answers == [("q_1", answer)]


def test_ctrl_c_stops_first_and_leaves_second():
    chat = Chat()
    chat.talk.typed("begin")
    chat.talk.interrupt(typing=False)
    assert (chat.runs.stops, chat.face.left) == (["run_1"], False)
    chat.talk.interrupt(typing=False)
    assert chat.face.left


def test_ctrl_c_with_nothing_running_empties_the_line_then_warns_then_leaves():
    chat = Chat()
    assert chat.talk.interrupt(typing=True)
    assert not chat.talk.interrupt(typing=False)
    assert chat.talk.prompt() == "Ctrl-C again leaves"
    chat.talk.calm()
    assert chat.talk.prompt() == ""
    chat.talk.interrupt(typing=False)
    chat.talk.interrupt(typing=False)
    assert chat.face.left


def test_a_stopped_turn_keeps_what_was_said():
    chat = Chat()
    chat.talk.typed("begin")
    chat.tell(ReplyEnded(Message("assistant", "Half.")), RunCancelled())
    assert chat.shown.endswith("Half.\n\n· stopped; what was said is kept")


def test_a_lost_connection_is_said_and_the_input_is_free_again():
    chat = Chat()
    chat.talk.typed("begin")
    chat.face.followed["run_1"](Lost("the server went away"))
    assert chat.shown.endswith("✗ the server went away")
    chat.talk.typed("again")
    assert len(chat.runs.wishes) == 2


def test_a_running_turn_is_attached_to_from_its_first_event():
    chat = Chat(place=Place("session_9", run_id="run_9"))
    chat.talk.begin()
    chat.tell(ReplyEnded(Message("assistant", "From elsewhere.")), DONE, run="run_9")
    assert chat.shown == "From elsewhere."


def test_a_skill_is_loaded_before_the_words_are_followed():
    chat = Chat()
    chat.talk.typed("/run-tests quickly")
    assert chat.runs.wishes[0].input == ("First load the skill `run-tests` with skill_view, then follow it.\n\nquickly")
    assert chat.shown == "❯ /run-tests quickly"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("/skills all", "skills all"),
        ("/broken x", "✗ no skill is called 'x'"),
        ("/skils", "✗ there is no /skils; did you mean /skills?"),
        ("/qqq", "✗ there is no /qqq; /help lists what there is"),
        ("/approve", "✗ nothing waits for an answer here; /inbox lists what waits elsewhere"),
        ("/stop", "· nothing is running"),
        ("/new", "· a new conversation begins with your next message"),
    ],
)
def test_commands_answer_without_a_turn(typed, shown):
    chat = Chat()
    chat.talk.typed(typed)
    assert chat.shown.endswith(shown)
    assert chat.runs.wishes == []


def test_a_message_may_begin_with_a_path():
    chat = Chat()
    chat.talk.typed("/etc/hosts looks wrong")
    assert chat.runs.wishes == [Start("/etc/hosts looks wrong")]


def test_new_forgets_the_session_but_not_while_a_turn_runs():
    chat = Chat()
    chat.talk.typed("begin")
    chat.talk.typed("/new")
    assert chat.place.session_id == "session_1"
    chat.tell(DONE)
    chat.talk.typed("/new")
    assert chat.place.session_id == ""


def test_help_names_every_command():
    chat = Chat()
    chat.talk.typed("/help")
    assert all(f"/{name}" in chat.shown for name in ["help", "steer", "queue", "skills", "<skill>", "quit"])


def test_a_review_gets_one_line_when_it_saved_or_staged_something():
    chat = Chat()
    chat.talk.typed("begin")
    chat.tell(ReviewQueued("run_r", "both"), DONE)
    chat.tell(
        SkillChanged("run-tests", "patch", "c"),
        MemoryChanged("MEMORY.md", "add", "d"),
        LearningStaged("p", "deploy", "create"),
        DONE,
        run="run_r",
    )
    assert chat.face.shown[-1] == "✎ review: saved run-tests, MEMORY.md; deploy waits for you  /inbox"


@pytest.mark.parametrize(("notify", "event"), [(True, DONE), (False, SkillChanged("a", "patch", "c"))])
def test_a_review_is_silent_when_it_found_nothing_or_is_not_wanted(notify, event):
    chat = Chat(notify=notify)
    chat.talk.typed("begin")
    chat.tell(ReviewQueued("run_r", "both"), DONE)
    for told in [event, DONE] if notify else []:
        chat.tell(told, run="run_r")
    assert chat.shown == "❯ begin"
    assert ("run_r" in chat.face.followed) is notify
