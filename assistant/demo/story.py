"""The demo: two conversations over a throwaway home, from a correction to a committed skill to its use."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from assistant.client.ask import Absent, Outcome, ask_attached, ask_once
from assistant.core.ports import Start, Started
from assistant.demo.model import ScriptedModel
from assistant.demo.stage import Stage, Theatre
from assistant.demo.words import FILES, FIRST, SECOND, SKILL, script
from assistant.errors import AssistantError, PersonMustAct
from assistant.home.first_start import find_git
from assistant.runtime.local import LocalRuns
from assistant.wiring.build import Assembly, Working
from assistant.wiring.world import World

OPENING = (
    "# A demo of learning\n\n"
    "**The model's words are scripted**, so that this needs no account. All else is real: the loop, the tools, the "
    "review, the guards, the database and git. It happens in a folder of its own and touches nothing of yours:"
)
FIRST_TITLE = "## The first conversation: somebody says how they want it"
REVIEW = (
    "## Looking back\n\n"
    "Those were ten steps, so a review fell due by itself. It is a run of its own with few rights: it may look at "
    "skills and memory and change them, nothing else. Each change must quote the conversation. The first one below "
    "rests on words that nobody said."
)
LEARNED = "## What was learned\n\nA file that you can read and edit, `{path}`:"
COMMIT = "And a commit that says who made it, in which run, and on which messages it rests. `git log -1 --stat`:"
QUOTES = "The words stay in the database, so that sharing a skill shares no conversation. `Evidence` stands for:"
SECOND_TITLE = (
    "## The second conversation: nobody says it again\n\n"
    "A new session knows nothing of the first one but the list of skills. The model loads what fits, and follows it."
)
MADE = "`docs/billing.md`:"
CLOSING = (
    "## All of it stays for looking\n\n"
    "A script stood in for the model; `assistant chat` is the same with one of yours. To look around, and to forget it:"
)
LOOK = """\
{program} --home {home} skills why {skill}
{program} --home {home} skills undo {commit}
{program} --home {home} reviews list
git -C {home}/skills log
rm -rf {root}"""


@dataclass(frozen=True, slots=True)
class Played:
    """What a demo left behind."""

    home: Path
    first: str
    """The session of the first conversation."""
    second: str
    review: str
    commit: str


class Cut(AssistantError):
    """The demo was stopped before its end."""

    exit_code = 130


def place(chosen: str = "") -> Path:
    """A new folder for a demo, or the one that the person chose, which must be empty."""
    if not chosen:
        return Path(tempfile.mkdtemp(prefix="assistant-demo-"))
    folder = Path(chosen).expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PersonMustAct(f"the demo needs a folder of its own, and {folder} is not empty: leave out --home")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def play(root: Path, world: World, theatre: Theatre) -> Played:
    """Tell the whole story below `root`."""
    work = root / "shop"
    work.mkdir()
    for name, text in FILES.items():
        (work / name).write_text(text, encoding="utf-8")
    stage = Stage(theatre)
    stage.tell(OPENING)
    stage.exactly(str(root))
    model = ScriptedModel(script(), theatre.pace)
    own = replace(world, folder=work, models=lambda name: model)
    with Working(Assembly(own, root / "home"), only_own=True) as working:
        return Demo(root, working, stage).play()


class Demo:
    """One telling."""

    def __init__(self, root: Path, working: Working, stage: Stage) -> None:
        self._root = root
        self._stage = stage
        self._runs: LocalRuns = working.runs
        self._assembly = working.assembly

    def play(self) -> Played:
        """Both conversations, and what lies between them."""
        stage, home = self._stage, self._assembly.home.root
        stage.tell(FIRST_TITLE)
        session, review = self._first()
        stage.tell(REVIEW)
        whole(ask_attached(self._runs, Started(review, session), stage.screen(), Absent()), self._root)
        commit = self._learned(review)
        stage.tell(SECOND_TITLE)
        second = self._turn(SECOND, "").session_id
        stage.tell(MADE)
        stage.exactly((self._root / "shop/docs/billing.md").read_text(encoding="utf-8"))
        stage.tell(CLOSING)
        places = {"home": quote(str(home)), "root": quote(str(self._root)), "program": stage.program}
        stage.exactly(LOOK.format(**places, skill=SKILL, commit=commit[:10]))
        return Played(home, session, second, review, commit)

    def _first(self) -> tuple[str, str]:
        """The first conversation; its session, and the review that its last turn made due."""
        session, review = "", None
        for text in FIRST:
            outcome = self._turn(text, session)
            session, review = outcome.session_id, outcome.review
        assert review, "ten steps make a review due"
        return session, review["run_id"]

    def _turn(self, text: str, session: str) -> Outcome:
        self._stage.said(text)
        return whole(ask_once(self._runs, Start(text, session), self._stage.screen(), Absent()), self._root)

    def _learned(self, review: str) -> str:
        """Show the skill, its commit and its evidence; the commit."""
        assembly, stage = self._assembly, self._stage
        [commit] = assembly.library.log(SKILL)
        path = assembly.library.view(SKILL).path
        stage.tell(LEARNED.format(path=f"skills/{path}"))
        stage.exactly((assembly.home.skills / path).read_text(encoding="utf-8"))
        stage.tell(COMMIT)
        stage.exactly(last_commit(assembly.home.skills, assembly.environ))
        stage.tell(QUOTES)
        quotes = assembly.parts.ledger.quotes(review, commit.evidence)
        stage.exactly("\n".join(f"{one['message']}  “{one['quote']}”" for one in quotes))
        return commit.commit


def whole(outcome: Outcome, root: Path) -> Outcome:
    """The outcome of a run that came to its end; else the demo ends here."""
    if outcome.status != "completed":
        raise Cut(outcome.error or f"stopped; what there is so far is in {root}")
    return outcome


def last_commit(repository: Path, environ: Mapping[str, str]) -> str:
    """What git itself says of the newest commit, whatever the person's settings are."""
    plain = dict(environ) | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    words = [str(find_git(environ)), "--no-pager", "log", "-1", "--stat=80", "--no-decorate", "--color=never"]
    done = subprocess.run(words, cwd=repository, env=plain, capture_output=True, text=True, check=True)
    return done.stdout
