from typer.main import get_command

from assistant.cli.app import TREE, app


def test_the_line_of_each_word_is_the_commands_own_help():
    commands = get_command(app).commands
    assert list(commands) == list(TREE)
    assert {word: (command.help or "").split("\n")[0] for word, command in commands.items()} == {
        word: line for word, (_, line) in TREE.items()
    }


def test_every_list_and_look_takes_json():
    looks = ["list", "show", "search", "log", "why", "status", "check", "validate", "doctor"]
    lacking = []
    for word, command in get_command(app).commands.items():
        for name, leaf in getattr(command, "commands", {word: command}).items():
            options = {option for parameter in leaf.params for option in parameter.opts}
            if name in looks and "--json" not in options:
                lacking.append(f"{word} {name}")
    assert lacking == []


def test_every_command_and_option_says_what_it_is():
    silent = []
    for word, command in get_command(app).commands.items():
        for name, leaf in getattr(command, "commands", {word: command}).items():
            silent += [] if leaf.help else [f"{word} {name}"]
            silent += [f"{word} {name} {p.name}" for p in leaf.params if not getattr(p, "help", "")]
    assert silent == []
