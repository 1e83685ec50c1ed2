"""Which model answers: what is offered, what is stored, and that no key goes where it does not belong."""

import socket
import stat

import pytest

from assistant.errors import PersonMustAct
from assistant.home.first_start import find_template, prepare
from assistant.home.place import Home, cache_folder
from assistant.home.secrets import filled
from assistant.llm.weights import prepare as prepare_weights
from assistant.settings import load
from assistant.wiring.models import chosen
from assistant.wiring.setup import Person, answering, choose, key_name, use_builtin
from tests.fakes.openai_server import OpenAIServer

GROQ = "https://api.groq.com/openai/v1"


class Desk:
    """A person who types prepared lines, over a fresh home."""

    def __init__(self, folder, **environ):
        self.home = Home(folder / "home")
        self.environ = {"HOME": str(folder), **environ}
        self.told = []
        prepare(self.home, find_template())

    def choose(self, *typed, ports=None):
        lines = list(typed)

        def line(prompt):
            self.told.append(prompt)
            return lines.pop(0)

        done = choose(self.home, self.environ, Person(self.told.append, line, line), ports or {})
        assert lines == []
        return done

    @property
    def model(self):
        """Name, address and key as the next start sees them."""
        choice = chosen(load(self.home.config), filled(self.environ, self.home.env_file))
        return choice.name, choice.url, choice.key

    def heard(self):
        return "\n".join(self.told)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def test_a_fresh_home_has_no_model_and_the_question_says_so(desk):
    with pytest.raises(PersonMustAct, match="no model is configured"):
        assert desk.model
    assert not desk.choose("")
    assert "No model is set yet" in desk.heard()
    assert "nothing was changed" in desk.heard()


def test_a_key_goes_into_the_secrets_and_everything_else_into_the_settings(desk):
    before = desk.home.config.read_text()

    assert desk.choose("1", "", "sk-secret", "gpt-x")

    assert desk.model == ("gpt-x", "https://api.openai.com/v1", "sk-secret")
    assert stat.S_IMODE(desk.home.env_file.stat().st_mode) == 0o600
    assert "sk-secret" not in desk.home.config.read_text()
    assert "sk-secret" not in desk.heard()
    comments = [line for line in before.splitlines() if line.lstrip().startswith("#")]
    assert all(comment in desk.home.config.read_text() for comment in comments)


def test_a_server_that_answers_is_offered_and_used_only_when_chosen(desk):
    with OpenAIServer() as server:
        ports = {"Ollama": server.port}
        assert not desk.choose("", ports=ports)
        assert answering(desk.home, desk.environ) == ""
        assert f"Ollama, which answers at http://127.0.0.1:{server.port}/v1" in desk.heard()
        assert desk.choose("2", ports=ports)
    assert desk.model[1:] == (f"http://127.0.0.1:{server.port}/v1", "none")


def test_nothing_that_is_closed_is_offered(desk):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        desk.choose("", ports={"Ollama": free.getsockname()[1]})
    assert "Ollama" not in desk.heard()


def test_the_key_of_one_service_is_never_sent_to_another(tmp_path):
    desk = Desk(tmp_path, OPENAI_API_KEY="sk-openai")
    desk.choose("1", GROQ, "gsk-groq", "llama")
    assert desk.model == ("llama", GROQ, "gsk-groq")

    desk.choose("1", "http://127.0.0.1:8080/v1", "", "qwen3:8b")
    assert desk.model == ("qwen3:8b", "http://127.0.0.1:8080/v1", "none")

    desk.choose("1", GROQ, "", "llama")
    assert desk.model == ("llama", GROQ, "gsk-groq")


@pytest.mark.parametrize("name", ["true", "1.5", "null", "a: b", "#1", "~", "모델"])
def test_any_model_name_is_stored_as_it_was_typed(desk, name):
    desk.choose("1", GROQ, "", name)
    assert desk.model[0] == name


@pytest.mark.parametrize(
    ("address", "variable"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        (GROQ, "MODEL_KEY_API_GROQ_COM"),
        ("http://127.0.0.1:11434/v1", "MODEL_KEY_127_0_0_1_11434"),
        ("http://[::1]:8080/v1", "MODEL_KEY_1_8080"),
    ],
)
def test_each_address_has_a_variable_of_its_own(address, variable):
    assert key_name(address) == variable


def test_a_choice_can_be_changed_and_the_question_says_what_answers_now(desk):
    desk.choose("1", GROQ, "", "llama")
    assert not desk.choose("")
    assert f"Now llama at {GROQ} answers" in desk.heard()
    assert desk.model[0] == "llama"


def test_the_built_in_model_is_fetched_before_it_is_set(desk):
    asked = []
    use_builtin(desk.home, desk.environ, desk.told.append, lambda cache, tell: asked.append(cache))
    assert asked == [cache_folder(desk.environ)]
    assert desk.model[0] == "builtin"
    assert answering(desk.home, desk.environ) == "the built-in model"
    assert "knows little and uses no tools" in desk.heard()


def test_what_cannot_be_fetched_changes_nothing(desk):
    def fails(cache, tell):
        raise PersonMustAct("no network")

    with pytest.raises(PersonMustAct, match="no network"):
        use_builtin(desk.home, desk.environ, desk.told.append, fails)
    assert answering(desk.home, desk.environ) == ""


def test_a_variable_that_wins_over_the_choice_is_named(tmp_path):
    desk = Desk(tmp_path, ASSISTANT_MODEL="other", MODEL_KEY_API_GROQ_COM="another")
    desk.choose("1", GROQ, "gsk", "llama")
    assert "ASSISTANT_MODEL in your environment names other" in desk.heard()
    assert "MODEL_KEY_API_GROQ_COM in your environment holds another key" in desk.heard()


def test_it_says_what_is_installed_and_fetched_and_why(tmp_path):
    told, asked = [], []

    def no_network(words):
        asked.append(words[0])
        raise PersonMustAct("no network")

    with pytest.raises(PersonMustAct):
        prepare_weights(tmp_path / "cache", told.append, no_network)
    said = {"download": "SmolLM2-135M-Instruct", "install": "the program that runs the model"}
    assert said[asked[0]] in told[-1]


def test_large_files_lie_where_the_system_says_else_in_the_usual_place():
    assert str(cache_folder({"HOME": "/h"})) == "/h/.cache/assistant"
    assert str(cache_folder({"HOME": "/h", "XDG_CACHE_HOME": "/c"})) == "/c/assistant"
    assert str(cache_folder({"HOME": "/h", "XDG_CACHE_HOME": "relative"})) == "/h/.cache/assistant"
