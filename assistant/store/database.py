"""One SQLite file: opened, migrated, read and written here and nowhere else."""

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from assistant.core.ports import Clock
from assistant.errors import PersonMustAct, TryLater

Tx = sqlite3.Connection
"""A connection inside a writing transaction."""
Row = sqlite3.Row
VERSION = 1
"""The newest migration; also the file's `user_version`, which recognises an up-to-date file without the library."""
LOCK_SECONDS = 30.0
"""How long another program may hold the database before we say so."""
KEPT_OPEN = 8
"""Connections that wait for the next thread: opening one costs more than most of what is asked of it."""


class Database:
    """The home's database: one connection a thread, every write `BEGIN IMMEDIATE`, durable when it returns."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.clock = clock
        self._local = threading.local()
        self._open: dict[int, sqlite3.Connection] = {}
        self._free: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._turn = threading.Lock()

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            with self._guard:
                self._forget_dead_threads()
                free = self._free.pop() if self._free else None
            found = self._local.connection = free or connect(self.path)
            with self._guard:
                self._open[threading.get_ident()] = found
        return found

    def _forget_dead_threads(self) -> None:
        alive = {thread.ident for thread in threading.enumerate()}
        for ident in [ident for ident in self._open if ident not in alive]:
            self._open.pop(ident).close()

    def release(self) -> None:
        """Give this thread's connection back; a thread that ends, or has nothing to ask for a while, calls it."""
        found = getattr(self._local, "connection", None)
        if found is None:
            return
        del self._local.connection
        with self._guard:
            self._open.pop(threading.get_ident(), None)
            keep = len(self._free) < KEPT_OPEN and not found.in_transaction
            if keep:
                self._free.append(found)
        if not keep:
            found.close()

    def close(self) -> None:
        """Close every connection."""
        with self._guard:
            for connection in (*self._open.values(), *self._free):
                connection.close()
            self._open.clear()
            self._free.clear()
        self._local = threading.local()

    def execute(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> sqlite3.Cursor:
        """Run one reading statement."""
        return self.connection.execute(sql, values)

    def all(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        """Every row of a reading statement."""
        return self.execute(sql, values).fetchall()

    def one(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Row | None:
        """The first row, if any."""
        row: Row | None = self.execute(sql, values).fetchone()
        return row

    @contextmanager
    def writing(self) -> Iterator[Tx]:
        """One transaction: all of it is durable when the body ends, none of it when the body raises.

        Threads of this process take turns at a lock: SQLite's own way of waiting sleeps, longer each time.
        """
        if not self._turn.acquire(timeout=LOCK_SECONDS):
            raise TryLater(f"{self.path} was busy for {LOCK_SECONDS:.0f} s: try again")
        try:
            yield from self._transaction()
        finally:
            self._turn.release()

    def _transaction(self) -> Iterator[Tx]:
        connection = self.connection
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as fault:
            raise TryLater(f"{self.path} is locked by another program: close it, then try again ({fault})") from fault
        try:
            yield connection
            connection.execute("COMMIT")
        except sqlite3.OperationalError as fault:
            undo(connection)
            raise TryLater(f"{self.path} cannot be written ({fault}); nothing of this step was kept") from fault
        except BaseException:
            undo(connection)
            raise

    def attempt(self, tx: Tx, write: Callable[[], None]) -> sqlite3.Error | None:
        """Part of a transaction that may fail alone: its fault undoes it and is handed back."""
        tx.execute("SAVEPOINT attempt")
        try:
            write()
        except sqlite3.Error as fault:
            tx.execute("ROLLBACK TO attempt")
            return fault
        finally:
            tx.execute("RELEASE attempt")
        return None

    def version(self) -> int:
        """Changes whenever another connection, of any process, has written."""
        row = self.execute("PRAGMA data_version").fetchone()
        return int(row[0])

    def now(self) -> str:
        """The clock's time as stored."""
        return self.clock().isoformat()


def undo(connection: sqlite3.Connection) -> None:
    """Take an unfinished transaction back; some faults have done so already."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def connect(path: Path) -> sqlite3.Connection:
    """A connection with the settings every connection has."""
    connection = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA cache_size=-8000")
    return connection


def open_database(path: Path, clock: Clock) -> Database:
    """Open the file, bringing it up to date first; PersonMustAct for one that is newer than this program or damaged."""
    database = Database(path, clock)
    try:
        found = database.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as fault:
        raise PersonMustAct(
            f"{path} cannot be read as a database ({fault}). Nothing was changed. "
            "Move it away and `assistant restore` a backup, or start with a new one."
        ) from fault
    if found > VERSION:
        database.close()
        raise PersonMustAct(
            f"{path} was written by a newer version (its format is {found}, this program knows {VERSION}). "
            "Nothing was changed; update the program with `pip install -U hermes-assistant`."
        )
    if found < VERSION:
        migrate(database, found)
    return database


def migrate(database: Database, found: int) -> None:
    """Apply the missing steps; an existing file is copied first, beside itself.  The caller holds the home lock."""
    from sqlite_utils import Database as Tables

    from assistant.store.schema import migrations

    if found:
        copy_to(database.path, database.path.with_name(f"{database.path.name}.before-{VERSION}"))
    migrations.apply(Tables(database.connection))
    database.execute(f"PRAGMA user_version={VERSION}")


def copy_to(path: Path, target: Path) -> None:
    """A consistent copy of a live database, by SQLite's own backup."""
    draft = target.with_name(target.name + ".draft")
    draft.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(draft)) as sink:
        source.backup(sink)
    shutil.move(draft, target)


def integrity(path: Path) -> list[str]:
    """What is wrong with the file: its pages, and the search index against the messages; empty when sound."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            pages = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            # The check above does not look into the search index; reading all of its terms does.
            connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'words', 'instance')")
            connection.execute("SELECT count(*) FROM temp.terms").fetchone()
            missing = connection.execute(
                "SELECT count(*) FROM messages m WHERE session_id IS NOT NULL AND role IN ('user', 'assistant')"
                " AND text != '' AND NOT EXISTS (SELECT 1 FROM words w WHERE w.rowid = m.id)"
            ).fetchone()[0]
        except sqlite3.DatabaseError as fault:
            return [str(fault)]
    return [page for page in pages if page != "ok"] + (
        [f"{missing} messages are not in the search index"] if missing else []
    )
