"""`make readme`: write the README's tables anew from the command tree and the settings."""

from tests.style.readme import README, between, command_table, has_commands, setting_table

if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    tables = {"settings": setting_table()} | ({"commands": command_table()} if has_commands() else {})
    for kind, rows in tables.items():
        text = between(kind).sub(lambda place, rows=rows: place[1] + rows + place[3], text)
    README.write_text(text, encoding="utf-8")
