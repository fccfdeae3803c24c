"""Acknowledged is kept: what must be durable before what may be said.

Records gather in a batch. The driver takes a batch at the end of a tick, writes it in one transaction and says ``committed``.
What a client may hear only then (PUBACK, PUBREC, SUBACK; QoS 2 on its way out) is held with the number of the batch that it waits
for. With durability ``interval`` or ``none`` nothing is held, and without a store nothing is recorded.
"""

from typing import Protocol

from weft.core.machine import Record


class Waiter(Protocol):
    """Whoever holds something until a batch is committed."""

    def release(self, now: float, batch: int) -> None: ...


class Journal:
    """``batch`` is the number of the batch being filled; ``keeps``: there is a store; ``holds``: and it is waited for."""

    __slots__ = ("_waiters", "batch", "holds", "keeps", "records")

    def __init__(self, keeps: bool = False, holds: bool = False) -> None:
        self.keeps = keeps
        self.holds = keeps and holds
        self.batch = 1
        self.records: list[Record] = []
        self._waiters: list[tuple[int, Waiter]] = []

    def append(self, record: Record) -> None:
        if self.keeps:
            self.records.append(record)

    def wait(self, waiter: Waiter) -> None:
        """``waiter`` is told when the batch being filled is durable."""
        self._waiters.append((self.batch, waiter))

    def take(self) -> tuple[int, list[Record]]:
        """The batch so far, for the store; the next one begins. Empty batches need no commit and keep their number."""
        if not self.records:
            return self.batch, []
        taken, self.records = (self.batch, self.records), []
        self.batch += 1
        return taken

    def committed(self, now: float, batch: int) -> None:
        """Batches are committed in order; ``batch`` and all before it are durable."""
        due = [waiter for number, waiter in self._waiters if number <= batch]
        self._waiters = [entry for entry in self._waiters if entry[0] > batch]
        for waiter in due:
            waiter.release(now, batch)
