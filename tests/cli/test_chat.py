"""The chat's own commands, and the chat in a pipe."""

import json

import pytest

from assistant.cli.attach import runs_for
from assistant.cli.given import Given
from assistant.cli.slash import CHAPTERS, HELP, commands_for
from assistant.client.face import Place
from assistant.errors import AssistantError
from tests.cli.scene import skill
from tests.cli.test_ask import assistant
from tests.fakes.model import calls, says
from tests.fakes.openai_server import OpenAIServer, text


@pytest.fixture
def chat(shell):
    """The commands of a chat in which one turn was spoken."""
    shell.model.script(
        calls("todo", todos=[{"id": "1", "content": "Draw it", "status": "in_progress"}]),
        calls("skill_manage", action="create", name="draw-diagrams", content=skill("draw-diagrams")),
        says("Left to right."),
    )
    shell.fine("ask", "--here", "Draw it left to right")
    given = Given(outside=shell.world())
    with runs_for(given, here=True) as at:
        place = Place(at.session("", newest=True))
        commands = commands_for(given, at, place)

        def type_(line):
            name, _, argument = line.partition(" ")
            return commands[name].run(argument)

        type_.place, type_.shell, type_.at = place, shell, at
        yield type_


def test_every_command_of_the_contract_is_there(chat):
    wanted = "sessions skills memory todo inbox reviews review undo compact model"
    assert set(HELP) == set(wanted.split())
    assert set(CHAPTERS) < set(HELP)


def test_they_say_what_the_shell_says(chat):
    assert "    NAME" in chat("skills")
    assert "draw-diagrams" in chat("skills list")
    assert "# draw-diagrams" in chat("skills draw-diagrams")
    assert "~~~~~~diff" in chat("skills diff draw-diagrams")
    assert "draw-diagrams: pin" in chat("skills pin draw-diagrams")
    assert "pinned: frozen" in chat("skills draw-diagrams")
    assert "MEMORY.md" in chat("memory")
    assert chat("inbox") == "nothing waits for you"
    assert chat("reviews") == "no reviews yet"
    assert "Draw it left" in chat("sessions")
    assert "no skill 'none'" in chat("skills none")


def test_the_plan_is_a_list(chat):
    assert "[>] Draw it" in chat("todo")
    chat.place.session_id = ""
    assert chat("todo") == "there is no plan in this conversation"


def test_going_to_another_conversation(chat):
    other = chat.shell.fine("sessions", "fork", chat.place.session_id).out.strip()
    assert "Draw it left to right" in chat(f"sessions {other}")
    assert chat.place.session_id == other
    with pytest.raises(AssistantError, match="no session 'ses_none'"):
        chat("sessions ses_none")


def test_undo_shows_first_and_acts_when_told_which(chat):
    shown = chat("undo")
    assert "+# draw-diagrams" in shown
    commit = shown.rpartition("/undo ")[2].partition("`")[0]
    chat(f"undo {commit}")
    assert "draw-diagrams" not in chat("skills")
    with pytest.raises(AssistantError, match="nothing was learned yet"):
        chat("undo")


def test_undo_takes_a_memory_back_too(chat):
    chat.shell.model.script(calls("memory", action="add", target="user", content="Likes tea"), says("Noted."))
    chat.shell.fine("ask", "--here", "Remember tea")
    assert "Likes tea" in chat("memory")
    commit = chat("memory log").split("COMMIT")[1].split("\n")[1].split()[0]
    chat(f"undo {commit}")
    assert "Likes tea" not in chat("memory")


def test_review_looks_back_now_with_a_focus(chat):
    chat.shell.model.script(
        calls("memory", action="add", target="user", content="Left to right.", evidence=["left to right"]),
        says("Kept."),
    )
    assert chat("review the layout") == "review: saved user"
    chat.shell.model.script(says("Nothing to save."))
    assert "nothing" in chat("review")


def test_compact_shortens_and_keeps_everything_readable(chat):
    chat.shell.model.script(says("Yes."))
    chat.shell.fine("ask", "--here", "--continue", "Is it done?")
    chat.shell.model.script(says("## What the person wants\nleft to right"))
    assert "earlier messages summarised" in chat("compact the layout")
    assert "the layout" in chat.shell.model.requests[-1].messages[-1].text
    messages = chat.shell.fine("sessions", "show", chat.place.session_id, "--json").json["messages"]
    assert messages[0]["text"] == "Draw it left to right"


def test_a_conversation_that_just_began_has_nothing_to_shorten(chat):
    chat.shell.model.script(says("Hello."))
    chat.shell.fine("ask", "--here", "Hi")
    chat.place.session_id = chat.at.session("", newest=True)
    assert "nothing to shorten" in chat("compact")


def test_the_model_is_told_and_changed(chat):
    assert chat("model") == "scripted answers"
    assert "from your next message on" in chat("model other")
    assert chat.place.model == "other"


def test_a_pipe_is_a_conversation_line_by_line(tmp_path):
    with OpenAIServer(text("One."), text("Two.")) as server:
        done = assistant(tmp_path, "chat", "--here", server=server, given="first\n/todo\nsecond\n/quit\n")
        server.finished()
    assert (done.returncode, done.stdout) == (0, "One.\nTwo.\n")
    assert "there is no plan" in done.stderr
    (session,) = json.loads(assistant(tmp_path, "sessions", "list", "--json").stdout)
    assert session["messages"] == 4


def test_without_a_word_it_chats_and_without_a_model_it_says_how_to_get_one(tmp_path):
    done = assistant(tmp_path, given="hello\n")
    assert done.returncode == 2
    assert "no model is configured" in done.stderr
