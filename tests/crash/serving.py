"""A server that kills itself at a chosen point: `python -m tests.crash.serving HOME URL POINT`.

When it ends in order it prints the number of points passed.
"""

import os
import sys

from assistant.server.process import Listening, only_server, serve
from assistant.wiring.build import Working
from tests.crash.dying import assembled, passed


def main() -> None:
    assembly = assembled(*sys.argv[1:3])
    lock = only_server(assembly.home)
    serve(assembly.home, Working(assembly, only_own=False), Listening("127.0.0.1", 0), lambda words: None)
    print(passed(), flush=True)
    lock.release()
    os._exit(0)


main()
