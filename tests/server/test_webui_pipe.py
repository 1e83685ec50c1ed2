"""The pipe, called as Open WebUI would call it."""

import asyncio
import socket
from collections.abc import Iterator
from threading import Event

import pytest

from assistant.server.process import Listening
from tests.fakes.model import UNTIL_STOPPED, calls, says
from tests.fakes.served import Served
from tests.fakes.waiting import until
from tests.fakes.webui import WebUI, together


class Fixed(Served):
    """A server that keeps its port and key over a restart."""

    port = 0

    def listening(self) -> Listening:
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
        return Listening("127.0.0.1", self.port, key="a-key-that-stays")


@pytest.fixture
def served(tmp_path) -> Iterator[Fixed]:
    world = Fixed(tmp_path)
    yield world
    world.close()


@pytest.fixture
def webui(served) -> WebUI:
    found = WebUI(f"{served.url}/v1", "a-key-that-stays")
    found.say("chat", "q1", "a1", "What does a.txt say?")
    return found


def turns(served) -> list[dict]:
    """The turns of the home, oldest first."""
    return [run for run in served.get("/v1/runs").json()["data"] if run["kind"] == "turn"][::-1]


def test_it_streams_the_answer_shows_the_tool_and_keeps_the_run(served, webui):
    (served.work / "a.txt").write_text("<hello>")
    served.script(says("Let me look.") + calls("read_file", path="a.txt"), says("It says hello."))

    text = together(webui.ask("chat", "a1"))

    assert text.startswith("Let me look.\n\n")
    assert text.endswith("It says hello.")
    assert '<details type="tool_calls" done="true"' in text
    assert "&lt;hello&gt;" in text
    note = webui.chats.kept["chat"]["a1"]["meta"]["hermes"]
    (run,) = turns(served)
    assert (note["run_id"], note["seq"], note["status"]) == (run["run_id"], run["last_event"], "completed")
    assert any(status.startswith("read_file: a.txt") for status in webui.statuses)
    assert webui.statuses[-1] == "completed"


def test_the_same_message_after_a_restart_is_the_same_run_and_all_of_it_is_shown(served, webui):
    served.script(says("Once and only once."))
    first = together(webui.ask("chat", "a1"))
    webui.chats.kept["chat"]["a1"] = {"role": "assistant", "content": "", "parentId": "q1"}

    webui.again()

    assert together(webui.ask("chat", "a1")) == first == "Once and only once."
    assert len(turns(served)) == 1


def test_a_run_whose_events_were_forgotten_still_has_its_answer(served, webui):
    served.script(says("Once and only once."))
    together(webui.ask("chat", "a1"))
    webui.chats.kept["chat"]["a1"] = {"role": "assistant", "content": "", "parentId": "q1"}
    with served.parts.database.writing() as tx:
        tx.execute("DELETE FROM events")

    assert together(webui.ask("chat", "a1")) == "Once and only once."


def test_another_answer_to_a_question_whose_run_goes_on_shows_that_run(served, webui):
    hold = Event()
    served.script([*says("Half "), hold, *says("and whole.")])

    async def torn() -> None:
        pieces = webui.begin("chat", "a1")
        assert await anext(pieces) == "Half "
        everything = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in everything:
            task.cancel()
        asyncio.current_task().cancel()
        await anext(pieces)

    with pytest.raises(asyncio.CancelledError):
        together(torn())
    webui.again()
    webui.chats.kept["chat"]["a2"] = {"role": "assistant", "content": "", "parentId": "q1"}
    hold.set()

    assert together(webui.ask("chat", "a2")) == "Half and whole."
    assert [run["status"] for run in turns(served)] == ["completed"]


def test_the_next_message_goes_on_in_the_session(served, webui):
    served.script(says("one"), says("two"))
    together(webui.ask("chat", "a1"))
    webui.say("chat", "q2", "a2", "and now?", answered="a1")

    together(webui.ask("chat", "a2"))

    first, second = turns(served)
    assert first["session_id"] == second["session_id"]
    assert [m.text for m in served.model.requests[-1].messages] == ["What does a.txt say?", "one", "and now?"]


def test_another_branch_is_a_session_of_its_own_that_holds_what_is_seen(served, webui):
    (served.work / "a.txt").write_text("hello")
    served.script(calls("read_file", path="a.txt"), says("one"), says("another one"), says("two"))
    together(webui.ask("chat", "a1"))
    webui.chats.kept["chat"]["b1"] = {"role": "assistant", "content": "", "parentId": "q1"}
    together(webui.ask("chat", "b1"))
    webui.say("chat", "q2", "a2", "and now?", answered="a1")

    together(webui.ask("chat", "a2"))

    sessions = [run["session_id"] for run in turns(served)]
    assert sessions[0] == sessions[2]
    assert sessions[1] != sessions[0]
    assert [m.text for m in served.model.requests[2].messages] == ["What does a.txt say?"]


