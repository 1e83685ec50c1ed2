"""One rendering a golden file: which prompt, with what in its holes."""

from pathlib import Path
from typing import Any

import prompts

GOLDEN = Path(__file__).parent / "golden"

SOUL = (
    "You are a personal assistant. You are calm, exact and kind; you say what you know and what you do not, and you "
    "would rather finish one thing well than begin three."
)
TOOLS = ("terminal", "read_file", "memory", "skills_list", "skill_view", "skill_manage")
INDEX = (
    "general:\n  - using-this-assistant: Use when asked what this assistant can do\n"
    "  - writing-a-skill: Use when a skill is to be written or improved\n"
    "work:\n  - release-notes: Use when a change is to be told to users"
)
FRESH: dict[str, Any] = {
    "soul": SOUL,
    "tools": TOOLS,
    "memory": (),
    "user": (),
    "skills": INDEX,
    "folder": "/home/ada/project",
    "platform": "linux",
    "date": "2026-03-01",
    "instructions": "",
}
BARE = FRESH | {"soul": "", "tools": ("terminal",), "skills": ""}
FULL = FRESH | {
    "memory": ("The project builds with `make`.", "Two lines:\nthe second one."),
    "user": ("Ada; writes German, wants short answers.",),
    "instructions": "Work only in the folder docs.",
}

SCENES: dict[str, tuple[str, dict[str, Any]]] = {
    "system-fresh": ("system", FRESH),
    "system-bare": ("system", BARE),
    "system-full": ("system", FULL),
    "system-small": ("system_small", {"date": "2026-03-01"}),
    "note": (
        "note",
        {
            "now": "Monday, 2 March 2026, 09:00 (Europe/Berlin)",
            "skills": ("- release-notes: Use when a change is to be told to users",),
            "ended": ("The command `make test` (process 3) ended with exit code 0.",),
        },
    ),
    "note-date": ("note", {"now": "Monday, 2 March 2026, 09:00 (UTC)", "skills": (), "ended": ()}),
    "digest": ("digest", {"lines": ("person: draw the architecture", "assistant [write_file]: Here it is")}),
    "compact": ("compact", {"focus": ""}),
    "compact-focus": ("compact", {"focus": "the names of the servers"}),
    "summary": ("summary", {"summary": "## What the person wants\nA diagram (done).", "plan": ""}),
    "summary-plan": (
        "summary",
        {"summary": "## What was done\nA diagram.", "plan": "- [>] 2. Colour it\n- [ ] 3. Send it"},
    ),
    "interrupted": ("interrupted", {"tool": "terminal"}),
    "review-memory": ("review/memory", {"focus": ""}),
    "review-skills": ("review/skills", {"focus": ""}),
    "review-both": ("review/both", {"focus": ""}),
    "review-focus": ("review/both", {"focus": "the order of steps in the release"}),
}


def rendered(scene: str) -> str:
    """The prompt of a scene, filled."""
    name, holes = SCENES[scene]
    return prompts.render(name, **holes)
