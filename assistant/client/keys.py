"""What the keys of the chat do."""

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from assistant.client.chat import Conversation


class Keys:
    """The few keys that are ours; everything else is as in any line editor."""

    def __init__(self, buffer: Buffer, conversation: Conversation, refresh: Callable[[], None]) -> None:
        self._buffer = buffer
        self._conversation = conversation
        self._refresh = refresh

    def bindings(self) -> KeyBindings:
        """The table of keys."""
        keys = KeyBindings()
        keys.add("enter")(self._enter)
        keys.add("escape", "enter")(self._newline)
        keys.add("c-j")(self._newline)
        keys.add("c-c")(self._interrupt)
        keys.add("<sigint>")(self._interrupt)
        keys.add("c-d", filter=Condition(lambda: not self._buffer.text))(self._leave)
        keys.add("c-z")(self._suspend)
        keys.add("tab")(self._complete)
        return keys

    def _enter(self, event: KeyPressEvent) -> None:
        document = self._buffer.document
        if document.current_line_before_cursor.endswith("\\") and not document.current_line_after_cursor:
            self._buffer.delete_before_cursor(1)
            self._buffer.insert_text("\n")
            return
        text = self._buffer.text
        if text.strip():
            self._buffer.append_to_history()
        self._buffer.reset()
        self._conversation.typed(text)
        self._refresh()

    def _newline(self, event: KeyPressEvent) -> None:
        self._buffer.insert_text("\n")

    def _interrupt(self, event: KeyPressEvent) -> None:
        if self._conversation.interrupt(typing=bool(self._buffer.text)):
            self._buffer.reset()

    def _leave(self, event: KeyPressEvent) -> None:
        self._conversation.typed("/quit")

    def _suspend(self, event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    def _complete(self, event: KeyPressEvent) -> None:
        """At once where there is only one way: who types on fast must not be overtaken by a menu."""
        asked = CompleteEvent(completion_requested=True)
        ways = list(self._buffer.completer.get_completions(self._buffer.document, asked))
        if len(ways) == 1:
            self._buffer.apply_completion(ways[0])
        elif self._buffer.complete_state:
            self._buffer.complete_next()
        else:
            self._buffer.start_completion(select_first=True)
