"""The pipe inside a real Open WebUI: over its API and in headless Chromium.  `make test-openwebui` runs this."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.fakes.openai_server import OpenAIServer, call, text
from tests.openwebui.webui import OpenWebUI, Ours, waited

pytestmark = pytest.mark.long
MODEL = "hermes.hermes-agent"
BUTTON = "Okay, Let's Go!"
SHOTS = Path(os.environ.get("SCREENSHOTS", "/tmp/openwebui"))
RULES = [
    {"when": "### Task:", "steps": [text('{"title": "A Title From The Side"}')]},
    {"when": "read the note", "steps": [call("read_file", "read-", path="note.txt"), text("The note says: buy milk.")]},
    {"when": "tidy up", "steps": [call("terminal", "rm-", command="rm -rf build"), text("It is tidy now.")]},
    {"when": "paint", "steps": [call("clarify", "ask-", question="Which colour?"), text("Painted as you said.")]},
    {
        "when": "take your time",
        "steps": [
            call("terminal", "wait-", command="while [ ! -e go ]; do sleep 0.2; done; echo went"),
            text("I took it."),
        ],
    },
    {"when": "never end", "steps": [call("terminal", "wait-", command="sleep 600"), text("never said")]},
    {"when": "hello", "steps": [text("Hello from behind the pipe.")]},
]
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(script={"rules": RULES}, models=("scripted",)) as server:
        yield server


@pytest.fixture(scope="module")
def ours(tmp_path_factory, model) -> Iterator[Ours]:
    server = Ours(tmp_path_factory.mktemp("ours"), model.base_url)
    (server.work / "note.txt").write_text("buy milk")
    yield server
    server.end()


@pytest.fixture(scope="module")
def webui(tmp_path_factory, ours) -> Iterator[OpenWebUI]:
    program = os.environ.get("OPEN_WEBUI", "")
    if not program:
        pytest.skip("OPEN_WEBUI names no program: run `make test-openwebui`")
    found = OpenWebUI(str(Path(program).absolute()), tmp_path_factory.mktemp("webui"), ours)
    yield found
    found.http.close()
    found.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=OPTIONS)
        yield found
        found.close()


@pytest.fixture
def page(browser, webui) -> Iterator[Page]:
    found = browser.new_page(viewport={"width": 1200, "height": 900})
    outside: list[str] = []
    found.on("request", lambda request: outside.append(request.url) if "127.0.0.1" not in request.url else None)
    found.goto(f"{webui.url}/?models={MODEL}")
    found.wait_for_selector("#chat-input", timeout=120_000)
    if found.get_by_text(BUTTON).count():
        found.get_by_text(BUTTON).click()
    yield found
    assert [url for url in outside if url.startswith("http")] == []
    found.close()


def say(page: Page, words: str) -> None:
    page.click("#chat-input")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def newest(ours: Ours) -> dict:
    """The last turn; empty when there was none."""
    return (ours.turns() or [{}])[-1]


def shot(page: Page, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SHOTS / f"{name}.png"))


def sees(page: Page, words: str, seconds: float = 60) -> None:
    expect(page.locator("#messages-container").get_by_text(words).last).to_be_visible(timeout=seconds * 1000)


def test_both_ways_are_listed_and_answer_over_the_api(webui, ours):
    names = [model["id"] for model in webui.ask("GET", "/api/models?refresh=true")["data"]]
    assert {MODEL, "hermes-agent"} <= set(names)
    for name in (MODEL, "hermes-agent"):
        messages = [{"role": "user", "content": "hello"}]
        answer = webui.ask("POST", "/api/chat/completions", model=name, stream=False, messages=messages)
        assert answer["choices"][0]["message"]["content"] == "Hello from behind the pipe."


def test_a_tool_is_shown_and_the_run_is_kept_with_the_message(page, webui, ours):
    say(page, "please read the note")
    sees(page, "The note says: buy milk.")
    shot(page, "tool")

    (answer,) = webui.answers()
    run = ours.turns()[-1]
    note = answer["meta"]["hermes"]
    assert (note["run_id"], note["status"], note["seq"]) == (run["run_id"], "completed", run["last_event"])
    assert "buy milk" in answer["content"]
    assert any("read_file" in status["description"] for status in answer["statusHistory"])


def test_the_next_message_goes_on_in_the_same_session(page, webui, ours, model):
    say(page, "hello there")
    sees(page, "Hello from behind the pipe.")
    say(page, "please read the note")
    sees(page, "The note says: buy milk.")

    first, second = ours.turns()[-2:]
    assert first["session_id"] == second["session_id"]
    last = [m for m in json.loads(model.bodies[-1])["messages"] if m["role"] == "user"]
    assert "hello there" in last[0]["content"] or len(last) == 1


def test_a_title_is_a_plain_model_call(page, webui, ours):
    before = len(ours.turns())
    say(page, "hello title")
    sees(page, "Hello from behind the pipe.")
    waited(lambda: webui.chat()["title"] == "A Title From The Side", "the title")
    assert len(ours.turns()) == before + 1


def test_an_approval_is_given_in_the_browser(page, ours):
    (ours.work / "build").mkdir(exist_ok=True)
    say(page, "tidy up")
    page.get_by_text("May the assistant do this?").wait_for(timeout=60_000)
    shot(page, "approval")
    page.get_by_role("button", name="Confirm").click()
    sees(page, "It is tidy now.")
    assert not (ours.work / "build").exists()


def test_an_approval_from_elsewhere_is_heard(page, ours):
    (ours.work / "build").mkdir(exist_ok=True)
    say(page, "tidy up again")
    page.get_by_text("May the assistant do this?").wait_for(timeout=60_000)
    run = ours.turns()[-1]
    ours.ask("POST", f"/v1/runs/{run['run_id']}/approval", decision="once")
    waited(lambda: newest(ours).get("status") == "completed", "the run")


def test_a_question_is_answered_in_the_browser(page, ours):
    say(page, "paint the wall")
    page.get_by_text("The assistant asks").wait_for(timeout=60_000)
    shot(page, "question")
    page.get_by_role("dialog").get_by_role("textbox").fill("blue") if page.get_by_role(
        "dialog"
    ).count() else page.keyboard.type("blue")
    page.get_by_role("button", name="Confirm").click()
    sees(page, "Painted as you said.")


def test_a_reload_of_the_page_shows_the_same_run_to_its_end(page, webui, ours):
    (ours.work / "go").unlink(missing_ok=True)
    say(page, "take your time")
    waited(lambda: newest(ours).get("status") == "running", "the run")
    page.reload()
    page.wait_for_selector("#chat-input", timeout=120_000)
    (ours.work / "go").touch()
    sees(page, "I took it.")
    shot(page, "reload")
    assert newest(ours).get("status") == "completed"


def test_stop_in_the_browser_stops_the_run(page, ours):
    say(page, "never end")
    waited(lambda: newest(ours).get("input") == "never end", "the run")
    page.get_by_role("button", name="Stop").click()
    waited(lambda: newest(ours).get("status") == "cancelled", "the stop")
    shot(page, "stopped")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_after_a_restart_of_open_webui_the_run_goes_on_and_is_found(page, webui, ours, number):
    (ours.work / "go").unlink(missing_ok=True)
    before = len(ours.turns())
    say(page, "take your time")
    waited(lambda: len(ours.turns()) == before + 1 and newest(ours).get("status") == "running", "the run")
    waited(lambda: "hermes" in (webui.answers()[0].get("meta") or {}), "the note")
    where = f"{webui.url}/c/{webui.chat()['id']}"
    webui.end(number)
    (ours.work / "go").touch()
    waited(lambda: newest(ours).get("status") == "completed", "the run to go on")
    webui.begin()

    page.goto(where)
    page.wait_for_selector("#chat-input", timeout=120_000)
    sees(page, "take your time")
    shot(page, f"after-{number}")
    page.get_by_role("button", name="Regenerate").last.click()
    again = page.get_by_text("Try Again")
    if again.count():
        again.last.click()
    sees(page, "I took it.")
    shot(page, f"restart-{number}")
    assert len(ours.turns()) == before + 1


def test_a_restart_of_our_server_is_not_noticed(page, ours):
    (ours.work / "go").unlink(missing_ok=True)
    say(page, "take your time")
    waited(lambda: newest(ours).get("status") == "running", "the run")
    ours.end(signal.SIGKILL)
    ours.begin()
    (ours.work / "go").touch()
    sees(page, "I took it.")
    assert ours.turns()[-1]["resumed"] == 1
