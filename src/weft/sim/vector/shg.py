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

    def _events(self, sources: Longs, tops: Longs, wanted: Bools, passing: Bools) -> Events:
        up = self.distance[sources]
        places = np.array([geometry.place(int(top), self.n, self.k) for top in self.top], np.int64)
        apart = np.bitwise_count(places[sources][:, None] ^ places[None, :]).astype(np.int64)
        hops = np.where(wanted, up[:, None] + apart + self.distance[None, :], -1)
        across = np.full(sources.size, (1 << (self.n - self.k + 1)) - 1, np.int64)
        return Events(up, across, passing.sum(axis=1), wanted.astype(np.int32), hops.astype(np.int32))

    def _literally(self, sources: Longs, tops: Longs, wanted: Bools, passing: Bools) -> Events:
        """Servings of each dominating node: at the source's own, once at first and once whenever it is its own target."""
        served = np.zeros(wanted.shape, np.int64)
        across = np.empty(sources.size, np.int64)
        for top in np.unique(tops):
            targets = np.array(geometry.literal_targets(int(top), self.n, self.k), np.int64)
            rows = tops == top
            servings = np.bincount(targets, minlength=1 << self.n)
            across[rows] = targets.size - servings[top]
            servings[top] += 1
            served[rows] = servings
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


def _any(matching: Bools, table: Bools) -> Bools:
    """[e, v]: is there a pattern that event e satisfies and node v has?"""
    return (matching.astype(np.float32) @ table.astype(np.float32)) > 0
