"""The thread that writes: batches in, "committed up to batch n" out, the event loop never waits.

Group commit: whatever has gathered while the last transaction was being synced goes into the next one, so a slow disk makes
transactions larger, not the broker slower. When writing fails (a full disk) nothing is lost and nothing is confirmed: the
same changes are tried again, with pauses that grow up to ``RETRY_MAX_S``, and what arrives meanwhile waits, up to the bounds
at which ``is_behind`` asks the host to stop reading. A damaged file is the end: ``Trouble.fatal``.

Both callbacks run in this thread; the host hands them on with ``loop.call_soon_threadsafe``.
"""

import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

import msgspec

from weft.broker.records import MessageKept
from weft.core.machine import Record
from weft.runtime.store.changes import ROW_BYTES, Changes
from weft.runtime.store.errors import StoreBroken, StoreError
from weft.runtime.store.store import Durability, Store

WAITING_RECORDS_MAX = 100_000
WAITING_BYTES_MAX = 64 * 1024 * 1024
"""Past either, ``is_behind``; it ends below half of both."""
TRANSACTION_RECORDS_MAX = 10_000
TRANSACTION_BYTES_MAX = 16 * 1024 * 1024
"""A transaction takes no further batch when it has one of these; a single batch may be larger."""
RETRY_FIRST_S = 0.05
RETRY_MAX_S = 5.0
IDLE_S = 1.0
"""After so long without a batch, the log is moved into the database."""


class Trouble(msgspec.Struct, frozen=True):
    """Why nothing is being written. ``fatal``: and nothing will be, the broker should end with this line."""

    text: str
    fatal: bool


