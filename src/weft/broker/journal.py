"""Acknowledged is kept: what must be durable before what may be said.

Records gather in a batch. The driver takes a batch at the end of a tick, writes it in one transaction and says ``committed``.
What a client may hear only then (PUBACK, PUBREC, SUBACK; QoS 2 on its way out) is held with the number of the batch that it
waits for. With durability ``interval`` or ``none`` nothing is held, and without a store nothing is recorded.
"""

from typing import Protocol

from weft.core.machine import Record


class Waiter(Protocol):
    """Whoever holds something until a batch is committed."""

    def release(self, now: float, batch: int) -> None: ...


class Journal:
    """``batch`` is the number of the batch being filled; ``keeps``: there is a store; ``holds``: and it is waited for."""

    __slots__ = ("_waiters", "batch", "durable", "holds", "keeps", "records")

    def __init__(self, keeps: bool = False, holds: bool = False) -> None:
        self.keeps = keeps
        self.holds = keeps and holds
        self.batch = 1
        self.durable = 0
        self.records: list[Record] = []
        self._waiters: dict[int, dict[Waiter, None]] = {}

    def append(self, record: Record) -> None:
        if self.keeps:
            self.records.append(record)

    def wait(self, waiter: Waiter) -> int:
        """The batch that holds the last record; ``waiter`` is told when it is durable. 0: all records are."""
        batch = self.batch if self.records else self.batch - 1
        if not self.holds or batch <= self.durable:
            return 0
        self._waiters.setdefault(batch, {})[waiter] = None
        return batch

    def take(self) -> tuple[int, list[Record]]:
        """The batch so far, for the store; the next one begins. An empty batch needs no commit and keeps its number."""
        if not self.records:
            return self.batch, []
        taken, self.records = (self.batch, self.records), []
        self.batch += 1
        return taken

    def committed(self, now: float, batch: int) -> None:
        """Batches are committed in order; ``batch`` and all before it are durable."""
        self.durable = batch
        for number in [number for number in self._waiters if number <= batch]:
            for waiter in self._waiters.pop(number):
                waiter.release(now, batch)
