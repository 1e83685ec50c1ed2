"""A stop ends whatever the reader waits for."""

from threading import Event, Thread

import pytest

from assistant.core.interrupt import Interrupt
from tests.fakes.openai_server import OpenAIServer, text
from tests.llm.scene import HELLO, model_at, retrying_at, text_of

SOON = 2.0


class Reading:
    """Reads a reply in a thread of its own, as a run does."""

    def __init__(self, model):
        self.interrupt, self.ended, self.chunks = Interrupt(), Event(), []
        self.fault = None
        Thread(target=self._read, args=(model,), daemon=True).start()

    def _read(self, model):
        try:
            self.chunks.extend(model.stream(HELLO, self.interrupt))
        except Exception as problem:  # noqa: BLE001 - the test asserts that there was none
            self.fault = problem
        self.ended.set()


@pytest.mark.parametrize("shown", [0, 3], ids=["before the first word", "in the middle"])
@pytest.mark.parametrize("build", [model_at, retrying_at])
def test_a_stop_wakes_the_reader_of_a_stalled_stream(shown, build):
    with OpenAIServer(text("half an answer", stall=shown)) as server:
        reading = Reading(build(server.base_url, patience=30.0))
        assert server.stalled.wait(10)
        reading.interrupt.set()
        assert reading.ended.wait(SOON)
    assert reading.fault is None
    assert text_of(reading.chunks) == ("half an " if shown else "")


def test_a_stop_wakes_the_reader_while_the_server_has_not_answered_at_all():
    with OpenAIServer({"silent": True}) as server:
        reading = Reading(model_at(server.base_url, patience=30.0))
        assert server.stalled.wait(10)
        reading.interrupt.set()
        assert reading.ended.wait(SOON)
    assert (reading.fault, reading.chunks) == (None, [])


def test_after_a_stop_nothing_is_asked():
    interrupt = Interrupt()
    interrupt.set()
    with OpenAIServer() as server:
        assert list(model_at(server.base_url).stream(HELLO, interrupt)) == []
    assert server.bodies == []


def test_a_stop_cuts_only_its_own_reply():
    with OpenAIServer(text("one", stall=1), text("two"), text("three")) as server:
        model = model_at(server.base_url)
        reading = Reading(model)
        assert server.stalled.wait(10)
        other = Reading(model)
        assert other.ended.wait(10)
        reading.interrupt.set()
        assert reading.ended.wait(SOON)
        after = Reading(model)
        assert after.ended.wait(10)
    assert [text_of(r.chunks) for r in (other, after)] == ["two", "three"]


def test_a_reply_that_nobody_reads_on_gives_its_connection_back():
    with OpenAIServer(text("one two three four"), text("five")) as server:
        model = model_at(server.base_url)
        stream = model.stream(HELLO, Interrupt())
        next(stream)
        stream.close()
        assert text_of(list(model.stream(HELLO, Interrupt()))) == "five"
