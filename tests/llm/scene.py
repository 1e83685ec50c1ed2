"""What the tests of the provider have in common."""

from datetime import UTC, datetime
from itertools import count

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Message, Request, Usage
from assistant.llm.client import Endpoint
from assistant.llm.provider import OpenAIModel
from assistant.llm.retry import Retrying

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HELLO = Request("be brief", (), (Message("user", "hello"),))


def model_at(url, key="sk-secret", patience=20.0, **more):
    """One attempt, with ids that can be told in advance."""
    numbers = count(1)
    return OpenAIModel(
        "scripted",
        Endpoint(url, key, patience),
        clock=lambda: NOON,
        new_id=lambda: f"made-{next(numbers)}",
        **more,
    )


def retrying_at(url, waits=None, **more):
    """With retries; waiting only writes down how long."""
    waits = [] if waits is None else waits

    def wait(interrupt, seconds):
        waits.append(seconds)
        return interrupt.is_set()

    return Retrying(model_at(url, **more), wait, lambda: 0.0)


def played(model, request=HELLO, interrupt=None):
    """All the pieces of one reply."""
    return list(model.stream(request, interrupt or Interrupt()))


def text_of(chunks):
    """The text after the last restart."""
    said = ""
    for chunk in chunks:
        said = "" if chunk.restarted else said + chunk.text
    return said


def calls_of(chunks):
    """The calls of a reply."""
    return [chunk.call for chunk in chunks if chunk.call]


def usage_of(chunks):
    """What a reply cost."""
    return sum((chunk.usage for chunk in chunks if chunk.usage), Usage())
