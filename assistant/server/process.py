"""The server as a process: one a home, found by `server.json`, ended in order."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_urlsafe
from types import FrameType
from typing import Protocol

import uvicorn
from filelock import FileLock, Timeout

from assistant.errors import Conflict, PersonMustAct
from assistant.home.place import Home
from assistant.home.running import Running, forget_running, read_running, write_running
from assistant.runtime.executors import Executor
from assistant.runtime.local import LocalRuns
from assistant.runtime.parts import Parts
from assistant.runtime.workers import Workers
from assistant.server.app import build
from assistant.server.feeds import Feeds
from assistant.server.gate import THIS_MACHINE, Door
from assistant.server.heartbeat import Heartbeat
from assistant.server.service import Service

KEY_LENGTH = 16
"""Characters that a key must have before other machines may come in."""
CONNECTION_SECONDS = 2
"""How long open connections may take to end."""
KEEP_ALIVE_SECONDS = 75


class House(Protocol):
    """The process that runs turns, as the wiring builds it."""

    parts: Parts
    runs: LocalRuns
    workers: Workers
    executor: Executor


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen, and for whom."""

    host: str
    port: int
    explicit: bool = False
    """The person named this very port: another one will not do."""
    key: str = ""
    """A key besides the one that is made at each start."""


def check(listening: Listening) -> None:
    """Other machines come in only with a key that cannot be guessed."""
    if listening.host not in THIS_MACHINE and len(listening.key) < KEY_LENGTH:
        raise PersonMustAct(
            f"listening on {listening.host} lets other machines in, so it needs a key of {KEY_LENGTH} characters or "
            "more: put one into the variable that server.api_key_env names, or use --host 127.0.0.1"
        )


def only_server(home: Home) -> FileLock:
    """Make this process the home's server until it dies; Conflict when there is one.

    The lock is never given back by hand: while it is held, a thread of this process may still work.
    """
    home.run.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home.run / "server.lock", is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        found = read_running(home)
        where = f" at {found.url} (pid {found.pid})" if found else ""
        raise Conflict(f"a server of {home.root} runs already{where}: `assistant down` ends it") from None
    return lock


def bind(listening: Listening) -> socket.socket:
    """A listening socket; when the port is taken a free one, unless the person named it."""
    try:
        return bound(listening.host, listening.port)
    except OSError as fault:
        if listening.explicit or listening.port == 0:
            raise PersonMustAct(
                f"cannot listen on {listening.host} port {listening.port}: {fault.strerror or fault}"
            ) from fault
    return bound(listening.host, 0)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(2048)
    except OSError:
        sock.close()
        raise
    return sock


def serve(home: Home, house: House, listening: Listening, say: Callable[[str], None]) -> None:
    """Answer until SIGTERM or SIGINT; runs that do not end soon are left for the next server to go on with."""
    with serving(home, house, listening, say) as server:
        server.run(sockets=[server.sock])


@contextmanager
def serving(home: Home, house: House, listening: Listening, say: Callable[[str], None]) -> Iterator["Server"]:
    """A server that can be found; whoever enters runs it."""
    check(listening)
    sock = bind(listening)
    token = token_urlsafe(32)
    port = sock.getsockname()[1]
    door = Door(
        tuple(key for key in (token, listening.key) if key), listening.host, house.parts.settings.server.allowed_hosts
    )
    service = Service(house.parts, house.runs, door, Feeds(house.parts.runs, house.parts.bell))
    running = Running(os.getpid(), port, token, house.parts.version, listening.host)
    with Heartbeat(house.parts, house.executor, house.workers.guarded):
        write_running(home, running)
        try:
            say(f"listening on {running.url}" + ("" if port == listening.port else f" ({listening.port} is taken)"))
            yield Server(service, sock)
        finally:
            house.workers.drain()
            forget_running(home, running.pid)
            service.close()


class Server(uvicorn.Server):
    """uvicorn, ended by our own signals: streams are closed first, and a second signal does not wait."""

    def __init__(self, service: Service, sock: socket.socket) -> None:
        super().__init__(
            uvicorn.Config(
                build(service),
                log_config=None,
                access_log=False,
                lifespan="off",
                http="h11",
                ws="none",
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=CONNECTION_SECONDS,
            )
        )
        self.service = service
        self.sock = sock

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGTERM and SIGINT end the server; without the main thread nobody can send them."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {kind: signal.signal(kind, self.leave) for kind in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def leave(self, number: int = 0, frame: FrameType | None = None) -> None:
        """End in order; at once when asked again."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Streams end first, so that nothing is waited for."""
        self.service.feeds.close()
        await super().shutdown(sockets)
