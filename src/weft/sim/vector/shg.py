"""SHG in bulk: which patterns are installed where, and what events cost (overlay §9; ``overlay/shg``).

Tables are made by calling ``overlay/shg/geometry`` for every corner. Patterns and events are matrices: ``own[p, v]``, node v
wants pattern p; ``matching[e, p]``, event e satisfies pattern p.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.overlay.shg import geometry
from weft.sim.vector.layout import Ints, Longs

Bools = npt.NDArray[np.bool_]
DIMENSION_MAX = 20


@dataclass(frozen=True, slots=True)
class Events:
    """Messages of each event: ``up`` to the dominating node, ``across`` the event partition, ``down`` installed paths.

    ``served[e, v]``: how often node v was handed an event that it wants. ``hops[e, v]``: over how many messages (the first
    time); −1 where it was not.
    """

    up: Longs
    across: Longs
    down: Longs
    served: Ints
    hops: Ints

    @property
    def messages(self) -> Longs:
        return self.up + self.across + self.down


@dataclass(frozen=True, slots=True)
class Bill:
    """The same messages, and deliveries counted over all who want the event: ``reached`` once each, ``handed`` every time."""

    up: Longs
    across: Longs
    down: Longs
    wanted: Longs
    reached: Longs
    handed: Longs

    @property
    def messages(self) -> Longs:
        return self.up + self.across + self.down


class Shg:
    """All corners of dimension ``n``, ``k`` low bits; ``variant`` as in ``overlay/shg/machine``."""

    def __init__(self, n: int, k: int, variant: str = "corrected") -> None:
        if not 0 < k < n <= DIMENSION_MAX:
            raise Misuse(f"dimension {n} with {k} low bits: 0 < k < n ≤ {DIMENSION_MAX}")
        if variant not in {"corrected", "literal"}:
            raise Misuse(f"unknown variant {variant}; known: corrected, literal")
        self.n, self.k, self.literal = n, k, variant == "literal"
        step = geometry.literal_onward if self.literal else geometry.onward
        corners = range(1 << n)
        self.onward: Longs = np.array([step(corner, k) for corner in corners], np.int64)
        self.top, self.distance = self.onward.copy(), (self.onward != np.arange(1 << n)).astype(np.int64)
        """The dominating node that ways from each corner lead to, and how many steps away it is."""
        for _ in range(k):
            self.distance += self.onward[self.top] != self.top
            self.top = self.onward[self.top]
        self.dominates: Bools = self.distance == 0

    def installed(self, own: Bools) -> Bools:
        """Which nodes know which patterns, once all of ``own`` have subscribed."""
        known = own.copy()
        for corner in np.argsort(-self.distance, kind="stable"):
            known[:, self.onward[corner]] |= known[:, corner]
        return known

    def subscriptions(self, own: Bools) -> Longs:
        """Subscribe messages for each pattern: a step from each node that knows it; as printed, every way to its end."""
        if self.literal:
            return np.asarray(own @ self.distance, np.int64)
        return np.asarray(self.installed(own)[:, ~self.dominates].sum(axis=1), np.int64)

    def events(self, own: Bools, matching: Bools, publishers: npt.ArrayLike) -> Events:
        """Event e is published by corner ``publishers[e]``."""
        sources = np.asarray(publishers, np.int64)
        if matching.shape != (sources.size, own.shape[0]) or own.shape[1] != 1 << self.n:
            raise Misuse("matrices that do not fit: own is patterns × corners, matching events × patterns")
        wanted = _any(matching, own)
        passing = _any(matching, self.installed(own)) & ~self.dominates
        tops = self.top[sources]
        return (
            self._literally(sources, tops, wanted, passing)
            if self.literal
            else self._events(sources, tops, wanted, passing)
        )

    def bill(self, own: Bools, matching: Bools, kinds: npt.ArrayLike, publishers: npt.ArrayLike) -> Bill:
        """What events cost that are of few kinds: event e satisfies ``matching[kinds[e]]``. The sums of ``events``, cheaper."""
        of, sources = np.asarray(kinds, np.int64), np.asarray(publishers, np.int64)
        if matching.shape[1] != own.shape[0] or own.shape[1] != 1 << self.n or of.shape != sources.shape:
            raise Misuse("matrices that do not fit: own is patterns × corners, matching kinds × patterns")
        wanted = _any(matching, own)
        passing = _any(matching, self.installed(own)) & ~self.dominates
        up, each = self.distance[sources], wanted.sum(axis=1)
        if not self.literal:
            across = np.full(sources.size, (1 << (self.n - self.k + 1)) - 1, np.int64)
            return Bill(up, across, passing.sum(axis=1)[of], *(each[of],) * 3)
        starts, at = np.unique(self.top[sources], return_inverse=True)
        sent, served = self._servings(starts)
        times = served[:, self.top]
        handed = times + np.where(self.dominates, 0, served)
        return Bill(
            up,
            sent[at],
            _product(passing, times)[of, at],
            each[of],
            _product(wanted, handed > 0)[of, at],
            _product(wanted, handed)[of, at],
        )

    def _events(self, sources: Longs, tops: Longs, wanted: Bools, passing: Bools) -> Events:
        up = self.distance[sources]
        places = np.array([geometry.place(int(top), self.n, self.k) for top in self.top], np.int64)
        apart = np.bitwise_count(places[sources][:, None] ^ places[None, :]).astype(np.int64)
        hops = np.where(wanted, up[:, None] + apart + self.distance[None, :], -1)
        across = np.full(sources.size, (1 << (self.n - self.k + 1)) - 1, np.int64)
        return Events(up, across, passing.sum(axis=1), wanted.astype(np.int32), hops.astype(np.int32))

    def _literally(self, sources: Longs, tops: Longs, wanted: Bools, passing: Bools) -> Events:
        starts, at = np.unique(tops, return_inverse=True)
        sent, each = self._servings(starts)
        across, served = sent[at], each[at]
        times = served[:, self.top]
        direct = np.where(self.dominates, 0, served)  # a full node that is a target is handed the event itself, too
        up = self.distance[sources]
        near = (self.top[None, :] != tops[:, None]).astype(np.int64)
        by_top = np.where(times > 0, up[:, None] + near + self.distance[None, :], np.iinfo(np.int64).max)
        by_self = np.where(direct > 0, up[:, None] + 1, np.iinfo(np.int64).max)
        handed = np.where(wanted, times + direct, 0)
        hops = np.where(handed > 0, np.minimum(by_top, by_self), -1)
        down = (passing * times).sum(axis=1)
        return Events(up, across, down, handed.astype(np.int32), hops.astype(np.int32))

    def _servings(self, starts: Longs) -> tuple[Longs, Longs]:
        """Messages from each dominating node of ``starts``; how often each corner is then served, itself once at first."""
        sent = np.empty(starts.size, np.int64)
        served = np.zeros((starts.size, 1 << self.n), np.int64)
        for row, top in enumerate(starts.tolist()):
            targets = geometry.literal_targets(top, self.n, self.k)
            served[row] = np.bincount(targets, minlength=1 << self.n)
            sent[row] = len(targets) - served[row, top]
            served[row, top] += 1
        return sent, served


def _product(of: Bools, weights: npt.NDArray[np.integer | np.bool_]) -> Longs:
    """[kind, start]: the weights of all corners that a kind is ``of``; exact, as they are far below 2**53."""
    return np.asarray(of.astype(np.float64) @ weights.astype(np.float64).T, np.int64)


def _any(matching: Bools, table: Bools) -> Bools:
    """[e, v]: is there a pattern that event e satisfies and node v has?"""
    return (matching.astype(np.float32) @ table.astype(np.float32)) > 0
