"""Subscribers that come and go: a generator of traces, as RELAY §7 asks what its suspending is worth under one.

Sessions begin as a Poisson process whose rate goes through a day, (1 + A cos(2π (t − peak)/24 h)) times its mean; each picks a
topic by Zipf's law and stays for a time with an exponential distribution. A session is an edge broker that subscribes, so a
topic's number of subscribers is that of its sessions under way. The first day fills the system and is not counted.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.relay.topics import TRACE
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Longs

HOUR_S = 3_600.0
DAY_S = 24 * HOUR_S
AMPLITUDE = 0.9
"""At the trough a tenth of the mean, at the peak almost twice that."""
PEAK_S = 20 * HOUR_S
"""In the evening."""
STAY_S = 1_800.0
"""Mean length of a session."""

Reals = npt.NDArray[np.float64]


class Trace(NamedTuple):
    """Changes of one day, in order by topic and time: from ``begin`` on for ``length`` seconds ``topic`` has ``present``
    subscribers; ``change`` is by how many that differs from before. Pieces do not cross a full hour.
    """

    topic: Longs
    begin: Reals
    length: Reals
    present: Longs
    change: Longs

    @property
    def hour(self) -> Longs:
        return (self.begin // HOUR_S).astype(np.int64)


def popularity(topics: int, exponent: float) -> Reals:
    """The part of all sessions that each topic has, by rank."""
    weights = np.arange(1, topics + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum(), np.float64)


def generate(seed: int, topics: int, exponent: float, load: float) -> Trace:
    """One day in which topics have ``load`` subscribers in the mean over topics and time."""
    draws = Draws(seed, int(TRACE))
    begin = _beginnings(draws, topics * load / STAY_S)
    ranks = np.searchsorted(np.cumsum(popularity(topics, exponent)), draws.random(begin.size), side="right")
    topic = np.minimum(ranks, topics - 1).astype(np.int64)
    end = begin - STAY_S * np.log1p(-draws.random(begin.size))
    return _pieces(topics, topic, begin, end)


def _beginnings(draws: Draws, rate: float) -> Reals:
    """Over two days, thinned from a constant rate that is the highest of the day."""
    most = rate * (1 + AMPLITUDE)
    expected = 2 * DAY_S * most
    count = int(expected + 10 * np.sqrt(expected) + 10)
    times = np.cumsum(-np.log1p(-draws.random(count)) / most)
    times = times[times < 2 * DAY_S]
    cycle = 1 + AMPLITUDE * np.cos(2 * np.pi * (times - PEAK_S) / DAY_S)
    return np.asarray(times[draws.random(times.size) * (1 + AMPLITUDE) < cycle])


def _pieces(topics: int, topic: Longs, begin: Reals, end: Reals) -> Trace:
    """The second day, cut at every change and every full hour."""
    hours = DAY_S + HOUR_S * np.arange(25)
    at = np.concatenate((begin, end, np.tile(hours, topics)))
    change = np.repeat([1, -1, 0], [begin.size, end.size, 25 * topics])
    whose = np.concatenate((topic, topic, np.repeat(np.arange(topics), 25)))
    order = np.lexsort((at, whose))
    at, change, whose = at[order], change[order], whose[order]
    count = np.cumsum(change)  # every session ends, so each topic's sum begins at 0
    length = np.diff(at, append=at[-1])
    inside = (at >= DAY_S) & (at < 2 * DAY_S)
    return Trace(whose[inside], at[inside] - DAY_S, length[inside], count[inside], change[inside])
