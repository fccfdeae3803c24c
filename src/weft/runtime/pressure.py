"""Who does not read, what that costs, and who has to wait for it.

A link is *behind* while its socket takes no more: its output stays with its connection, and what waits there and in
the transport is counted here. Past ``out_buffer_bytes_max`` a connection is told to trim. Past
``out_buffer_total_bytes_max`` for all together the pressure is high until half of that is left: whoever publishes
meanwhile is not read from (``press``), once its message that showed it as a publisher is taken. Every ``TURN_S`` the
pressed get a turn, so that their pings come through and nobody is taken for dead because of somebody else's slowness.
"""

from typing import TYPE_CHECKING

from weft.broker.settings import Limits

if TYPE_CHECKING:
    from weft.runtime.link import Link

TURN_S = 2.0


class Backlog:
    """What waits for one link: ``chunks`` of its connection's output are counted in ``held``, the transport has
    ``buffered``.
    """

    __slots__ = ("buffered", "chunks", "held")

    def __init__(self, buffered: int) -> None:
        self.buffered = buffered
        self.chunks = 0
        self.held = 0


class Pressure:
    """Invariant: ``total`` is the sum of all backlogs."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.total = 0
        self.is_high = False
        self.behind: dict[Link, Backlog] = {}
        self._pressed: dict[Link, None] = {}
        self._turn_at = 0.0

    def begins(self, link: "Link", buffered: int) -> None:
        """The socket of ``link`` takes no more."""
        self.behind[link] = Backlog(buffered)
        self.total += buffered

    def ends(self, link: "Link") -> None:
        """It takes more again, or it is gone."""
        backlog = self.behind.pop(link, None)
        if backlog is not None:
            self.total -= backlog.buffered + backlog.held

    def forget(self, link: "Link") -> None:
        self.ends(link)
        self._pressed.pop(link, None)

    def press(self, link: "Link") -> None:
        """``link`` published under high pressure."""
        self._pressed[link] = None
        link.is_pressed = True

    @property
    def deadline(self) -> float | None:
        """When the pressed get a turn."""
        return self._turn_at if self._pressed else None

    def watch(self, now: float) -> None:
        """Count what has come for those who are behind, trim whoever has too much, say whether the pressure is high."""
        for link, backlog in self.behind.items():
            out = link.connection.out
            count = len(out)
            if count != backlog.chunks:
                if count > backlog.chunks:
                    more = sum(map(len, out[backlog.chunks :]))
                else:
                    more = sum(map(len, out)) - backlog.held
                self._hold(backlog, count, more)
                if backlog.held > self.limits.out_buffer_bytes_max:
                    link.connection.trim(now, self.limits.out_buffer_bytes_max)
                    self._hold(backlog, len(out), sum(map(len, out)) - backlog.held)
        high = self.limits.out_buffer_total_bytes_max
        self.is_high = self.total > (high // 2 if self.is_high else high)
        if self._pressed and (not self.is_high or now >= self._turn_at):
            pressed = list(self._pressed)
            self._pressed.clear()
            for link in pressed:
                link.is_pressed = False
                link.settle()
        if not self._pressed:
            self._turn_at = now + TURN_S

    def _hold(self, backlog: Backlog, chunks: int, more: int) -> None:
        backlog.chunks = chunks
        backlog.held += more
        self.total += more
