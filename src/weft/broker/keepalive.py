"""Keep-alive for many connections at the price of one timer: buckets of one second (§3.1.2.10).

A connection stands in the bucket of the second in which it would be overdue, as things stood when it was put there. When that
second comes it is looked at: if it has spoken since, it moves to a later bucket. So a packet costs one store, and a connection
one look per keep-alive.
"""

from collections.abc import Callable
from typing import Any

FACTOR = 1.5
"""A client may be silent for one and a half times its keep-alive [MQTT-3.1.2-22]."""


class KeepAlives:
    """In: connections with ``keep_alive_s`` and ``heard_at``. Out: ``overdue`` is called with each that was silent."""

    def __init__(self, overdue: Callable[[float, Any], None]) -> None:
        self._buckets: dict[int, dict[Any, None]] = {}
        self._where: dict[Any, int] = {}
        self._overdue = overdue
        self.deadline: float | None = None
        """Not after the first bucket; before it, at worst, when that one has emptied."""

    def add(self, connection: Any) -> None:
        """From now on; ``heard_at`` is when it was heard last."""
        second = int(connection.heard_at + FACTOR * connection.keep_alive_s) + 1
        self._where[connection] = second
        self._buckets.setdefault(second, {})[connection] = None
        if self.deadline is None or second < self.deadline:
            self.deadline = second

    def remove(self, connection: Any) -> None:
        second = self._where.pop(connection, None)
        if second is not None:
            bucket = self._buckets[second]
            del bucket[connection]
            if not bucket:
                del self._buckets[second]

    def timeout(self, now: float) -> None:
        while self._buckets and (second := min(self._buckets)) <= now:
            for connection in self._buckets.pop(second):
                del self._where[connection]
                if not connection.reading:  # we do not listen to it: it is not silent
                    connection.heard_at = now
                if now - connection.heard_at >= FACTOR * connection.keep_alive_s:
                    self._overdue(now, connection)
                else:
                    self.add(connection)
        self.deadline = min(self._buckets, default=None)