class Writer:
    """``on_committed(batch)``: it and all before it are committed, and on the disk with durability ``always``.
    ``on_trouble(trouble)`` once when writing begins to fail, with None when it succeeds again.

    Any thread may read the counts: ``committed`` (the highest batch), ``transactions``, ``records`` (written), ``failures``.
    """

    def __init__(
        self,
        store: Store,
        on_committed: Callable[[int], None],
        on_trouble: Callable[[Trouble | None], None],
        durability: Durability = Durability.ALWAYS,
        sync_interval_s: float = 1.0,
    ) -> None:
        self.committed = 0
        self.transactions = 0
        self.records = 0
        self.failures = 0
        self.trouble: Trouble | None = None
        self._store = store
        self._on_committed = on_committed
        self._on_trouble = on_trouble
        self._sync_interval_s = sync_interval_s if durability is Durability.INTERVAL else None
        self._batches: SimpleQueue[tuple[int, Sequence[Record], int] | None] = SimpleQueue()
        # Each of these is changed by one thread only: the differences are what waits.
        self._put_records = self._put_bytes = 0
        self._written_records = self._written_bytes = 0
        self._behind = False
        self._changes = Changes()
        self._batch = 0
        self._bytes = 0
        self._sync_at: float | None = None
        self._closing = threading.Event()
        self._give_up_at = float("inf")
        self._thread = threading.Thread(target=self._run, name="weft-store", daemon=True)

    # ------------------------------------------------------------------------------------------ the event loop's side

    def start(self) -> None:
        """From here on the store belongs to the thread."""
        self._thread.start()

    def put(self, batch: int, records: Sequence[Record]) -> None:
        """Numbers grow; ``records`` is the writer's from now on."""
        if self.trouble is not None and self.trouble.fatal:
            return  # never confirmed, hence never acknowledged
        size = ROW_BYTES * len(records)
        for record in records:
            if type(record) is MessageKept:
                size += len(record.payload)
        self._put_records += len(records)
        self._put_bytes += size
        self._batches.put((batch, records, size))

    @property
    def waiting(self) -> int:
        """Records that are not committed yet."""
        return self._put_records - self._written_records

    @property
    def waiting_bytes(self) -> int:
        """About what they weigh."""
        return self._put_bytes - self._written_bytes

    @property
    def is_behind(self) -> bool:
        """Whether to stop reading from clients. To be asked again after each ``on_committed``."""
        halves = 2 if self._behind else 1
        self._behind = (
            self.waiting * halves > WAITING_RECORDS_MAX
            or self.waiting_bytes * halves > WAITING_BYTES_MAX
            or (self.trouble is not None and self.trouble.fatal)
        )
        return self._behind

    def close(self, timeout_s: float = 30.0) -> int:
        """Write what waits, close the store, end the thread. Answers how many records could not be written in that time."""
        self._give_up_at = time.monotonic() + timeout_s
        self._closing.set()
        self._batches.put(None)
        self._thread.join()
        return self.waiting

    # --------------------------------------------------------------------------------------------- the thread's side

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except StoreBroken as error:
            self._fatal(str(error))
        except Exception as error:  # noqa: BLE001 - the thread's outermost frame: it must not die in silence
            self._fatal(f"{self._store.path}: {type(error).__name__}: {error}")
        finally:
            self._end()

    def _end(self) -> None:
        try:
            self._store.close()
        except StoreError as error:
            if self.trouble is None:  # all is committed in the log; the next start moves it
                self._say(Trouble(str(error), fatal=False))

    def _turn(self) -> bool:
        """Wait for a batch or for something due, do it; False when closing and done."""
        patience = self._patience()
        try:
            first = self._batches.get(timeout=patience)
        except Empty:
            self._due(idle=patience >= IDLE_S)
            return True
        ends = first is None or self._gather(first)
        if self._changes.size:
            self._commit()
        self._due(idle=False)
        if not ends:
            return True
        if self._sync_at is not None and self.trouble is None:
            self._attempt(self._store.sync)
        return False

    def _patience(self) -> float:
        if self._sync_at is None:
            return IDLE_S
        return min(IDLE_S, max(0.0, self._sync_at - time.monotonic()))

    def _gather(self, item: tuple[int, Sequence[Record], int] | None) -> bool:
        """``item`` and what waits behind it, up to a transaction's bounds; True if closing was asked for."""
        while item is not None:
            self._batch, records, size = item
            self._changes.add(records)
            self._bytes += size
            if self._changes.size >= TRANSACTION_RECORDS_MAX or self._bytes >= TRANSACTION_BYTES_MAX:
                return False
            try:
                item = self._batches.get_nowait()
            except Empty:
                return False
        return True

    def _commit(self) -> None:
        changes = self._changes
        if not self._until_done(lambda: self._store.apply(changes)):
            return
        self._changes = Changes()
        self.transactions += 1
        self.records += changes.size
        self.committed = self._batch
        self._written_records += changes.size
        self._written_bytes += self._bytes
        self._bytes = 0
        if self._sync_interval_s is not None and self._sync_at is None:
            self._sync_at = time.monotonic() + self._sync_interval_s
        self._on_committed(self.committed)

    def _due(self, idle: bool) -> None:
        """Sync and tidy, when it is time; what fails here without harm is tried again at the next time."""
        if self._sync_at is not None and time.monotonic() >= self._sync_at:
            self._sync_at = None
            if not self._attempt(self._store.sync):
                # A failed sync may have forgotten pages of the log; what the database gets instead is synced by SQLite.
                self._until_done(lambda: self._store.tidy(now=True))
        self._attempt(lambda: self._store.tidy(now=idle))

    def _attempt(self, action: Callable[[], None]) -> bool:
        """Once. A failure is counted; it is not trouble as long as batches can be committed."""
        try:
            action()
        except StoreBroken:
            raise
        except StoreError:
            self.failures += 1
            return False
        return True

    def _until_done(self, action: Callable[[], None]) -> bool:
        """Again and again, until it succeeds or closing cannot wait any longer."""
        pause = RETRY_FIRST_S
        while True:
            try:
                action()
            except StoreBroken:
                raise
            except StoreError as error:
                self.failures += 1
                if self.trouble is None:
                    self._say(Trouble(str(error), fatal=False))
                if time.monotonic() + pause > self._give_up_at:
                    return False
                if self._closing.is_set():
                    time.sleep(pause)
                else:
                    self._closing.wait(pause)
                pause = min(2 * pause, RETRY_MAX_S)
            else:
                if self.trouble is not None:
                    self._say(None)
                return True

    def _say(self, trouble: Trouble | None) -> None:
        self.trouble = trouble
        self._on_trouble(trouble)

    def _fatal(self, text: str) -> None:
        self._say(Trouble(text, fatal=True))
