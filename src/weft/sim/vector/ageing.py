"""Aggregated values in Suzaku's tables, and how they age under the periodic update (SELECT §3.3; overlay §3–4).

Once per T each node exchanges one level with its finger there, levels in turn, from a phase of its own: the answer carries the
responder's FFT[−1…p−1], the question the asker's FFT[−1…p−2]. Messages take no time here: T is a minute. Nodes that started
together are at the same level at any time; ``turns`` says at which level each is where they did not.

The value of FFT[i] is that of the 2^i nodes from its node on, of BFT[i] of 2^(i−1), one if i is 0; the highest of FFT may
reach round the ring and past its owner, as the machines' does. One label, summed.
"""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.overlay.suzaku.geometry import covered_levels, top_level
from weft.sim.vector.compiled import bare
from weft.sim.vector.draws import Words, random_at, states
from weft.sim.vector.layout import Ints, Layout, Longs

Reals = npt.NDArray[np.float64]


def aggregated(values: Reals) -> tuple[Reals, Reals]:
    """What converged tables hold for the nodes' own ``values``: (FFT, BFT), a row a position, a column a level."""
    size = values.size
    levels = top_level(size) + 1
    sums = np.concatenate(([0.0], np.cumsum(np.concatenate((values, values)))))
    places = np.arange(size)
    forward, backward = np.empty((size, levels)), np.empty((size, levels))
    for level in range(levels):
        for table, begins, counted in (
            (forward, places + (1 << level), 1 << covered_levels(level, forward=True)),
            (backward, places - (1 << level), 1 << covered_levels(level, forward=False)),
        ):
            at = begins % size
            table[:, level] = sums[at + counted] - sums[at]
    return forward, backward


def phases(layout: Layout, seed: int, interval_s: float) -> tuple[Reals, Words]:
    """When the machines of a simulation of ``seed`` send their first update, and their brokers' streams after that draw."""
    streams = states(seed, layout.ids, 0)
    drawn = np.empty(layout.size)
    _phases(layout.owner, streams, drawn)
    return drawn * interval_s, streams


class Ageing:
    """``values`` are the nodes' own, now: change them through ``put``; ``forward`` and ``backward`` are what tables say."""

    def __init__(
        self,
        values: npt.ArrayLike,
        first: npt.ArrayLike,
        interval_s: float = 60.0,
        turns: npt.ArrayLike | None = None,
    ) -> None:
        self.values: Reals = np.array(values, np.float64)
        self.forward, self.backward = aggregated(self.values)
        self.interval_s = interval_s
        self.now = 0.0
        self._first: Reals = np.array(first, np.float64)
        if self._first.shape != self.values.shape or not ((self._first >= 0) & (self._first < interval_s)).all():
            raise Misuse(f"a phase of 0 … {interval_s} for each of {self.values.size} nodes")
        self._turns: Longs = np.array(np.zeros(self.values.size) if turns is None else turns, np.int64)
        if self._turns.shape != self.values.shape or not (self._turns >= 0).all():
            raise Misuse(f"a level to begin with for each of {self.values.size} nodes")
        self._order: Longs = np.argsort(self._first, kind="stable")
        self._done = np.zeros(2, np.int64)

    @classmethod
    def seeded(
        cls,
        layout: Layout,
        values: npt.ArrayLike,
        seed: int,
        interval_s: float = 60.0,
        turns: npt.ArrayLike | None = None,
    ) -> Self:
        """With the phases of a simulation of ``seed``."""
        return cls(values, phases(layout, seed, interval_s)[0], interval_s, turns)

    @property
    def levels(self) -> int:
        return int(self.forward.shape[1])

    @property
    def bound_s(self) -> float:
        """A change is known everywhere after this: (k+1)²T."""
        return self.levels**2 * self.interval_s

    def put(self, position: int, value: float) -> None:
        """From now on this is the node's own value."""
        self.values[position] = value

    def run(self, until: float) -> None:
        """All updates up to and including time ``until``."""
        if until < self.now:
            raise Misuse(f"time {until} is before now ({self.now})")
        if self.levels:
            schedule = Schedule(self._first, self._turns, self._order, self.interval_s)
            _update(self.values, self.forward, self.backward, schedule, until, self._done)
        self.now = until

    def stale(self) -> int:
        """How many entries are not what converged tables would hold."""
        return sum(
            int(np.count_nonzero(table != right))
            for table, right in zip((self.forward, self.backward), aggregated(self.values), strict=True)
        )


@bare
def _phases(owner: Ints, streams: Words, drawn: Reals) -> None:
    for position in range(drawn.size):
        drawn[position] = random_at(streams, position if owner.size == 0 else int(owner[position]))


@bare
def _aggregate(values: Reals, forward: Reals, node: int, levels: int) -> float:
    total = values[node]
    for level in range(levels):
        total += forward[node, level]
    return float(total)


class Schedule(NamedTuple):
    """When each node first asks, at which level it is then, and who asks after whom."""

    first: Reals
    turns: Longs
    order: Longs
    interval_s: float


@bare
def _update(values: Reals, forward: Reals, backward: Reals, schedule: Schedule, until: float, done: Longs) -> None:
    """``done`` is (whole rounds, nodes of the round under way): where the last call ended."""
    size, levels = forward.shape
    while True:
        asker = schedule.order[done[1]]
        if schedule.first[asker] + done[0] * schedule.interval_s > until:
            return
        level = (schedule.turns[asker] + done[0]) % levels
        asked = (asker + (1 << level)) % size
        backward[asked, level] = _aggregate(values, forward, asker, max(level - 1, 0))
        forward[asker, level] = _aggregate(values, forward, asked, level)
        done[1] += 1
        if done[1] == size:
            done[0], done[1] = done[0] + 1, 0
