"""The chat over scripted runs, for a real terminal:  chat_app.py FOLDER.  A file FOLDER/<gate> lets a script go on."""

import sys
import time
from pathlib import Path

from assistant.client.face import Look, Means, Place
from assistant.client.slash import Command
from assistant.client.terminal import Terminal, terminal_ends
from assistant.core.events import (
    ApprovalRequested,
    LearningStaged,
    QuestionAsked,
    ReplyEnded,
    ReviewQueued,
    RunCompleted,
    RunStarted,
    SkillChanged,
    TextArrived,
    TodoChanged,
    ToolEnded,
    ToolOutput,
    ToolStarted,
)
from assistant.core.messages import Call, Message
from tests.fakes.runs import PlayedRun, ScriptedRuns, Step, Until, UntilSteered, UntilStopped

FOLDER = Path(sys.argv[1])
ANSWER = """## 오늘의 할 일

Three things, **in order** 😀:

1. `make check` 를 돌립니다
2. 결과를 읽습니다
3. done

```python
def greet(name: str) -> str:
    return f"안녕, {name}"
```

| 이름 | size |
|------|-----:|
| 가나다 | 12 |
| b | 3 |

That is all.
"""
PLAN = [
    {"content": "look at the tests", "status": "completed"},
    {"content": "고치기", "status": "in_progress"},
    {"content": "run them again", "status": "pending"},
]


def gate(name: str) -> Until:
    return Until((FOLDER / name).exists)


def words(text: str) -> list[Step]:
    return [TextArrived(piece) for piece in text.replace(" ", " \0").split("\0")]


def tool(number: int, name: str, preview: str, result: str, failed: bool = False) -> list[Step]:
    message = Message("tool", result, answers=f"call_{number}", name=name, failed=failed)
    return [ToolStarted(f"call_{number}", name, "{}", preview), ToolEnded(message, 0.2 * number, result)]


def done(text: str) -> list[Step]:
    return [ReplyEnded(Message("assistant", text)), RunCompleted(text, {"input_tokens": 10})]


def answer(text: str) -> list[Step]:
    return [RunStarted("turn", "scripted"), *words(text), *done(text)]


STREAM = [
    RunStarted("turn", "scripted"),
    gate("think"),
    *words(ANSWER[:200]),
    gate("stream"),
    *words(ANSWER[200:]),
    *done(ANSWER),
]
TOOLS = [
    RunStarted("turn", "scripted"),
    *words("Let me look."),
    ReplyEnded(Message("assistant", "Let me look.", (Call("call_1", "read_file", "{}"),))),
    TodoChanged(tuple(PLAN)),
    *tool(1, "read_file", "tests/한국어.py", "214 lines"),
    *tool(2, "terminal", "pytest -q", "exit code 1\nFAILED", failed=True),
    ToolStarted("call_3", "terminal", "{}", "pytest -q --slow"),
    ToolOutput("call_3", "collecting …\n12 passed so far\n"),
    gate("tool"),
    ToolEnded(Message("tool", "ok", answers="call_3", name="terminal"), 3.0, "12 passed"),
    UntilSteered(),
    *words("Fixed, as you said."),
    ReplyEnded(Message("assistant", "Fixed, as you said.")),
    SkillChanged("run-tests", "create", "abc"),
    LearningStaged("pend_1", "run-tests", "patch"),
    ReviewQueued("run_review", "skills"),
    RunCompleted("Fixed, as you said.", {}),
]
APPROVAL = [
    RunStarted("turn", "scripted"),
    ApprovalRequested(
        "app_1",
        "call_1",
        "terminal",
        '{"command": "rm -rf build && echo \\"정리 끝\\""}',
        "it deletes files",
        ("once", "session", "always", "deny"),
        "terminal: rm -rf build",
    ),
    *tool(1, "terminal", 'rm -rf build && echo "정리 끝"', "exit code 0"),
    QuestionAsked("q_1", "Which branch?", ("main", "새 가지")),
    *answer("Done."),
]
ENDLESS = [RunStarted("turn", "scripted"), *words("I begin and go on"), UntilStopped()]
STORIES = {
    "stream": STREAM,
    "tools": TOOLS,
    "approval": APPROVAL,
    "endless": ENDLESS,
    "queued": answer("Second answer."),
}


class Stories(ScriptedRuns):
    """Plays the story whose name begins the message; anything else is echoed."""

    def start(self, wish):
        name = wish.input.split()[0]
        self.scripts.append(STORIES.get(name) or answer(f"You said: {wish.input}"))
        return super().start(wish)


def main():
    runs = Stories()
    runs.play(
        PlayedRun("run_review", "session_1", [gate("review"), SkillChanged("run-tests", "patch", "def"), *done("")])
    )
    commands = {
        "skills": Command("skills", "what it has learned", lambda argument: "- **run-tests**\n- deploy-notes"),
        "inbox": Command("inbox", "what waits for you", lambda argument: "Nothing waits."),
        "reviews": Command("reviews", "what reviews did", lambda argument: "None yet."),
    }
    means = Means(runs, Place(), commands, lambda: ["run-tests", "deploy-notes"])
    ends = terminal_ends(sys.stdin, sys.stdout, "xterm-256color")
    Terminal(means, FOLDER / "history", time.monotonic, Look(), ends).run("**assistant** · scripted · /help")
    print("left")


if __name__ == "__main__":
    main()
