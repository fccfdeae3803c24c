"""How long things take: a few histograms with fixed buckets, named in one table.

One observation is one ``bisect`` and two additions, so whatever happens once per commit may be observed; what happens once per
message, or per tick, may not.
"""

from bisect import bisect_left
from collections import deque

LATENCY_S = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

TABLE: dict[str, str] = {
    "weft_store_commit_seconds": "From handing a batch to the store until it is durable",
    "weft_loop_lag_seconds": "How late the event loop wakes up a timer, sampled",
    "weft_admin_request_seconds": "Time to answer a request of the admin interface",
}
"""Name → help."""


class Histogram:
    """``counts[i]`` counts what is above ``bounds[i - 1]`` and at most ``bounds[i]``, the last one what is above all."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...] = LATENCY_S) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class Histograms(dict[str, Histogram]):
    """All histograms of one broker, empty from the start."""

    def __init__(self) -> None:
        super().__init__({name: Histogram() for name in TABLE})


class Commits:
    """How long batches take to become durable: ``begun`` when the store is given one, ``done`` when it says that it has it."""

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._under_way: deque[tuple[int, float]] = deque()

    def begun(self, now: float, batch: int) -> None:
        self._under_way.append((batch, now))

    def done(self, now: float, batch: int) -> None:
        """``batch`` and all before it are durable."""
        while self._under_way and self._under_way[0][0] <= batch:
            self._histogram.observe(max(0.0, now - self._under_way.popleft()[1]))
