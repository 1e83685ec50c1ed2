"""A shell command taken apart: every simple command in it, with its words as bash would see them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from assistant.safety.pieces import Person, Piece, Redirect, Script, Word

ESCAPED = re.compile(r"\\(.)", re.DOTALL)
ESCAPED_IN_QUOTES = re.compile(r"\\([\"\\$`\n])")
DEEPEST = 50
"""Commands nested deeper are not looked at, and said not to be understood."""
NOWHERE = Path("/(a folder known only when it runs)")
ENDING_IN_A_COMMAND = frozenset({"command", "list", "pipeline", "negated_command"})
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
"""Ordinary signs of a word to bash; the parser, which some of them bring down, sees `%` for each byte."""
PASSED_ON = frozenset({"&", "|", "|&"})


def take_apart(text: str, person: Person, folders: tuple[Path, ...] = ()) -> Script:
    """Every simple command of a text."""
    source = text.encode("utf-8", "replace")
    tree = parser().parse(BEYOND_ASCII.sub(b"%", source))
    walk = Walk(person, source)
    walk.visit(tree.root_node, folders or (person.workdir,))
    understood = not tree.root_node.has_error and not walk.too_deep
    return Script(tuple(walk.pieces), frozenset(walk.functions), understood, walk.multiplies)


def parser() -> Any:
    """A parser of bash of one's own: threads must not share one."""
    return language()[0](language()[1])


@cache
def language() -> tuple[Any, Any]:
    """The way to make parsers, and the grammar of bash; loaded when the first command is judged."""
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser, tree_sitter.Language(tree_sitter_bash.language())


Folders = tuple[Path, ...]


