"""Why a store cannot be used, and how SQLite's errors become one line each.

The command line gives each class an exit code of its own (``cli/exits.py``): ``StoreFull`` the one of a full disk, the others
the one of an unusable store. Importing this costs nothing, since every command's end looks at it.
"""

import errno
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""The numbers by which an operating system says that there is no room."""


class StoreError(Exception):
    """The store cannot be used now; the text says which file, why, and what to do."""


class StoreBroken(StoreError):
    """It will not become usable by itself: damaged, not ours, or written by a newer weft."""


class StoreBusy(StoreError):
    """Another process has it."""


class StoreFull(StoreError):
    """No space is left where it lies."""


def translated(error: "sqlite3.Error", path: Path) -> StoreError:
    """What ``error`` means to an operator."""
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the class, the rest says more
    match code:
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(path, str(error))
        case sqlite3.SQLITE_FULL:
            return full(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{path}: another program has opened the file ({error})")
        case _:
            return StoreError(f"{path}: {error}")


def translated_system(error: OSError, path: Path) -> StoreError:
    """The same for an error of the operating system."""
    return full(path) if error.errno in NO_SPACE else StoreError(f"{path}: {error.strerror or error}")


def damaged(path: Path, detail: str) -> StoreBroken:
    return StoreBroken(
        f"{path}: the store is damaged ({detail}); restore a backup, or move the file away to start with an empty one"
    )


def full(path: Path) -> StoreFull:
    return StoreFull(f"{path}: no space left on the disk")
