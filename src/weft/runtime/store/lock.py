"""One store, one broker: a lock file beside the database that names its holder.

The lock is the kernel's (flock): it ends with the process, however that ends, so a stale one cannot exist. SQLite's own locks
would let two writers take turns, and each would overwrite what the other believes.
"""

import fcntl
import os
from pathlib import Path

from weft.runtime.store.errors import StoreBusy, translated_system

FILE = "store.lock"
HOLDER_BYTES_MAX = 256


class Lock:
    """Held from ``take`` until ``release`` or the end of the process."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path, owner: str) -> "Lock":
        """``owner`` is who the next one is told about."""
        path = folder / FILE
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise translated_system(error, path) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, HOLDER_BYTES_MAX).decode("utf-8", "replace").strip() or "another process"
            os.close(descriptor)
            raise StoreBusy(f"{folder}: the store is in use by {holder}") from None
        except OSError as error:
            os.close(descriptor)
            raise translated_system(error, path) from None
        lock = cls(descriptor)
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{owner}, process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
        except OSError as error:
            lock.release()
            raise translated_system(error, path) from None
        return lock

    def release(self) -> None:
        """The file stays: removing it would let two processes lock two files of one name."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
