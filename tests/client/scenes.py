"""What the client's tests share: a page without colours, and a face that does everything at once."""

from datetime import UTC, datetime

from assistant.client.chat import Conversation
from assistant.client.face import Means, Place
from assistant.client.page import Page
from assistant.client.paint import Paint
from assistant.client.slash import Command
from assistant.core.events import ApprovalRequested, QuestionAsked
from assistant.core.ports import Told
from assistant.errors import AssistantError, NotFound
from tests.fakes.runs import ScriptedRuns

WHEN = datetime(2030, 1, 1, tzinfo=UTC)
RISKY = ApprovalRequested(
    "app_1", "call_1", "terminal", '{"command": "rm x"}', "it deletes", ("once", "session", "always", "deny")
)
QUESTION = QuestionAsked("q_1", "Which?", ("main", "다른 것"))


class Watch:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


def page(width=80, **options):
    return Page(Paint(lambda: width, colour=False), Watch(), **options)


class FakeFace:
    """Shows into a list, and does slow work at once."""

    def __init__(self):
        self.shown = []
        self.followed = {}
        self.given_back = []
        self.left = False

    def print(self, lines):
        self.shown += lines

    def refresh(self):
        pass

    def later(self, work, then, lane):
        try:
            given = work()
        except AssistantError as fault:
            given = fault
        then(given)

    def follow(self, run_id, tell):
        self.followed[run_id] = tell

    def give_back(self, text):
        self.given_back.append(text)

    def leave(self):
        self.left = True


def broken(argument):
    raise NotFound(f"no skill is called {argument!r}")


class Chat:
    """A chat whose runs say only what the test tells."""

    def __init__(self, runs=None, place=None, **means):
        self.runs = runs or ScriptedRuns(*([[]] * 5))
        self.place = place or Place()
        self.face = FakeFace()
        commands = {
            "skills": Command("skills", "what it has learned", lambda argument: f"**skills** {argument}".strip()),
            "broken": Command("broken", "fails", broken),
        }
        given = Means(self.runs, self.place, commands, lambda: ["run-tests"], **means)
        self.talk = Conversation(given, page(lead="/"), self.face)

    def tell(self, *events, run="run_1"):
        for number, event in enumerate(events, 1):
            self.face.followed[run](Told(number, WHEN, event))

    @property
    def shown(self):
        return "\n".join(self.face.shown)
