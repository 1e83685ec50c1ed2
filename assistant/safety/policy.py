"""May this call run?  The tables, the person's own rules, and the mode, in one answer."""

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assistant.core.messages import Effect
from assistant.safety.commands import Part, judge_part, parts
from assistant.safety.paths import Places, judge_path
from assistant.safety.pieces import Person
from assistant.safety.verdicts import Allow, Ask, Deny, Verdict, strictest

Mode = Literal["smart", "manual", "off"]
PATHS = {"read_file": False, "search_files": False, "write_file": True, "patch": True}
"""Tools that name one path, and whether they write it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the person: which tool, which command or path (`*` stands for anything), and what then."""

    action: str
    target: str
    effect: Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Policy:
    """All that verdicts depend on."""

    home: Path
    workdir: Path
    person: Path
    """The person's own folder, `~`."""
    mode: Mode = "smart"
    rules: tuple[Rule, ...] = ()
    isolated: bool = False
    """The person's word that nothing of the machine can be written by commands."""

    @property
    def places(self) -> Places:
        """The folders alone."""
        return Places(self.home, self.workdir, self.person)


def judge(tool: str, effect: Effect, arguments: Mapping[str, Any], policy: Policy) -> Verdict:
    """The answer for one call, whatever was granted before."""
    if tool == "terminal":
        return judge_command(str(arguments.get("command", "")), policy, str(arguments.get("workdir") or ""))
    if tool == "process":
        return judge_typing(arguments, policy)
    if tool in PATHS:
        return judge_file(tool, str(arguments.get("path", ".")), policy)
    if effect is not Effect.WORLD:
        return ruled(tool, ("",), Allow(), policy)
    unknown = Allow() if policy.mode == "off" else Ask(f"{tool} may change anything", "tool")
    return ruled(tool, ("",), unknown, policy)


def judge_command(command: str, policy: Policy, workdir: str = "") -> Verdict:
    """Every part of a command, each with the person's rules; the strictest wins."""
    place = policy.workdir / expanded(workdir, policy)
    found = parts(command, Person(policy.person, place))
    return strictest(judge_one(part, policy) for part in found)


def judge_one(part: Part, policy: Policy) -> Verdict:
    """One part: built in, then by mode, then by the rules for its text."""
    verdict = judge_part(part, policy.places)
    redirected = bool(part.piece.redirects)
    by_mode = in_mode(verdict, policy, quiet=not part.piece.words and not redirected)
    if not part.piece.words:
        return by_mode
    return ruled("terminal", texts_of(part), by_mode, policy, kept=redirects_of(part, policy))


def redirects_of(part: Part, policy: Policy) -> Verdict:
    """What a rule for the command does not cover: variables set for it and files it is tied to."""
    bare = Part(part.piece.without_words(), "", part.unknown)
    return in_mode(judge_part(bare, policy.places), policy, quiet=True)


def texts_of(part: Part) -> tuple[str, ...]:
    """How rules may name a part: as written, and with the bare name of its program."""
    text = part.piece.text()
    bare = " ".join([part.piece.program.text.rpartition("/")[2], *(word.text for word in part.piece.arguments)])
    return (text, bare) if bare != text else (text,)


def judge_file(tool: str, path: str, policy: Policy) -> Verdict:
    """A tool that reads or writes one path."""
    write = PATHS[tool]
    place = policy.workdir / expanded(path, policy)
    verdict = judge_path(place, write, policy.places)
    by_mode = in_mode(verdict, policy, quiet=not write)
    return ruled(tool, (str(place), path), by_mode, policy)


def judge_typing(arguments: Mapping[str, Any], policy: Policy) -> Verdict:
    """Looking after background commands is harmless; typing into one is a command of its own."""
    if arguments.get("action") != "write":
        return ruled("process", (str(arguments.get("action", "")),), Allow(), policy)
    typed = judge_command(str(arguments.get("data", "")), policy)
    if isinstance(typed, Deny) or policy.mode == "off":
        return typed
    return ruled("process", ("write",), Ask("it types into a running program", "typing"), policy)


def in_mode(verdict: Verdict, policy: Policy, quiet: bool) -> Verdict:
    """What the mode makes of a verdict: `off` asks nothing, `manual` asks about every effect."""
    if isinstance(verdict, Ask) and (policy.mode == "off" or policy.isolated):
        return Allow(verdict.why, verdict.rule)
    if isinstance(verdict, Allow) and policy.mode == "manual" and not quiet:
        return Ask("every effect asks in manual mode", "manual")
    return verdict


def ruled(tool: str, targets: Iterable[str], verdict: Verdict, policy: Policy, kept: Verdict | None = None) -> Verdict:
    """The last rule of the person that matches decides, but never against a deny that is built in."""
    if isinstance(verdict, Deny):
        return verdict
    names = tuple(targets)
    for rule in reversed(policy.rules):
        if fnmatch.fnmatchcase(tool, rule.action or "*") and any(matches(rule, name) for name in names):
            why = f"a rule of yours: {rule.action} {rule.target} is {rule.effect}"
            made: Mapping[str, Verdict] = {
                "allow": strictest([kept or Allow(), Allow(why, "yours")]),
                "ask": Ask(why, "yours"),
                "deny": Deny(why, "yours"),
            }
            return made[rule.effect]
    return verdict


def matches(rule: Rule, text: str) -> bool:
    """Whether a rule names a text; rules that restrict also hold for the same command with more words."""
    target = rule.target or "*"
    if fnmatch.fnmatchcase(text, target):
        return True
    return rule.effect != "allow" and fnmatch.fnmatchcase(text, f"{target} *")


def expanded(path: str, policy: Policy) -> str:
    """`~` is the person's folder."""
    return f"{policy.person}{path[1:]}" if path == "~" or path.startswith("~/") else path


def grant_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """What a grant for longer than once is bound to: the tool and the exact command, path or arguments."""
    what = arguments.get("command") or arguments.get("path") or repr(sorted(arguments.items()))
    where = arguments.get("workdir") or ""
    return f"{tool}: {what}" + (f" (in {where})" if where else "")


def explain(command: str, policy: Policy) -> tuple[Verdict, tuple[tuple[str, Verdict], ...]]:
    """The verdict on a command and on each of its parts, for `assistant approvals check`."""
    found = parts(command, Person(policy.person, policy.workdir))
    judged = [(part.piece.text() or part.unknown or "(redirection)", judge_one(part, policy)) for part in found]
    return strictest(verdict for _text, verdict in judged), tuple(judged)