def test_what_was_only_shown_does_not_go_back_to_the_model(served, webui):
    shown = '<details type="tool_calls" done="true" id="x" name="y" arguments="{}">\nlong\n</details>\n\nIt says hello.'
    webui.chats.kept["chat"]["a1"]["content"] = shown
    webui.say("chat", "q2", "a2", "and now?", answered="a1")
    served.script(says("two"))

    together(webui.ask("chat", "a2"))

    said = [m.text for m in served.model.requests[-1].messages]
    assert said == ["What does a.txt say?", "It says hello.", "and now?"]


def test_a_side_request_starts_no_run(served, webui):
    served.script(says("A Title"))

    assert together(webui.ask("chat", "a1", task="title_generation")) == "A Title"
    assert turns(served) == []


@pytest.mark.parametrize(("said", "decision", "failed"), [(True, "once", False), (False, "deny", True)])
def test_an_approval_is_asked_in_the_browser(served, webui, said, decision, failed):
    (served.work / "build").mkdir()
    served.script(calls("terminal", command="rm -rf build"), says("Done."))
    webui.answer = lambda asked: said

    text = together(webui.ask("chat", "a1"))

    assert text.endswith("Done.")
    assert webui.dialogs[0]["type"] == "confirmation"
    assert "rm -rf build" in webui.dialogs[0]["data"]["message"]
    assert (served.work / "build").exists() == failed
    assert f"{decision} by you" in webui.statuses


def test_an_approval_from_elsewhere_closes_the_dialog(served, webui):
    closed = []

    async def never(asked: dict) -> bool:
        run = turns(served)[0]
        served.post(f"/v1/runs/{run['run_id']}/approval", decision="deny")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            closed.append(asked["type"])
            raise
        return True

    served.script(calls("terminal", command="rm -rf build"), says("Then not."))
    webui.answer = never

    assert together(webui.ask("chat", "a1")).endswith("Then not.")
    assert closed == ["confirmation"]


def test_a_question_is_answered_in_the_browser(served, webui):
    served.script(calls("clarify", question="Which one?", choices=["red", "blue"]), says("Blue it is."))
    webui.answer = lambda asked: "blue"

    assert together(webui.ask("chat", "a1")).endswith("Blue it is.")
    assert webui.dialogs[0]["type"] == "input"
    assert "- red\n- blue" in webui.dialogs[0]["data"]["message"]


def test_stop_in_the_browser_stops_the_run(served, webui):
    served.script([*says("I begin"), UNTIL_STOPPED])

    async def stopped() -> None:
        other = asyncio.create_task(asyncio.Event().wait())
        task = asyncio.create_task(webui.ask("chat", "a1"))
        while not (served.model.requests and turns(served)[0]["last_event"] > 1):
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while webui.pipe.stopping:
            await asyncio.sleep(0.02)
        other.cancel()

    together(stopped())

    until(lambda: turns(served)[0]["status"] == "cancelled")


def test_the_end_of_open_webui_stops_no_run(served, webui):
    hold = Event()
    served.script([*says("I begin "), hold, *says("and end.")])

    async def ended() -> None:
        asyncio.create_task(webui.ask("chat", "a1"))  # noqa: RUF006 - left to the end of the loop
        while not (served.model.requests and turns(served)[0]["last_event"] > 1):
            await asyncio.sleep(0.02)

    together(ended())
    hold.set()

    until(lambda: turns(served)[0]["status"] == "completed")


def test_a_server_that_starts_again_is_found_again(served, webui):
    (served.work / "a.txt").write_text("hello")
    served.script(says("First. ") + calls("clarify", question="Go on?"), says("Last."))

    async def through_a_restart() -> str:
        task = asyncio.create_task(webui.ask("chat", "a1"))
        await asyncio.to_thread(until, lambda: webui.dialogs != [])
        await asyncio.to_thread(served.hang_up)
        await asyncio.to_thread(served.listen)
        (run,) = turns(served)
        served.post(f"/v1/runs/{run['run_id']}/answer", answer="yes")
        return await task

    text = together(through_a_restart())

    assert text.startswith("First.")
    assert text.endswith("Last.")
    assert text.count("First.") == 1


def test_without_a_chat_it_answers_all_the_same(served, webui):
    served.script(says("Hello."))
    webui.say("local:x", "q", "a", "hi")

    assert together(webui.ask("local:x", "a")) == "Hello."
    assert "meta" not in webui.chats.kept["local:x"]["a"]


def test_a_server_that_is_not_there_is_said_in_the_message(webui, served):
    webui.pipe.valves = webui.pipe.Valves(BASE_URL="http://127.0.0.1:9")

    assert "cannot be asked" in together(webui.ask("chat", "a1"))
    assert "not reachable" in together(webui.pipe.pipes())[0]["name"]
