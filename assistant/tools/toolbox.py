"""Every tool the model may see, in an order that never changes by itself: providers cache by prefix."""

from assistant.tools.declare import Tool
from assistant.tools.files import patch, read_file, write_file
from assistant.tools.memory import memory
from assistant.tools.recall import clarify, session_search
from assistant.tools.search import search_files
from assistant.tools.skills import skill_manage, skill_view, skills_list
from assistant.tools.terminal import process, terminal
from assistant.tools.todo import todo

ALL: tuple[Tool, ...] = (
    terminal,
    process,
    read_file,
    write_file,
    patch,
    search_files,
    todo,
    memory,
    session_search,
    skills_list,
    skill_view,
    skill_manage,
    clarify,
)
