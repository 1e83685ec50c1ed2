"""Libraries of any size, as a history with one commit would have left them."""

import os
import random
import subprocess
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from skills_store import sidecar
from skills_store.library import Library, StoreSettings
from skills_store.story import person_of
from skills_store.values import Actor

WORDS = [
    "release",
    "deploy",
    "invoice",
    "review",
    "garden",
    "recipe",
    "travel",
    "budget",
    "diagram",
    "schema",
    "kernel",
    "paper",
    "letter",
    "archive",
    "backup",
    "camera",
    "bicycle",
    "harbour",
    "lantern",
    "meadow",
    "orchard",
    "pepper",
    "quarry",
    "ribbon",
    "saddle",
    "timber",
    "velvet",
    "window",
    "yarrow",
    "zeppelin",
]
CATEGORIES = 25
OWNED = sidecar.made_by(Actor.REVIEW, "2026-01-05T09:00:00+00:00").write()


def name_of(number: int) -> str:
    """The name of the skill with a number."""
    words = random.Random(number).sample(WORDS, 2)
    return f"{words[0]}-{words[1]}-{number}"


def place_of(number: int) -> str:
    """Its folder below the root."""
    return f"{WORDS[number % CATEGORIES]}/{name_of(number)}"


def text_of(number: int) -> str:
    """Its SKILL.md: a dozen lines that no other skill has."""
    chance = random.Random(number)
    lines = "\n".join(f"{n}. {' '.join(chance.sample(WORDS, 6))} {number}" for n in range(1, 13))
    about = f"Use when the {' and the '.join(chance.sample(WORDS, 2))} of {number} is due"
    return f"---\nname: {name_of(number)}\ndescription: {about}\n---\n\n# Steps\n\n{lines}\n"


def built(root: Path, size: int) -> Path:
    """A folder of skills that a review made, committed by plain git."""
    for number in range(size):
        folder = root / place_of(number)
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text_of(number))
        (folder / ".provenance.json").write_bytes(OWNED)
    git = ["git", "-c", "user.name=review", "-c", "user.email=review@assistant.localhost", "-c", "gc.auto=0"]
    clean = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    author = f"--author={person_of('review')}"
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", author, "-m", "learn(all): begin"]):
        subprocess.run([*git, *words], cwd=root, env=clean, check=True)
    return root


def library(root: Path, **settings: object) -> Library:
    """The store over a folder, with the machine's clock."""
    numbers = count(os.getpid() * 1_000_000)
    return Library(root, lambda: datetime.now(UTC), lambda: f"chg_{next(numbers)}", StoreSettings(**settings))
