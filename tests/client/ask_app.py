"""One scripted story asked in a real terminal:  ask_app.py FOLDER STORY."""

import sys
import time
from shutil import get_terminal_size

from assistant.client.ask import AtTerminal, ask_once
from assistant.client.page import Page
from assistant.client.paint import Paint
from assistant.client.render import TerminalScreen
from assistant.core.ports import Start
from tests.client.chat_app import Stories


def main():
    page = Page(Paint(lambda: get_terminal_size().columns), time.monotonic)
    screen = TerminalScreen(sys.stdout, page, get_terminal_size, time.monotonic)
    outcome = ask_once(Stories(), Start(sys.argv[2]), screen, AtTerminal(screen, sys.stdin, sys.stderr))
    print(f"[{outcome.status} {outcome.exit_code}]")


main()
