"""The driver of one broker: what arrives goes in at once, what comes out is written once per tick.

One tick of the loop: sockets hand their bytes to connections (``Link.data_received``), which leave output with
themselves and their names in ``broker.dirty``; the first of them asks for ``flush``, which runs when all sockets have
been read. It writes each connection's output in one piece, hands the journal's batch to the store, starts checks,
logs, and arms the one timer. No task, future or timer exists per message or per connection.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from weft.broker.access.api import Origin
from weft.core.machine import Record
from weft.runtime.clock import now
from weft.runtime.link import PIECE_BYTES, Link
from weft.runtime.pressure import Pressure
from weft.runtime.seam import Broker, Clocked
from weft.runtime.works import Works

CLOSE_GRACE_S = 5.0
"""How long a socket that is to be closed may take to send what was written."""

TIMER_S_MIN, TIMER_S_MAX = 0.001, 3600.0
NEVER = float("inf")

log = structlog.get_logger("weft")

Commit = Callable[[int, list[Record]], None]
"""Takes a batch; ``Host.committed`` is to be called with its number when it is durable."""


class Host:
    """In: links, which call ``opened``, ``wake``, ``relieved``, ``gone``. Out: bytes, commits, threads, log lines."""

    def __init__(self, broker: Broker, loop: asyncio.AbstractEventLoop, commit: Commit | None = None) -> None:
        self.broker = broker
        self.loop = loop
        self.counters = broker.counters
        self.links: dict[Any, Link] = {}
        self.pressure = Pressure(broker.settings.limits, broker.press)
        self.works = Works(loop, self._verdict)
        self.commit = commit
        self.clocked: list[Clocked] = [broker]
        self.is_awake = False
        """``flush`` is due in this tick already."""
        self._relieved: list[Link] = []
        self._replaying: list[Link] = []
        self._ending: dict[Link, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._emptied: asyncio.Event | None = None

    @staticmethod
    def now() -> float:
        return now()

    # ------------------------------------------------------------------------------------------------- from links

    def opened(self, link: Link, origin: Origin) -> bool:
        """False: the broker wants no more connections."""
        connection = self.broker.accept(now(), origin)
        if connection is None:
            return False
        link.connection = connection
        self.links[connection] = link
        if not self.is_awake:
            self.wake()
        return True

    def wake(self) -> None:
        """Something happened: ``flush`` at the end of this tick."""
        if not self.is_awake:
            self.is_awake = True
            self.loop.call_soon(self.flush)

    def behind(self, link: Link, buffered: int) -> None:
        """The socket of ``link`` takes no more."""
        self.pressure.begins(link, buffered)

    def relieved(self, link: Link) -> None:
        """The socket of ``link`` takes more again."""
        self.pressure.ends(link)
        self._relieved.append(link)
        self.wake()

    def ending(self, link: Link) -> None:
        """``link`` is about to close; if it takes too long, it is cut off."""
        self._ending[link] = now() + CLOSE_GRACE_S
        self.wake()

    def gone(self, link: Link, why: str) -> None:
        """The socket of ``link`` is closed."""
        self.pressure.ends(link)
        self._ending.pop(link, None)
        if link.connection is not None and self.links.pop(link.connection, None) is not None:
            link.connection.lost(now(), why)
            link.connection.out.clear()
        if self._emptied is not None and not self.links:
            self._emptied.set()
        self.wake()

    # --------------------------------------------------------------------------------------------------- one tick

    def flush(self) -> None:
        """The end of a tick."""
        self.is_awake = False
        broker, at = self.broker, now()
        if self._relieved:
            relieved, self._relieved = self._relieved, []
            for link in relieved:
                if link.connection in self.links:
                    self._write(link)
        self._write_out(broker.dirty)
        broker.dirty.clear()
        if self._replaying:
            self._refill(at)
        pressure = self.pressure
        if pressure.behind or pressure.is_high or pressure.is_store_behind is not None:
            pressure.watch(at)
        self._pass_on()
        self._arm(at)
        if broker.dirty:
            self.wake()

    def _write_out(self, dirty: list[Any]) -> None:
        """Each connection's output, in one piece."""
        links, sent = self.links, 0
        for connection in dirty:
            link = links.get(connection)
            if link is None:
                connection.out.clear()
                continue
            try:
                out = connection.out
                if out and not link.is_behind:
                    data = out[0] if len(out) == 1 else b"".join(out)
                    size = len(data)
                    if size > PIECE_BYTES and len(out) > 1:
                        link.write_pieces(out)
                        sent += size - sum(map(len, out))
                    else:
                        out.clear()
                        link.write(data)
                        sent += size
                if connection.closing or connection.reading is not link.is_reading:
                    link.settle()
                if connection.replays:
                    self._replaying.append(link)
            except Exception as error:  # noqa: BLE001 - a bug met this connection; it pays, the others go on
                self._broke(link, error)
        if sent:
            self.counters["weft_bytes_sent_total"] += sent

    def _refill(self, at: float) -> None:
        """Whose output is all written may have the next slice of what it is to get; it goes out in the next tick."""
        replaying, self._replaying = self._replaying, []
        for link in replaying:
            connection = link.connection
            if not link.is_behind and not connection.out and connection in self.links:
                try:
                    connection.refill(at)
                except Exception as error:  # noqa: BLE001 - as in _write_out
                    self._broke(link, error)

    def _write(self, link: Link) -> None:
        """What waited while ``link`` was behind, or is left of it now."""
        out = link.connection.out
        before = sum(map(len, out))
        try:
            link.write_pieces(out)
            link.settle()
            if link.connection.replays:
                self._replaying.append(link)
        except Exception as error:  # noqa: BLE001 - as in _write_out
            self._broke(link, error)
        self.counters["weft_bytes_sent_total"] += before - sum(map(len, out))

    def _pass_on(self) -> None:
        """Batches to the store, checks to threads, notices to the log."""
        broker = self.broker
        if broker.journal.records:
            batch, records = broker.journal.take()
            if self.commit is not None:
                self.commit(batch, records)
        if broker.works:
            works = broker.works[:]
            broker.works.clear()
            for connection, work in works:
                if not self.works.start(connection, work):
                    self.counters["weft_checks_refused_total"] += 1
        if broker.notices.pending:
            for notice in broker.notices.take():
                getattr(log, notice.level)(notice.event, **notice.fields)

    @staticmethod
    def _broke(link: Link, error: Exception) -> None:
        log.error("internal error while writing to a connection", exc_info=error)
        link.transport.abort()

    # ------------------------------------------------------------------------------------------------ other inputs

    def committed(self, batch: int) -> None:
        """The store has made ``batch`` durable. Called in the loop."""
        self.broker.committed(now(), batch)
        self.wake()

    def begin_drain(self) -> None:
        """Clients are told, connections close."""
        self.broker.begin_drain(now())
        self.wake()

    async def drained(self, within_s: float) -> int:
        """Wait until all links are gone, at most ``within_s``; the number of those that had to be cut off."""
        self._emptied = asyncio.Event()
        if self.links:
            try:
                await asyncio.wait_for(self._emptied.wait(), within_s)
            except TimeoutError:
                left = list(self.links.values())
                for link in left:
                    link.transport.abort()
                return len(left)
        return 0

    def close(self) -> None:
        """The end: no timer, no threads, no sockets."""
        for link in list(self.links.values()):
            link.transport.abort()
        if self._timer is not None:
            self._timer.cancel()
        self.works.close()

    def _verdict(self, connection: Any, result: Any) -> None:
        connection.verdict(now(), result)
        self.wake()

    # --------------------------------------------------------------------------------------------------- the timer

    def _arm(self, at: float) -> None:
        """One timer for whatever is due first; if it fires early because something moved away, it is armed anew."""
        deadline = NEVER
        for each in self.clocked:
            due = each.deadline
            if due is not None and due < deadline:
                deadline = due
        if self.pressure.is_high:
            deadline = min(deadline, self.pressure.again_at)
        if self._ending:
            deadline = min(deadline, next(iter(self._ending.values())))
        if deadline == NEVER:
            return
        fires_at = at + min(max(deadline - at, TIMER_S_MIN), TIMER_S_MAX)
        if self._timer is not None:
            if (
                self._timer_at <= fires_at
            ):  # also where ``deadline`` has passed: put off in each tick, it would never fire
                return
            self._timer.cancel()
        self._timer_at = fires_at
        self._timer = self.loop.call_later(fires_at - at, self._fire)

    def _fire(self) -> None:
        self._timer = None
        at = now()
        for each in self.clocked:
            if (deadline := each.deadline) is not None and deadline <= at:
                try:
                    each.timeout(at)
                except Exception:  # a bug must not stop the clock of the others
                    log.exception("internal error in a timeout")
        for link, until in list(self._ending.items()):
            if until > at:
                break
            link.transport.abort()
            del self._ending[link]
        self.flush_now()

    def flush_now(self) -> None:
        """Flush unless it is due anyway."""
        if not self.is_awake:
            self.flush()
