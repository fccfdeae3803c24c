"""The file: opened once, checked, brought up to date, loaded; then written in transactions by whoever has it.

A ``Store`` belongs to one thread at a time (first the one that opens and loads it, then the ``Writer``'s) and to one process
(``lock``). SQLite's write-ahead log holds what has been committed; ``tidy`` moves it into the database, so the log stays about
as long as ``LOG_PAGES`` and the longest transaction.
"""

import gc
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import msgspec

from weft.broker.records import Kept
from weft.core.machine import Record
from weft.runtime.store import schema, tables
from weft.runtime.store.changes import Changes
from weft.runtime.store.errors import StoreError, damaged, translated, translated_system
from weft.runtime.store.lock import Lock

FILE = "store.db"
PAGE_BYTES = 4096
LOG_PAGES = 2_000
"""About so many pages written since the last time, and the log is moved into the database."""
LOG_PAGES_FORCED = 16_000
"""SQLite does it by itself then, within a commit: only if our estimate is far off."""
LOG_BYTES_MAX = 64 * 1024 * 1024
"""A log that one large transaction has made longer is cut back to this."""
CACHE_KIB = 32 * 1024


class Durability(StrEnum):
    """What has happened before a client hears that its message is taken (docs/STORE.md)."""

    ALWAYS = "always"
    INTERVAL = "interval"
    NONE = "none"


SYNCHRONOUS = {Durability.ALWAYS: "FULL", Durability.INTERVAL: "NORMAL", Durability.NONE: "OFF"}
"""https://www.sqlite.org/pragma.html#pragma_synchronous: with a write-ahead log, FULL syncs it at every commit, NORMAL only
before it is moved into the database, OFF never."""

Migrations = Sequence[schema.Migration]
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done and how much there is (0: unknown)."""


class Store:
    """Made by ``open``."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: Lock, versions: tuple[int, int]) -> None:
        self.folder = folder
        self.path = folder / FILE
        self.connection = connection
        self.migrated_from, self.schema = versions
        self.dropped: dict[str, int] = {}
        """What ``load`` found that nothing names, and removed."""
        self._lock = lock
        self._pages = 0
        self._log = -1

    @classmethod
    def open(
        cls,
        folder: Path,
        durability: Durability = Durability.ALWAYS,
        owner: str = "weft broker",
        migrations: Migrations = schema.MIGRATIONS,
        check: bool = True,
    ) -> "Store":
        """The store in ``folder``, made if there is none. ``StoreError`` if it cannot be used, in one line."""
        path = folder / FILE
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise translated_system(error, folder) from None
        lock = Lock.take(folder, owner)
        connection: sqlite3.Connection | None = None
        try:
            connection = connect(path, durability)
            with translating(path):
                if check:
                    quick_check(connection, path)
                versions = schema.migrate(connection, path, migrations)
                if versions[0] == 0:  # a new file: its name and its folder's must survive a power loss as well
                    sync_folder(folder)
                    sync_folder(folder.parent)
        except BaseException:
            if connection is not None:
                connection.close()
            lock.release()
            raise
        return cls(folder, connection, lock, versions)

    def load(self) -> Kept:
        """Everything kept. What nothing names goes from the file too, so that file and answer are the same."""
        with translating(self.path), without_collector():
            kept = tables.load(self.connection)
        if kept is not None:
            self.dropped = {}
            return kept
        with self.transaction():
            self.dropped = tables.drop_orphans(self.connection)
        with translating(self.path), without_collector():
            kept = tables.load(self.connection)
        if kept is None:
            raise damaged(self.path, "entries that nothing names cannot be removed")
        return kept

    def write(self, records: Sequence[Record]) -> None:
        """One transaction: all of them, or none and an error."""
        changes = Changes()
        changes.add(records)
        self.apply(changes)

    def apply(self, changes: Changes) -> None:
        """The same for what has been gathered already. Committed, and with ``always`` on the disk, when this returns."""
        with self.transaction():
            tables.apply(self.connection, changes)
        self._pages += changes.size + changes.bytes // PAGE_BYTES

    def sync(self) -> None:
        """What has been committed so far reaches the disk: durability ``interval`` calls it from time to time."""
        try:
            if self._log < 0:
                # The log is one file as long as the database is open. SQLite locks others, so closing it loses none.
                self._log = os.open(self.path.with_name(FILE + "-wal"), os.O_RDWR | os.O_CLOEXEC)
            getattr(os, "fdatasync", os.fsync)(self._log)
        except OSError as error:
            raise translated_system(error, self.path) from None

    def tidy(self, now: bool = False) -> None:
        """Move the log into the database if it has grown long, or ``now``."""
        if self._pages < (1 if now else LOG_PAGES):
            return
        with translating(self.path):
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._pages = 0

    def close(self) -> None:
        """The log goes into the database and its file away; the lock ends."""
        if self._log >= 0:
            os.close(self._log)
            self._log = -1
        try:
            with translating(self.path):
                self.connection.close()
        finally:
            self._lock.release()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Committed if its body succeeds, rolled back if not."""
        with translating(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                # Some errors have rolled back by themselves (https://www.sqlite.org/lang_transaction.html, 3.1).
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def connect(path: Path, durability: Durability = Durability.ALWAYS) -> sqlite3.Connection:
    """A connection with our settings, to a file that only its owner may read: it holds everybody's messages."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise translated_system(error, path) from None
    with translating(path):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            schema.version_of(connection, path)  # before anything is changed: it may be somebody else's
            connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES_FORCED}")
            connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES_MAX}")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA secure_delete = FAST")
            connection.execute("PRAGMA trusted_schema = OFF")  # what a tampered file defines is not run
        except BaseException:
            connection.close()
            raise
    return connection


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def quick_check(connection: sqlite3.Connection, path: Path) -> None:
    """Every page is read and its structure looked at; contents against indexes is for ``maintenance.check``."""
    problem: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise damaged(path, problem)


@contextmanager
def without_collector() -> Iterator[None]:
    """A million rows become a million objects and no cycle: looking for some meanwhile takes half as long again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """SQLite's errors, and rows that do not decode, become ``StoreError``."""
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, path) from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise damaged(path, str(error)) from None
    except StoreError:
        raise
    except OSError as error:
        raise translated_system(error, path) from None