class Walk:
    """Goes through a parsed text and remembers the commands it meets."""

    def __init__(self, person: Person, source: bytes) -> None:
        self.person = person
        self.source = source
        self.pieces: list[Piece] = []
        self.functions: set[str] = set()
        self.multiplies = False
        self.too_deep = False
        self._depth = 0

    def visit(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """Remember what is below a node; where one may be afterwards if it succeeded, and in any case."""
        if self._depth > DEEPEST:
            self.too_deep = True
            return folders, folders
        self._depth += 1
        handler = getattr(self, f"on_{node.type}", self.on_sequence)
        after: tuple[Folders, Folders] = handler(node, folders)
        self._depth -= 1
        return after

    def on_sequence(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """One after another."""
        done, after = folders, folders
        for child in node.named_children:
            done, after = self.visit(child, after)
        return done, after

    def on_list(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """`a && b` or `a || b`."""
        left, right = node.named_children[0], node.named_children[-1]
        both = any(child.type == "&&" for child in node.children)
        done, after = self.visit(left, folders)
        done_right, after_right = self.visit(right, done if both else after)
        return (done_right if both else union(done, done_right)), union(after, after_right)

    def on_subshell(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """Moves of a subshell end with it."""
        self.on_sequence(node, folders)
        return folders, folders

    on_command_substitution = on_process_substitution = on_subshell

    def on_pipeline(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """All but the first read what the one before prints."""
        for place, child in enumerate(node.named_children):
            begin = len(self.pieces)
            self.visit(child, folders)
            if place:
                self.pieces[begin:] = [replace(piece, piped=True) for piece in self.pieces[begin:]]
        return folders, folders

    def on_function_definition(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """The body is judged where it stands."""
        name = self.written(node.child_by_field_name("name"))
        self.functions.add(name)
        begin = len(self.pieces)
        after = self.on_sequence(node, folders)
        calls_itself = any(piece.words and piece.program.text == name for piece in self.pieces[begin:])
        self.multiplies |= calls_itself and any(below.type in PASSED_ON for below in all_below(node))
        return after

    def on_variable_assignment(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """A variable for all that follows."""
        self.pieces.append(Piece(settings=(self.setting(node, folders),), folders=folders))
        return folders, folders

    def on_for_statement(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """The words it goes through are met by the commands inside."""
        values = tuple(self.word(child, folders) for child in node.children_by_field_name("value"))
        self.pieces.append(Piece(mentions=values, folders=folders))
        return self.visit(node.child_by_field_name("body"), folders)

    def on_redirected_statement(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """Redirections belong to the command before them, or stand alone."""
        body = node.child_by_field_name("body")
        begin = len(self.pieces)
        after = self.visit(body, folders) if body is not None else (folders, folders)
        end = len(self.pieces)
        redirects, fed = self.redirections(node, folders)
        if body is not None and body.type in ENDING_IN_A_COMMAND and end > begin:
            last = self.pieces[end - 1]
            self.pieces[end - 1] = replace(last, redirects=last.redirects + redirects, fed=fed or last.fed)
        else:
            self.pieces[begin:end] = [replace(piece, fed=fed or piece.fed) for piece in self.pieces[begin:end]]
            self.pieces.append(Piece(redirects=redirects, folders=folders))
        return after

    def redirections(self, node: Any, folders: Folders) -> tuple[tuple[Redirect, ...], Word | None]:
        """The files a command is tied to, and the text it is fed."""
        redirects: list[Redirect] = []
        fed: Word | None = None
        for child in node.children_by_field_name("redirect"):
            if child.type == "file_redirect":
                redirects.extend(self.file_redirect(child, folders))
            elif child.type == "herestring_redirect":
                fed = self.word(child.named_children[0], folders)
            else:
                fed = self.heredoc(child, folders)
        return tuple(redirects), fed

    def file_redirect(self, node: Any, folders: Folders) -> Iterator[Redirect]:
        """`> file`; copies of a descriptor are none."""
        signs = {child.type for child in node.children if not child.is_named}
        for target in node.children_by_field_name("destination"):
            word = self.word(target, folders)
            if not (signs & {">&", "<&"} and (word.text.isdigit() or word.text == "-")):
                yield Redirect(not signs <= {"<", "<&"}, word)

    def heredoc(self, node: Any, folders: Folders) -> Word:
        """The text of a here-document; commands that stand behind its mark are visited."""
        text, plain = "", True
        for child in node.named_children:
            if child.type == "heredoc_body":
                text = self.written(child)
                quoted = any(sign in self.written(node.named_children[0]) for sign in "'\"\\")
                plain = quoted or not any(inner.type != "heredoc_content" for inner in child.named_children)
                self.inside(child, folders)
            elif child.type == "file_redirect":
                self.pieces.append(Piece(redirects=tuple(self.file_redirect(child, folders)), folders=folders))
            elif child.type not in ("heredoc_start", "heredoc_end", "file_descriptor"):
                begin = len(self.pieces)
                self.visit(child, folders)
                self.pieces[begin:] = [replace(piece, piped=True) for piece in self.pieces[begin:]]
        return Word(text, plain)

    def on_command(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """A simple command."""
        settings = [self.setting(c, folders) for c in node.named_children if c.type == "variable_assignment"]
        names = node.children_by_field_name("name")
        words = [self.word(part, folders) for name in names for part in name.named_children]
        words += [self.word(argument, folders) for argument in node.children_by_field_name("argument")]
        redirects, fed = self.redirections(node, folders)
        piece = Piece(tuple(words), tuple(settings), redirects, folders, fed=fed)
        self.pieces.append(piece)
        return moved(piece, self.person)

    def on_declaration_command(self, node: Any, folders: Folders) -> tuple[Folders, Folders]:
        """`export A=1` and its kin."""
        settings = [self.setting(c, folders) for c in node.named_children if c.type == "variable_assignment"]
        self.pieces.append(Piece(settings=tuple(settings), folders=folders))
        return folders, folders

    def setting(self, node: Any, folders: Folders) -> tuple[str, Word]:
        """`NAME=value`."""
        value = node.child_by_field_name("value")
        name = self.written(node.child_by_field_name("name"))
        return name, Word("") if value is None else self.word(value, folders)

    def word(self, node: Any, folders: Folders) -> Word:
        """A word as bash would see it, as far as that is known before it runs."""
        if node.type in ("word", "number", "extglob_pattern", "variable_name"):
            return self.bare(self.written(node))
        if node.type == "raw_string":
            return Word(self.written(node)[1:-1])
        if node.type in ("string", "concatenation"):
            return self.joined(node, folders)
        if node.type in ("simple_expansion", "expansion"):
            self.inside(node, folders)
            return self.variable(self.written(node), folders)
        self.inside(node, folders)
        return Word(self.written(node), plain=False)

    def bare(self, text: str) -> Word:
        """An unquoted word: `~` is the person's folder, backslashes quote one sign, braces multiply."""
        if text == "~" or text.startswith("~/"):
            text = f"{self.person.home}{text[1:]}"
        bald = ESCAPED.sub("", text)
        braces = "{" in bald and "{}" not in bald
        return Word(ESCAPED.sub(r"\1", text), not braces and not bald.startswith("~"), any(s in bald for s in "*?["))

    def joined(self, node: Any, folders: Folders) -> Word:
        """A word of several parts, or a text in double quotes."""
        parts = []
        at = node.start_byte
        for child in node.named_children:
            between = self.gap(node, at, child.start_byte)
            parts.append(Word(between))
            quoted = child.type == "string_content"
            parts.append(
                Word(ESCAPED_IN_QUOTES.sub(r"\1", self.written(child))) if quoted else self.word(child, folders)
            )
            at = child.end_byte
        parts.append(Word(self.gap(node, at, node.end_byte)))
        text = "".join(part.text for part in parts)
        return Word(text, all(part.plain for part in parts), any(part.glob for part in parts))

    def variable(self, text: str, folders: Folders) -> Word:
        """`$HOME` and `$PWD` are known, other variables are not."""
        name = text.strip("${}")
        if name == "HOME":
            return Word(str(self.person.home))
        return Word(str(folders[0])) if name == "PWD" and len(folders) == 1 else Word(text, plain=False)

    def written(self, node: Any) -> str:
        """The text of a node as it stands."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def gap(self, node: Any, begin: int, end: int) -> str:
        """What stands between two parts of a word: blanks in a quoted text, never its quotes."""
        between = self.source[begin:end].decode("utf-8", "replace")
        return between.strip('"') if node.type == "string" else between

    def inside(self, node: Any, folders: Folders) -> None:
        """Remember commands that stand inside a word."""
        waiting = [node]
        while waiting:
            found = waiting.pop()
            if found.type in ("command_substitution", "process_substitution"):
                self.visit(found, folders)
            else:
                waiting.extend(reversed(found.named_children))


def moved(piece: Piece, person: Person) -> tuple[Folders, Folders]:
    """Where one may be after a command: `cd` moves if it succeeds, to a place that may be unknown."""
    folders = piece.folders
    if not piece.words or piece.program.text not in ("cd", "pushd", "popd"):
        return folders, folders
    operands = [word for word in piece.arguments if word.text == "-" or not word.text.startswith("-")]
    there: Folders = (NOWHERE,)
    if not operands and piece.program.text == "cd":
        there = (person.home,)
    elif len(operands) == 1 and operands[0].plain and not operands[0].glob and operands[0].text != "-":
        there = tuple(folder / operands[0].text for folder in folders)
    return there, union(there, folders)


def union(one: Folders, other: Folders) -> Folders:
    """The folders of both, each once."""
    return tuple(dict.fromkeys((*one, *other)))


def all_below(node: Any) -> Iterator[Any]:
    """Every node below one."""
    waiting = list(node.children)
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(found.children)
