"""Event streams: one feed a followed run, shared by all its readers; whoever falls behind reads from the database.

A feed keeps the newest frames within a fixed number of bytes.  A reader holds nothing but its place, so a slow one
costs no memory and holds nobody up.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from assistant.core.events import LAST, ReviewQueued, TurnQueued
from assistant.runtime.bell import Bell
from assistant.store.database import Row
from assistant.store.runs import Runs

T = TypeVar("T")
READING = 4
"""Threads that read events."""
PAGE_BYTES, TAIL_BYTES = 128_000, 512_000
KEEP_ALIVE_SECONDS = 15.0
LOOK_SECONDS = 0.5
"""How often a feed looks for events that another process stored."""
KEEP_ALIVE = b": still here\n\n"
LAST_TYPES = frozenset(kind.type for kind in LAST)
OWN_RUN_ID = frozenset({ReviewQueued.type, TurnQueued.type})
"""Events whose own `run_id` names another run; it takes the place of the stream's."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event as it is sent."""

    seq: int
    type: str
    data: str
    """JSON of an object."""
    bytes: bytes

    @property
    def last(self) -> bool:
        """Whether nothing comes after it."""
        return self.type in LAST_TYPES

    @property
    def code(self) -> str:
        """What kind of fault ended a failed run."""
        return str(json.loads(self.data).get("code", ""))


def frame_of(run_id: str, session_id: str, row: Row) -> Frame:
    """An event's row as a frame."""
    head = {"run_id": run_id, "session_id": session_id, "seq": row["seq"], "type": row["type"], "at": row["at"]}
    if row["type"] in OWN_RUN_ID:
        data = json.dumps(head | json.loads(row["data"]), ensure_ascii=False)
    else:
        own = row["data"][1:]
        data = json.dumps(head)[:-1] + (", " if own != "}" else "") + own
    return Frame(row["seq"], row["type"], data, f"id: {row['seq']}\nevent: {row['type']}\ndata: {data}\n\n".encode())


class Waker:
    """Sets an event of the loop from any thread, once however often it is rung meanwhile."""

    def __init__(self) -> None:
        self.heard = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._rung = False

    def set(self) -> None:
        """Ring."""
        if not self._rung:
            self._rung = True
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self.heard.set)

    async def wait(self, seconds: float) -> bool:
        """Until rung, or for so long; whether it was rung."""
        try:
            await asyncio.wait_for(self.heard.wait(), seconds)
            return True
        except TimeoutError:
            return False

    def clear(self) -> None:
        """Listen anew."""
        self._rung = False
        self.heard.clear()


class Feed:
    """The newest frames of one run."""

    def __init__(self, run_id: str, session_id: str, newest: int, over: bool) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.base = self.newest = newest
        """The tail holds what comes after `base`, up to `newest`."""
        self.over = over
        self.readers = 0
        self.tail: deque[Frame] = deque()
        self._bytes = 0
        self._growth = asyncio.Event()

    def add(self, frames: list[Frame]) -> None:
        """Take new frames in, let the oldest go, wake everybody."""
        for frame in frames:
            self.tail.append(frame)
            self._bytes += len(frame.bytes)
            self.newest = frame.seq
            self.over = self.over or frame.last
        while self._bytes > TAIL_BYTES:
            oldest = self.tail.popleft()
            self._bytes -= len(oldest.bytes)
            self.base = oldest.seq
        self.wake()

    def wake(self) -> None:
        """Let every reader look again."""
        grown, self._growth = self._growth, asyncio.Event()
        grown.set()

    def since(self, after: int) -> list[Frame] | None:
        """What comes after a number; None when the tail does not reach back so far."""
        if after < self.base:
            return None
        behind = self.newest - after
        return [] if behind <= 0 else list(self.tail)[-behind:]

    async def grown(self, seconds: float) -> bool:
        """Until something new is there; False when nothing came for so long."""
        try:
            await asyncio.wait_for(self._growth.wait(), seconds)
            return True
        except TimeoutError:
            return False


class Feeds:
    """All runs that somebody follows."""

    def __init__(self, runs: Runs, bell: Bell) -> None:
        self.runs = runs
        self.bell = bell
        self.reading = ThreadPoolExecutor(READING, "events")
        self._feeds: dict[str, Feed] = {}
        self._pumps: dict[str, asyncio.Task[None]] = {}
        self.closing = False

    def close(self) -> None:
        """End every stream."""
        self.closing = True
        for feed in self._feeds.values():
            feed.wake()
        for pump in self._pumps.values():
            pump.cancel()
        self.reading.shutdown(wait=False, cancel_futures=True)

    async def known(self, run_id: str) -> None:
        """NotFound for an unknown run, before anything is sent."""
        await self._read(lambda: self.runs.row(run_id))

    async def frames(self, run_id: str, after: int = 0) -> AsyncIterator[list[Frame]]:
        """The frames of a run past a number, as they come, to its last one; an empty list after a long silence."""
        async with self._joined(run_id) as feed:
            while not self.closing:
                found = feed.since(after)
                ended = feed.over
                if found is None:
                    found = await self._page(feed, after)
                if found:
                    after = found[-1].seq
                    yield found
                    if found[-1].last:
                        return
                elif ended:
                    return
                elif not await feed.grown(KEEP_ALIVE_SECONDS):
                    yield []

    async def sse(self, run_id: str, after: int = 0) -> AsyncIterator[bytes]:
        """The same as a stream of server-sent events."""
        async for frames in self.frames(run_id, after):
            yield b"".join(frame.bytes for frame in frames) or KEEP_ALIVE

    @asynccontextmanager
    async def _joined(self, run_id: str) -> AsyncIterator[Feed]:
        feed = self._feeds.get(run_id) or await self._open(run_id)
        feed.readers += 1
        try:
            yield feed
        finally:
            feed.readers -= 1
            if feed.readers == 0 and self._feeds.get(run_id) is feed:
                del self._feeds[run_id]
                self._pumps.pop(run_id).cancel()

    async def _open(self, run_id: str) -> Feed:
        row = await self._read(lambda: self.runs.row(run_id))
        if (known := self._feeds.get(run_id)) is not None:
            return known
        feed = self._feeds[run_id] = Feed(run_id, row["session_id"], row["last_event"], row["finished"] is not None)
        self._pumps[run_id] = asyncio.create_task(self._pump(feed))
        return feed

    async def _pump(self, feed: Feed) -> None:
        """Bring new events into the feed until the run is over or nobody reads."""
        waker = Waker()
        with self.bell.waking(feed.run_id, waker):
            while not feed.over:
                waker.clear()
                while frames := await self._page(feed, feed.newest):
                    feed.add(frames)
                if not feed.over and not await waker.wait(LOOK_SECONDS):
                    await self._check(feed)

    async def _check(self, feed: Feed) -> None:
        """A run that was deleted tells nothing any more."""
        rows = await self._read(lambda: self.runs.database.all("SELECT 1 FROM runs WHERE id = ?", (feed.run_id,)))
        if not rows:
            feed.over = True
            feed.wake()

    async def _page(self, feed: Feed, after: int) -> list[Frame]:
        rows = await self._read(lambda: self.runs.told_page(feed.run_id, after, PAGE_BYTES))
        return [frame_of(feed.run_id, feed.session_id, row) for row in rows]

    async def _read(self, look: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.reading, look)
