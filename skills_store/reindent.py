"""Matching whole lines whose indentation differs, and giving the new lines the indentation of the file."""

from skills_store.fold import Edit, folded_line

_BLANKS = " \t"


def edits(text: str, old: str, new: str) -> list[Edit] | str:
    """Where the lines of `old` stand in `text` with another indentation; a sentence when it differs without a rule."""
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    keys, targets = [folded_line(line) for line in lines], [folded_line(line) for line in wanted]
    offsets = _offsets(lines)
    found = list[Edit]()
    for at in range(len(lines) - len(wanted) + 1):
        if keys[at] != targets[0] or keys[at : at + len(wanted)] != targets:
            continue
        window = lines[at : at + len(wanted)]
        rule = _rule(wanted, window)
        if rule is None:
            return f"old_string fits the lines from {at + 1} on but for an uneven indentation; copy the exact lines"
        ending = "\r" if window[-1].endswith("\r") else ""
        end = offsets[at + len(wanted) - 1] + len(window[-1]) - len(ending)
        found.append(Edit(offsets[at], end, _shift(new.strip("\n"), rule)))
    return found


def shifted(window: str, old: str, new: str) -> str:
    """The new text with the indentation that the window has where the old text has its own."""
    rule = _rule(old.strip("\n").split("\n"), window.split("\n"))
    return new.strip("\n") if rule is None else _shift(new.strip("\n"), rule)


def _rule(old: list[str], window: list[str]) -> dict[str, str] | None:
    """Which indentation of the file stands for which one of the old text; None when one stands for two."""
    rule = dict[str, str]()
    for before, there in zip(old, window, strict=True):
        if before.strip() and rule.setdefault(_indent(before), _indent(there)) != _indent(there):
            return None
    return rule


def _shift(new: str, rule: dict[str, str]) -> str:
    return "\n".join(_mapped(line, rule) for line in new.split("\n"))


def _mapped(line: str, rule: dict[str, str]) -> str:
    """A line under the longest known indentation that its own begins with; as it is when it begins with none."""
    indent = _indent(line)
    known = max((old for old in rule if indent.startswith(old)), key=len, default=None)
    if known is None or not line.strip():
        return line
    return rule[known] + line[len(known) :]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(_BLANKS))]


def _offsets(lines: list[str]) -> list[int]:
    offsets, at = list[int](), 0
    for line in lines:
        offsets.append(at)
        at += len(line) + 1
    return offsets
