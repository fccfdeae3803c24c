"""How late the loop is."""

import asyncio
import time

from weft.runtime.admin.lag import LagMeter
from weft.telemetry.histograms import Histogram


def test_a_blocked_loop_is_noticed():
    histogram = Histogram()

    async def main():
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        meter = LagMeter(loop, histogram, every_s=0.01)
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            pass  # this is what it is to notice
        loop.call_later(0.03, woken.set_result, None)
        await woken
        meter.stop()

    asyncio.run(main())
    assert sum(histogram.counts) >= 2
    assert histogram.total > 0.08
