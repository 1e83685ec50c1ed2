"""What a session's requests begin with, and what each message of the person brings along unseen."""

from datetime import datetime
from zoneinfo import ZoneInfo

import prompts
from assistant.core.messages import Message
from assistant.runtime.parts import Parts, Run
from assistant.store.sessions import Prompt
from skills_store.values import Origin

TOLD_SKILLS = 500
"""Up to so many skills a running session is told of new and changed ones; beyond, it finds them by searching."""
TOLD_AT_ONCE = 20
"""More news than that is a library brought in, and is found by searching."""
TITLE_LENGTH = 48


def prompt_of(parts: Parts, run: Run, rebuild: bool = False) -> Prompt:
    """The session's stored beginning; built once, and again after compaction, an upgrade, a change of tool ability."""
    able = parts.models(run.model).tools_supported
    key = f"{parts.version}:{'tools' if able else 'plain'}"
    found = parts.sessions.prompt(run.session_id)
    if found is not None and found.key == key and not rebuild:
        return found
    built = build(parts, run, key) if able else build_small(parts, key)
    with parts.database.writing() as tx:
        parts.sessions.set_prompt(tx, run.session_id, built)
    return built


def build(parts: Parts, run: Run, key: str) -> Prompt:
    """The whole briefing for a model that can call tools."""
    session = parts.sessions.row(run.session_id)
    names = [tool.name for tool in parts.tools]
    system = prompts.render(
        "system",
        soul=parts.soul(),
        tools=names,
        memory=remembered(parts, "memory"),
        user=remembered(parts, "user"),
        skills=parts.library.index(about=run.input),
        folder=session["workdir"] or str(parts.workdir),
        platform=parts.platform,
        date=f"{local(parts):%A %-d %B %Y}",
        instructions=session["instructions"],
    )
    return Prompt(system, tuple(tool.schema() for tool in parts.tools), key, skills_now(parts))


def remembered(parts: Parts, target: str) -> tuple[str, ...]:
    """The entries of a memory file that the settings keep."""
    return parts.memory.entries(target) if target in parts.memory.settings.targets else ()


def build_small(parts: Parts, key: str) -> Prompt:
    """The short briefing for a model without tools."""
    return Prompt(prompts.render("system_small", date=f"{local(parts):%-d %B %Y}"), (), key, {})


def said_by_person(parts: Parts, run: Run, text: str) -> tuple[Message, dict[str, str]]:
    """The person's message as it is shown and as it is sent, and the skills the session then knows of."""
    prompt = prompt_of(parts, run)
    if not prompt.tools:
        return Message("user", text, origin=Origin.YOU), prompt.skills_seen
    now = skills_now(parts)
    news = [f"- {name}: {what}" for name, what in now.items() if prompt.skills_seen.get(name) != what]
    told = [*parts.background.news(run.session_id), *instructions_of(parts, run)]
    when = f"{local(parts):%A %-d %B %Y, %H:%M}"
    note = prompts.render("note", now=when, skills=news if len(news) <= TOLD_AT_ONCE else [], ended=told)
    return Message("user", text, origin=Origin.YOU, sent=f"{text}\n\n{note}"), now


def instructions_of(parts: Parts, run: Run) -> list[str]:
    """What came with this run beside what the session was begun with: its prompt stands, so the message carries it."""
    wanted = parts.runs.row(run.id)["instructions"]
    begun = parts.sessions.row(run.session_id)["instructions"]
    return [f"Instructions for this turn: {wanted}"] if wanted and wanted != begun else []


def skills_now(parts: Parts) -> dict[str, str]:
    """Name and description of every skill that is offered; nothing for a library too large to be told one by one."""
    offered = parts.library.offered()
    return offered if len(offered) <= TOLD_SKILLS else {}


def local(parts: Parts) -> datetime:
    """Now, in the person's zone."""
    zone = parts.settings.timezone
    return parts.clock().astimezone(ZoneInfo(zone) if zone else None)


def title_from(text: str) -> str:
    """A title for a session from the first words of the person, cut at a word."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(first) <= TITLE_LENGTH:
        return first
    cut = first[:TITLE_LENGTH].rsplit(" ", 1)[0]
    return f"{cut}…"
