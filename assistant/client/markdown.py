"""How rich draws the Markdown of an answer: calm, few colours, every character of it there, good to copy from."""

import io
from collections.abc import Iterable, Sequence
from functools import cache
from typing import ClassVar

from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import BlockQuote, CodeBlock, Heading, HorizontalRule, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from assistant.client.blocks import PARSER

THEME = Theme(
    {
        **dict.fromkeys((f"markdown.h{level}" for level in range(2, 7)), "bold"),
        "markdown.h1": "bold underline",
        "markdown.code": "cyan",
        "markdown.block_quote": "dim",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.list": "none",
        "markdown.hr": "dim",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)


class LeftHeading(Heading):
    """Headings stay where reading begins."""

    LEVEL_ALIGN = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "left")


class QuietCode(CodeBlock):
    """Code in the terminal's own colours, without a box around it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Two cells in, folded rather than cut."""
        code = str(self.text).rstrip("\n")
        syntax = Syntax(code, self.lexer_name, theme="ansi_dark", background_color="default", word_wrap=True)
        yield Padding(syntax, (0, 0, 0, 2))


class BarredQuote(BlockQuote):
    """A quotation behind a thin bar."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Each of its lines begins with the bar."""
        inner = options.update(width=max(1, options.max_width - 2))
        for line in console.render_lines(self.elements, inner, style=self.style):
            yield Segment("│ ", self.style)
            yield from line
            yield Segment("\n")


class Divider(HorizontalRule):
    """A short rule: a full one breaks when the window gets narrower."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Three dashes."""
        yield Text("───", style="markdown.hr")


class Document(Markdown):
    """A Markdown text; links show where they lead, and line ends stay as they were written."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "fence": QuietCode,
        "code_block": QuietCode,
        "blockquote_open": BarredQuote,
        "hr": Divider,
    }

    def __init__(self, source: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = PARSER.parse(source)

    def _flatten_tokens(self, tokens: Iterable[Token]) -> Iterable[Token]:
        for token in super()._flatten_tokens(tokens):
            if token.type == "softbreak":
                token.type = "hardbreak"
            yield _words_of(token) if token.type == "image" else token


@cache
def _console(colour: bool) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard" if colour else None,
        theme=THEME,
        highlight=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def lines_of(source: str, width: int, *, colour: bool) -> list[str]:
    """The text as terminal lines without blanks at their ends, so that a narrower window folds no empty space."""
    console = _console(colour)
    options = console.options.update(width=width, height=None)
    lines = [_ansi(_trimmed(line), colour) for line in console.render_lines(Document(source), options, pad=False)]
    return "\n".join(lines).strip("\n").split("\n")


def _words_of(image: Token) -> Token:
    return Token("text", "", 0, content=f"{image.content} ({image.attrs.get('src', '')})")


def _trimmed(line: Sequence[Segment]) -> list[Segment]:
    kept = list(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
    return kept


def _ansi(line: Sequence[Segment], colour: bool) -> str:
    if not colour:
        return "".join(segment.text for segment in line)
    system = _console(colour)._color_system
    return "".join(s.style.render(s.text, color_system=system) if s.style else s.text for s in line)
