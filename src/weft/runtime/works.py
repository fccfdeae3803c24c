"""Costly checks (scrypt, signatures) in a few threads, with a bounded queue: past the bound a client is told to come again.

The verdict comes back into the loop, also for a connection that is gone by then: throttling counts failures, and hanging up
early must not be a way around it.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import structlog

from weft.broker.access.api import Denied
from weft.mqtt.codec.reasons import Reason

THREADS = 2
WAITING_MAX = 512
"""Checks under way or queued; at 50 ms each and two threads the last one waits about 13 s, longer than a client does."""

log = structlog.get_logger("weft.works")


class Works:
    """In: ``start``. Out: ``done(connection, verdict)``, called in the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, done: Callable[[Any, Any], None]) -> None:
        self._loop = loop
        self._done = done
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="weft-work")
        self.waiting = 0

    def start(self, connection: Any, work: Callable[[], Any]) -> bool:
        """False: the queue is full, and the verdict is a denial."""
        if self.waiting >= WAITING_MAX:
            self._loop.call_soon(self._done, connection, Denied(Reason.SERVER_BUSY, "too many checks are waiting"))
            return False
        self.waiting += 1
        self._pool.submit(self._run, connection, work)
        return True

    def close(self) -> None:
        """What has not begun never will; what runs ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, connection: Any, work: Callable[[], Any]) -> None:
        try:
            result = work()
        except Exception:  # a check that fails denies; the log says why
            log.exception("a check failed")
            result = Denied(Reason.UNSPECIFIED_ERROR, "the check failed")
        try:
            self._loop.call_soon_threadsafe(self._finish, connection, result)
        except RuntimeError:
            return  # the loop is closed: the process ends

    def _finish(self, connection: Any, result: Any) -> None:
        self.waiting -= 1
        self._done(connection, result)
