"""The conversation behind the chat: what typed lines and heard events lead to.  Knows no toolkit and no terminal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from assistant.client.asking import Asked, chosen, misunderstood, number_of, question_prompt, request_prompt, understand
from assistant.client.face import Face, Means
from assistant.client.input import Lost
from assistant.client.notes import Learned, Note
from assistant.client.page import STOPS, Page
from assistant.client.slash import OWN, help_text, parse, unknown, with_skill
from assistant.client.text import one_line
from assistant.core.events import (
    LAST,
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
    ReviewQueued,
    Steered,
)
from assistant.core.ports import Accepted, Mode, Start, Started, Told
from assistant.errors import AssistantError

STOPPING = "stopping, Ctrl-C leaves"
T = TypeVar("T")


@dataclass(slots=True)
class Waiting:
    """Words that were sent and have not been taken up yet."""

    text: str
    run_id: str = ""
    """The run they begin; empty for words into the running turn."""

    @property
    def when(self) -> str:
        """When they will be heard."""
        return "next turn" if self.run_id else "next step"


class Conversation:
    """One chat: a page, a place, and at most one run that is followed."""

    def __init__(self, means: Means, page: Page, face: Face) -> None:
        self.page = page
        self.waiting: list[Waiting] = []
        self._means = means
        self._runs = means.runs
        self._place = means.place
        self._face = face
        self._asked: list[Asked] = []
        self._running = False
        self._stopping = False
        self._leaving = False
        self._own: Mapping[str, Callable[[str], None]] = {
            "help": lambda argument: self.tell(help_text(means.commands)),
            "new": self._new,
            "steer": lambda argument: self._say(argument, argument),
            "queue": self._queue,
            "stop": lambda argument: self._stop(),
            "approve": lambda argument: self._answer(argument or "once"),
            "deny": lambda argument: self._answer(f"deny {argument}"),
            "quit": lambda argument: face.leave(),
        }

    @property
    def asked(self) -> Asked | None:
        """What the run waits for, if it waits for the person."""
        return self._asked[0] if self._asked else None

    def prompt(self) -> str:
        """One quiet line above the input: what may be answered, or that leaving needs one more key."""
        match self.asked:
            case ApprovalRequested() as request:
                return request_prompt(request)
            case QuestionAsked() as question:
                return question_prompt(question)
            case _:
                return "Ctrl-C again leaves" if self._leaving else ""

    def begin(self) -> None:
        """Take up a run that is already under way."""
        if self._place.run_id:
            self._follow(self._place.run_id)
        elif self._place.session_id:
            self._look_for_more()

    # typed

    def typed(self, text: str) -> None:
        """The person sent a line."""
        self._leaving = False
        text = text.strip()
        command = parse(text)
        if command:
            self._command(text, *command)
        elif text and self.asked:
            self._answer(text)
        else:
            self._say(text, text)

    def interrupt(self, *, typing: bool) -> bool:
        """Ctrl-C: stop the turn, or ask for one more; True when the line being typed should be emptied."""
        if self._stopping or (self._leaving and not self._running and not typing):
            self._face.leave()
        elif self._running:
            self._stop()
        elif typing:
            return True
        else:
            self._leaving = True
            self._face.refresh()
        return False

    def calm(self) -> None:
        """The person typed on: one Ctrl-C is forgotten."""
        self._leaving = False

    def tell(self, markdown: str, group: str = "told") -> None:
        """Show words of our own."""
        self._face.print(self.page.say(self.page.paint.markdown(markdown), group))

    def note(self, note: Note) -> None:
        """Show one line of our own."""
        self._face.print(self.page.say(self.page.note(note)))

    def _quiet(self, words: str) -> None:
        self.note(Note("quiet", "·", words))

    def _fault(self, fault: AssistantError | str) -> None:
        self.note(Note("bad", "✗", one_line(str(fault))))

    def _said(self, text: str) -> None:
        self._face.print(self.page.said(text))

    def _command(self, text: str, name: str, argument: str) -> None:
        if name in self._own:
            self._own[name](argument)
        elif name in self._means.commands:
            self._said(text)
            run = self._means.commands[name].run
            self._do("commands", lambda: run(argument), lambda answer: self.tell(answer) if answer.strip() else None)
        elif name in self._means.skill_names():
            self._say(text, with_skill(name, argument))
        else:
            self._fault(unknown(name, [*OWN, *self._means.commands, *self._means.skill_names()]))

    def _new(self, argument: str) -> None:
        if self._running:
            self._fault("a turn is running; /stop ends it, then /new")
            return
        self._place.session_id = ""
        self._quiet("a new conversation begins with your next message")

    def _answer(self, text: str) -> None:
        asked, run_id = self.asked, self._place.run_id
        if isinstance(asked, QuestionAsked):
            words = chosen(asked, text)
            self._do("runs", lambda: self._runs.answer(run_id, words, asked.question_id))
        elif asked is None:
            self._fault("nothing waits for an answer here; /inbox lists what waits elsewhere")
            return
        elif verdict := understand(asked, text):
            decision, why = verdict.decision, verdict.feedback
            self._do("runs", lambda: self._runs.decide(run_id, decision, asked.approval_id, why))
        else:
            self._quiet(misunderstood(asked))
            return
        self._settled(number_of(asked))
        self._face.refresh()

    def _do(
        self,
        lane: str,
        work: Callable[[], T],
        then: Callable[[T], None] = lambda given: None,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """Do slow work elsewhere; a fault is shown."""

        def done(given: T | AssistantError) -> None:
            if isinstance(given, AssistantError):
                failed()
                self._fault(given)
            else:
                then(given)

        self._face.later(work, done, lane)

    # runs

    def _say(self, shown: str, text: str) -> None:
        if not text:
            return
        if self._running:
            self._send(text)
            return
        self._said(shown)
        self._work()
        self._do("runs", lambda: self._start_now(text), self._begun, lambda: self._end(shown))

    def _work(self) -> None:
        self._running = True
        self.page.begin()
        self.page.hint = STOPS
        self._face.refresh()

    def _start_now(self, text: str) -> Started:
        started = self._runs.start(Start(text, session_id=self._place.session_id, model=self._place.model))
        self._place.session_id, self._place.run_id = started.session_id, started.run_id
        return started

    def _begun(self, given: Started) -> None:
        if self._stopping:
            self._stop()
        self._face.follow(given.run_id, lambda arrival: self.heard(given.run_id, arrival))

    def _send(self, text: str, mode: Mode = "steer") -> None:
        sent = Waiting(text)
        self.waiting.append(sent)
        self._face.refresh()
        self._do(
            "runs",
            lambda: self._runs.steer(self._place.run_id, text, mode),
            lambda given: self._accepted(sent, given),
            lambda: self._forget(sent, give_back=True),
        )

    def _accepted(self, sent: Waiting, given: Accepted) -> None:
        if given.mode == "queue":
            sent.run_id = given.run_id
        if not self._running:
            self._next()

    def _queue(self, text: str) -> None:
        if text and self._running:
            self._send(text, "queue")
        else:
            self._say(text, text)

    def _stop(self) -> None:
        if not self._running:
            self._quiet("nothing is running")
            return
        self._stopping = True
        self.page.hint = STOPPING
        run_id = self._place.run_id
        if run_id:
            self._do("stop", lambda: self._runs.stop(run_id))
        self._face.refresh()

    def _follow(self, run_id: str) -> None:
        self._place.run_id = run_id
        self._work()
        self._face.follow(run_id, lambda arrival: self.heard(run_id, arrival))

    def heard(self, run_id: str, arrival: Told | Lost) -> None:
        """One event of a run that is followed."""
        if run_id != self._place.run_id or not self._running:
            return
        if isinstance(arrival, Lost):
            self._end()
            self._fault(arrival.why)
            return
        self._learn(arrival.event)
        self._face.print(self.page.take(arrival.event))
        if isinstance(arrival.event, LAST):
            self._end()
            self._next()

    def _learn(self, event: Event) -> None:
        match event:
            case ApprovalRequested() | QuestionAsked():
                self._asked.append(event)
            case ApprovalResolved() | QuestionAnswered():
                self._settled(number_of(event))
            case Steered(text):
                self._taken(text)
            case ReviewQueued(run_id) if self._means.notify:
                learned = Learned(self.note)
                self._face.follow(run_id, learned.hear)
            case _:
                pass

    def _settled(self, asked: str) -> None:
        self._asked = [other for other in self._asked if number_of(other) != asked]

    def _taken(self, text: str) -> None:
        for sent in [w for w in self.waiting if not w.run_id and w.text == text][:1]:
            self._forget(sent)

    def _forget(self, sent: Waiting, *, give_back: bool = False) -> None:
        self.waiting = [w for w in self.waiting if w is not sent]
        self._face.refresh()
        if give_back:
            self._face.give_back(sent.text)

    def _next(self) -> None:
        """The turn is over: go on with the one that waits, if one does."""
        queued = next((w for w in self.waiting if w.run_id), None)
        if queued:
            self._forget(queued)
            self._said(queued.text)
            self._follow(queued.run_id)
        elif self.waiting:
            self._look_for_more()

    def _look_for_more(self) -> None:
        session_id = self._place.session_id
        self._face.later(lambda: self._means.unfinished(session_id), self._found, "runs")

    def _found(self, run_id: str | AssistantError) -> None:
        """A run of this session that somebody began, perhaps with words that came too late for the last turn."""
        if self._running:
            return
        late = [w for w in self.waiting if not w.run_id]
        for sent in late:
            self._forget(sent)
        if isinstance(run_id, str) and run_id:
            for sent in late:
                self._said(sent.text)
            self._follow(run_id)
        elif late:
            self._quiet("the turn ended before it took in your words; send them again")
            self._face.give_back("\n".join(sent.text for sent in late))

    def _end(self, give_back: str = "") -> None:
        self._running = self._stopping = False
        self._asked.clear()
        self._place.run_id = ""
        self.page.end()
        self._face.refresh()
        if give_back:
            self._face.give_back(give_back)
