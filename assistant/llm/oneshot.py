"""One question, one text: summaries, titles."""

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Message, Request
from assistant.core.ports import Model


def complete(model: Model, system: str, text: str, interrupt: Interrupt) -> str:
    """The model's whole answer to a text; what came so far when interrupted."""
    request = Request(system, (), (Message("user", text),))
    said = ""
    for chunk in model.stream(request, interrupt):
        said = "" if chunk.restarted else said + chunk.text
    return said.strip()
