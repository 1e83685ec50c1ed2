"""What is known of models by their name, and a guess of how many tokens a text has."""

from collections.abc import Iterable

from assistant.core.messages import Message

WINDOWS = {
    "gpt-3.5": 16_000,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_000_000,
    "gpt-4": 8_000,
    "gpt-5": 400_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
    "claude": 200_000,
    "gemini": 1_000_000,
    "gemma-2": 8_000,
    "deepseek": 128_000,
    "kimi": 128_000,
    "glm": 128_000,
    "llama-3": 128_000,
    "mistral": 128_000,
    "qwen": 128_000,
    "smollm2": 8_000,
}
DEFAULT_WINDOW = 128_000
CHARACTERS_PER_TOKEN = 4


def window_of(model: str) -> int:
    """The context window of the longest name that the model's last part starts with; else the default."""
    name = model.rsplit("/", 1)[-1].lower()
    fitting = [known for known in WINDOWS if name.startswith(known)]
    return WINDOWS[max(fitting, key=len)] if fitting else DEFAULT_WINDOW


def tokens_in(text: str) -> int:
    """About how many tokens a text has: four characters each, two for wide scripts, which take three bytes."""
    weight = len(text) if text.isascii() else (len(text) + len(text.encode("utf-8", "replace"))) // 2
    return -(-weight // CHARACTERS_PER_TOKEN)


def tokens_of(messages: Iterable[Message]) -> int:
    """The same for some messages with their calls."""
    return sum(tokens_in(m.wire_text) + sum(tokens_in(c.arguments) for c in m.calls) for m in messages)
