"""The built-in model itself: fetched, checked, served and asked through the real client."""

import os
import select
import signal
import subprocess
import sys
from threading import Thread

import pytest

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Message, Request
from assistant.errors import PersonMustAct
from assistant.llm.local import LocalModel, LocalServer
from assistant.llm.retry import Retrying
from assistant.llm.weights import ready
from tests.llm.scene import text_of, usage_of

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model(cache):
    local = LocalModel(cache)
    yield Retrying(local)
    local.close()


def ended(handle):
    """Whether the process behind the handle ends within ten seconds."""
    found, _, _ = select.select([handle], [], [], 10)
    os.close(handle)
    return bool(found)


def gone(pid):
    """Whether a process that is no child of ours ends within ten seconds."""
    try:
        return ended(os.pidfd_open(pid))
    except ProcessLookupError:
        return True


def asked(model, *messages):
    return list(model.stream(Request("a long prompt that is not sent", (), messages), Interrupt()))


def test_an_answer_streams_and_the_next_question_goes_on_from_it(model):
    first = Message("user", "My name is Minji. Say hello to me.")
    reply = asked(model, first)
    assert len([chunk for chunk in reply if chunk.text]) > 2
    assert usage_of(reply).output_tokens > 0

    answer = Message("assistant", text_of(reply))
    again = asked(model, first, answer, Message("user", "What is my name?"))
    assert text_of(again)
    assert usage_of(again).input_tokens > usage_of(reply).input_tokens + usage_of(reply).output_tokens / 2


def test_it_says_that_it_has_no_tools(model):
    assert not model.tools_supported


def test_a_conversation_longer_than_its_window_is_answered(model):
    long = [Message("user", f"Note {n}: " + "word " * 400) for n in range(40)]
    assert text_of(asked(model, *long, Message("user", "한국어로 인사해 주세요.")))


def test_a_stop_ends_an_answer(model):
    interrupt = Interrupt()
    stream = model.stream(Request("", (), (Message("user", "Write a very long story."),)), interrupt)
    while not next(stream).text:
        pass
    interrupt.set()
    assert list(stream) == []


def test_a_dead_child_is_started_again(cache):
    server = LocalServer(cache / "SmolLM2-135M-Instruct.Q4_1.gguf")
    first = server.endpoint(Interrupt())
    assert server.endpoint(Interrupt()) is first
    handle = os.pidfd_open(server.child_id())
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    assert ended(handle)
    second = server.endpoint(Interrupt())
    assert second.url != first.url
    server.close()


def test_a_stop_ends_the_start(cache):
    server, interrupt = LocalServer(cache / "SmolLM2-135M-Instruct.Q4_1.gguf"), Interrupt()
    Thread(target=interrupt.set).start()
    assert server.endpoint(interrupt) is None
    server.close()


def test_the_child_ends_with_its_parent(cache):
    script = (
        "import os, sys; from pathlib import Path\n"
        "from assistant.core.interrupt import Interrupt\n"
        "from assistant.llm.local import LocalServer\n"
        "server = LocalServer(Path(sys.argv[1])); server.endpoint(Interrupt())\n"
        "print(server.child_id(), flush=True); os.kill(os.getpid(), 9)\n"
    )
    weights = str(cache / "SmolLM2-135M-Instruct.Q4_1.gguf")
    done = subprocess.run([sys.executable, "-c", script, weights], capture_output=True, text=True, check=False)
    assert gone(int(done.stdout))


def test_broken_weights_are_told(tmp_path):
    broken = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    broken.write_bytes(b"GGUF nonsense")
    assert ready(tmp_path)
    with pytest.raises(PersonMustAct, match="did not start"):
        asked(Retrying(LocalModel(tmp_path), lambda *_: False), Message("user", "hi"))
