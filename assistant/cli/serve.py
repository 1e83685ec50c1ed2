"""`assistant serve`: the server of this home, in the foreground."""

import logging
import os
import sys
from typing import Annotated

import typer

from assistant.cli.given import alone, given_of
from assistant.server.process import Listening, check, only_server
from assistant.server.process import serve as serve_runs


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Else server.host.")] = "",
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, metavar="N", help="Else server.port.")] = None,
) -> None:
    """Answer over HTTP until Ctrl-C or SIGTERM."""
    from assistant.wiring.build import Working

    given = given_of(context)
    with given.assembly() as assembly:
        settings = assembly.settings.server
        key = assembly.environ.get(settings.api_key_env, "")
        listening = Listening(host or settings.host, settings.port if port is None else port, port is not None, key)
        check(listening)
        lock = only_server(assembly.home)
        working = Working(assembly, only_own=False)
        serve_runs(assembly.home, working, listening, given.note)
        given.note("the server has ended")
        leave(working.workers.busy())
        working.__exit__()
        lock.release()


def leave(parked: int) -> None:
    """Runs that were parked end with the process, as they stand: its lock must not be free while a thread works on."""
    if parked:
        sys.stdout.flush()
        sys.stderr.flush()
        logging.shutdown()
        os._exit(0)


commands = {"serve": alone(serve)}
