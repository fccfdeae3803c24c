"""The tables, and the way from each version of them to the next.

A database is made by running every migration from the first, so a new file and a migrated one are the same. A migration is one
transaction with its version number: a crash in the middle leaves the version before. Published ones are never edited; a new
version is a new line at the end of ``MIGRATIONS``.
"""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from weft.runtime.store.errors import StoreBroken

APPLICATION_ID = 0x77656674
"""``weft`` in ASCII: how `file` and we know our own (https://www.sqlite.org/fileformat.html, offset 68)."""

Migration = Callable[[sqlite3.Connection], None]


def _first(connection: sqlite3.Connection) -> None:
    """Version 1. The fields of ``broker.records``; WITHOUT ROWID where the key is text, so that a row is stored once."""
    for table in (
        "session (client_id TEXT PRIMARY KEY, expiry_s REAL NOT NULL, ends_at REAL, user TEXT) WITHOUT ROWID",
        """subscription (client_id TEXT, filter TEXT, qos INTEGER NOT NULL, no_local INTEGER NOT NULL,
             retain_as_published INTEGER NOT NULL, retain_handling INTEGER NOT NULL, identifier INTEGER NOT NULL,
             given TEXT NOT NULL, PRIMARY KEY (client_id, filter)) WITHOUT ROWID""",
        """message (number INTEGER PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL, qos INTEGER NOT NULL,
             retain INTEGER NOT NULL, properties BLOB NOT NULL, expires_at REAL, publisher TEXT NOT NULL, user TEXT)""",
        """queue (client_id TEXT, position INTEGER, number INTEGER NOT NULL, qos INTEGER NOT NULL, retain INTEGER NOT NULL,
             identifiers TEXT NOT NULL, packet_id INTEGER NOT NULL, PRIMARY KEY (client_id, position)) WITHOUT ROWID""",
        "incoming (client_id TEXT, packet_id INTEGER, PRIMARY KEY (client_id, packet_id)) WITHOUT ROWID",
        "retained (topic TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
        """will (client_id TEXT PRIMARY KEY, topic TEXT NOT NULL, payload BLOB NOT NULL, qos INTEGER NOT NULL,
             retain INTEGER NOT NULL, properties BLOB NOT NULL, delay_s REAL NOT NULL, due_at REAL, user TEXT) WITHOUT ROWID""",
    ):
        connection.execute(f"CREATE TABLE {table}")


MIGRATIONS: tuple[Migration, ...] = (_first,)
"""The first makes version 1 out of nothing, the second makes 2 out of 1, and so on."""


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """The file's schema version, 0 for an empty file; refuses what is not ours."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreBroken(f"{path}: this is an SQLite file, but not a store of weft")
    return version


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> tuple[int, int]:
    """Bring the file to the newest version; answers the versions before and after."""
    before = version_of(connection, path)
    if before > len(migrations):
        raise StoreBroken(
            f"{path}: the store has schema {before} and this weft knows {len(migrations)}; use the newer weft that wrote it"
        )
    for version in range(before, len(migrations)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            migrations[version](connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return before, len(migrations)
