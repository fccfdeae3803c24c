"""How late the event loop is: a timer that notes by how much it missed its time."""

import asyncio

from weft.telemetry.histograms import Histogram

EVERY_S = 0.5


class LagMeter:
    """Runs until ``stop``; two wake-ups per second."""

    def __init__(self, loop: asyncio.AbstractEventLoop, histogram: Histogram, every_s: float = EVERY_S) -> None:
        self._loop = loop
        self._histogram = histogram
        self._every_s = every_s
        self._due = 0.0
        self._timer = self._arm()

    def _arm(self) -> asyncio.TimerHandle:
        self._due = self._loop.time() + self._every_s
        return self._loop.call_at(self._due, self._woken)

    def _woken(self) -> None:
        self._histogram.observe(max(0.0, self._loop.time() - self._due))
        self._timer = self._arm()

    def stop(self) -> None:
        self._timer.cancel()
