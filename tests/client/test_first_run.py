import pytest

from assistant.client.first_run import OPENAI, BuiltIn, Endpoint, FirstRun, LocalServer

OLLAMA = LocalServer("Ollama", "http://localhost:11434/v1", ("qwen3:8b", "gemma3"))
LMSTUDIO = LocalServer("LM Studio", "http://localhost:1234/v1", ("one",))
LLAMA = LocalServer("llama.cpp", "http://localhost:8080/v1")


class Asked:
    """A dialogue with the lines that were typed; None is the end of input."""

    def __init__(self, *typed, servers=(OLLAMA, LMSTUDIO, LLAMA)):
        self.typed = list(typed)
        self.told = []
        self.secrets = []
        self.choice = FirstRun(self.told.append, self.line, self.secret).choose(servers)

    def line(self, prompt):
        self.told.append(prompt)
        return self.typed.pop(0)

    def secret(self, prompt):
        self.secrets.append(prompt)
        return self.line(prompt)


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        (["1", "", " key ", "gpt-x"], Endpoint(OPENAI, "gpt-x", "key")),
        (["1", "https://my.host/v1/", "", "m"], Endpoint("https://my.host/v1", "m")),
        (["1", "my.host", "http://my.host", "k", "", "m"], Endpoint("http://my.host", "m", "k")),
        (["2", "2"], Endpoint(OLLAMA.base_url, "gemma3")),
        (["3"], Endpoint(LMSTUDIO.base_url, "one")),
        (["4", "my-model"], Endpoint(LLAMA.base_url, "my-model")),
        (["9", "five", "5"], BuiltIn()),
        ([""], None),
        ([None], None),
        (["1", None], None),
        (["1", "", None], None),
        (["1", "", "k", None], None),
        (["2", ""], None),
    ],
)
def test_the_dialogue_ends_in_a_choice_or_in_none(typed, choice):
    assert Asked(*typed).choice == choice


def test_a_key_is_asked_for_where_it_is_not_shown():
    assert len(Asked("1", "", "key", "m").secrets) == 1


def test_servers_that_answer_are_offered_and_nothing_is_assumed():
    told = "\n".join(Asked("").told)
    assert "2  Ollama, which answers at http://localhost:11434/v1, 2 models" in told
    assert "5  the built-in model" in told


def test_without_servers_two_choices_remain():
    assert Asked("2", servers=()).choice == BuiltIn()


def test_a_wrong_number_is_explained():
    assert "Please type a number from 1 to 5." in Asked("7", "").told
