"""SQLite's and the system's errors, told to an operator."""

import errno
import sqlite3
from pathlib import Path

import pytest

from weft.runtime.store.errors import StoreBroken, StoreBusy, StoreError, StoreFull, translated, translated_system

HERE = Path("data/store.db")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_CORRUPT, StoreBroken),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreBroken),
        (sqlite3.SQLITE_NOTADB, StoreBroken),
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreError),
        (0, StoreError),
    ],
)
def test_each_class_of_error_has_its_kind(code, kind):
    error = sqlite3.OperationalError("why")
    error.sqlite_errorcode = code
    told = translated(error, HERE)
    assert type(told) is kind
    assert str(told).startswith("data/store.db: ")
    assert "\n" not in str(told)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, StoreFull), (errno.EDQUOT, StoreFull), (errno.EACCES, StoreError)],
)
def test_the_systems_errors_too(number, kind):
    assert type(translated_system(OSError(number, "why"), HERE)) is kind
