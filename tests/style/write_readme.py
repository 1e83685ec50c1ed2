"""`make readme`: write the README's tables and its transcript anew."""

from tests.style.readme import README, between, command_table, setting_table
from tests.style.transcript import transcript

if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    parts = {"settings": setting_table(), "commands": command_table(), "demo": transcript()}
    for kind, rows in parts.items():
        text = between(kind).sub(lambda place, rows=rows: place[1] + rows + place[3], text)
    README.write_text(text, encoding="utf-8")
