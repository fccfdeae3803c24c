"""Who does not read, and what that costs all together.

A link is *behind* while its socket takes no more: its output stays with its connection, and what waits there and in the
transport is counted here. Past ``out_buffer_bytes_max`` a connection is told to trim. Past ``out_buffer_total_bytes_max`` for
all together, or while the store is behind, the pressure is high, until half of that is left; the broker then stops reading
from whoever publishes.
"""

from collections.abc import Callable

from weft.broker.settings import Limits
from weft.runtime.link import Link

AGAIN_S = 1.0
"""While the pressure is high, those who have begun to publish since are pressed too, this often."""


class Backlog:
    """What waits for one link: ``held`` bytes in ``chunks`` pieces with its connection, ``buffered`` in the transport."""

    __slots__ = ("buffered", "chunks", "held")

    def __init__(self, buffered: int) -> None:
        self.buffered = buffered
        self.chunks = 0
        self.held = 0


class Pressure:
    """Invariant: ``total`` is the sum of all backlogs. ``press(now, is_high)`` tells the broker."""

    def __init__(self, limits: Limits, press: Callable[[float, bool], None]) -> None:
        self.limits = limits
        self.total = 0
        self.is_high = False
        self.is_store_behind: Callable[[], bool] | None = None
        self.behind: dict[Link, Backlog] = {}
        self._press = press
        self.again_at = 0.0

    def begins(self, link: Link, buffered: int) -> None:
        """The socket of ``link`` takes no more."""
        self.behind[link] = Backlog(buffered)
        self.total += buffered

    def ends(self, link: Link) -> None:
        """It takes more again, or it is gone."""
        backlog = self.behind.pop(link, None)
        if backlog is not None:
            self.total -= backlog.buffered + backlog.held

    def watch(self, now: float) -> None:
        """At the end of a tick: count, trim, press."""
        if self.behind:
            self._count(now)
        high = self.limits.out_buffer_total_bytes_max
        was_high, is_behind = self.is_high, self.is_store_behind is not None and self.is_store_behind()
        self.is_high = is_behind or self.total > (high // 2 if was_high else high)
        if self.is_high and (not was_high or now >= self.again_at):
            self.again_at = now + AGAIN_S
            self._press(now, True)
        elif was_high and not self.is_high:
            self._press(now, False)

    def _count(self, now: float) -> None:
        """What has come for those who are behind since the last tick; whoever has too much is trimmed."""
        bytes_max = self.limits.out_buffer_bytes_max
        for link, backlog in self.behind.items():
            out = link.connection.out
            count = len(out)
            if count == backlog.chunks:
                continue
            if count > backlog.chunks:
                self._hold(backlog, count, backlog.held + sum(map(len, out[backlog.chunks :])))
            if count < backlog.chunks or backlog.held > bytes_max:
                if backlog.held > bytes_max:
                    link.connection.trim(now, bytes_max)
                self._hold(backlog, len(out), sum(map(len, out)))

    def _hold(self, backlog: Backlog, chunks: int, held: int) -> None:
        self.total += held - backlog.held
        backlog.chunks = chunks
        backlog.held = held
