"""The chat in a real terminal.  A screen in `screens/` that is deleted is written anew (and the test fails once)."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.fakes.tmux import Tmux
from tests.fakes.waiting import until

HERE = Path(__file__).parent
SCREENS = HERE / "screens"
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Seat(Tmux):
    """A person in front of the scripted chat."""

    def __init__(self, folder: Path, *app: str) -> None:
        self.folder = folder
        keep_open = 'PYTHONPATH="$0" "$@" 2>&1; exec cat'
        super().__init__(["sh", "-c", keep_open, str(HERE.parents[1]), sys.executable, *app])

    def open(self, gate: str) -> None:
        (self.folder / gate).touch()

    def say(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def shows(self, name: str, *words: str) -> None:
        """The screen becomes the golden one; a new one is taken once the words are seen."""
        path = SCREENS / f"{name}.txt"
        if not path.exists():
            path.write_text(self.see(*words))
            pytest.fail(f"{path} is new; look at it")
        golden = path.read_text()
        until(lambda: self.screen() == golden, lambda: f"{name}: expected\n{golden}\nbut it shows\n{self.screen()}")


@pytest.fixture
def seat(tmp_path):
    seat = Seat(tmp_path, str(HERE / "chat_app.py"), str(tmp_path))
    seat.see("/help", "ask anything")
    yield seat
    seat.close()


@pytest.fixture
def asking(tmp_path):
    seats = []

    def ask(story):
        seats.append(Seat(tmp_path, str(HERE / "ask_app.py"), str(tmp_path), story))
        return seats[-1]

    yield ask
    seats[-1].close()


def test_an_answer_streams_as_markdown_and_wide_characters_keep_their_place(seat):
    seat.say("stream 안녕 👍")
    seat.shows("waiting", "thinking")
    seat.open("think")
    seat.shows("streaming", "가나다")
    seat.open("stream")
    seat.shows("answered", "That is all.", "ask anything")


def test_a_narrower_window_leaves_no_remains(seat):
    seat.say("stream")
    seat.open("think")
    seat.see("가나다")
    seat.type("이 문장은 아주 길어서 좁은 창에서는 여러 줄로 나뉘어야 합니다 👍 정말로")
    seat.see("정말로")
    seat.resize(40, 24)
    seat.shows("narrow", "writing")
    seat.resize(100, 24)
    seat.press("C-u")
    seat.open("stream")
    seat.shows("wide_again", "That is all.", "ask anything")


def test_tools_plan_steering_and_what_was_learned(seat):
    seat.say("tools")
    seat.shows("tools", "12 passed so far")
    seat.say("use 한국어 too 👍")
    seat.shows("steering", "next step")
    seat.open("tool")
    seat.see("/inbox show")
    seat.open("review")
    seat.shows("learned", "review: saved")


def test_an_approval_and_a_question_are_asked_in_place_and_a_draft_comes_back(seat):
    seat.say("approval")
    seat.shows("approval", "1 once")
    seat.say("maybe later")
    seat.see("please answer once")
    seat.say("2")
    seat.shows("question", "a number, or your own words")
    seat.say("2")
    seat.shows("decided", "Done.", "ask anything")


def test_ctrl_c_stops_the_turn_and_twice_leaves(seat):
    seat.say("endless")
    seat.see("I begin and go on")
    seat.press("C-c")
    seat.shows("stopped", "stopped; what was said is kept", "ask anything")
    seat.press("C-c")
    seat.see("Ctrl-C again leaves")
    seat.press("C-c")
    seat.shows("left", "left")


def test_words_for_the_next_turn_wait_for_it(seat):
    seat.say("stream")
    seat.say("/queue queued 다음")
    seat.see("next turn")
    seat.open("think")
    seat.open("stream")
    seat.see("❯ queued 다음", "Second answer.")


def test_pasted_lines_are_one_message_and_history_comes_back(seat):
    seat.paste("첫째 줄\nsecond line")
    seat.press("Enter")
    seat.see("You said: 첫째 줄", "ask anything")
    seat.press("Up")
    seat.shows("history", "second line\n\n❯ 첫째")


def test_commands_and_skills_are_completed(seat):
    seat.type("/s")
    seat.shows("menu", "/steer", "/skills")
    seat.press("C-u")
    seat.type("/dep")
    seat.press("Tab")
    seat.type(" the app")
    seat.press("Enter")
    seat.see("deploy-notes with skill_view")
    seat.say("/skils")
    seat.see("did you mean /skills?")
    seat.press("C-d")
    seat.see("left")


def test_one_answer_streams_and_its_end_stays(asking):
    seat = asking("stream")
    seat.open("think")
    seat.shows("ask_streaming", "writing", "가나다")
    seat.open("stream")
    seat.shows("ask_answered", "[completed 0]")


def test_one_wish_can_ask_back_in_place(asking):
    seat = asking("approval")
    seat.see("1 once")
    seat.say("1")
    seat.see("Which branch?")
    seat.say("2")
    seat.shows("ask_approval", "[completed 0]")


def test_ctrl_c_ends_one_wish_with_what_was_said(asking):
    seat = asking("endless")
    seat.see("I begin and go on")
    seat.press("C-c")
    seat.shows("ask_stopped", "[cancelled 130]")
