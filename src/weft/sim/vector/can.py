"""CAN-MC in bulk: the zones of one topic's CAN, who touches whom, and floods (overlay §8; ``overlay/can``).

The rules are those of ``overlay/can/geometry``, compiled as they are. Members are numbered in the order of their node ids, the
order in which a machine sends.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.overlay.can import geometry
from weft.overlay.can.geometry import BITS, SIDE
from weft.overlay.rendezvous.geometry import identity
from weft.sim.vector.borrowed import borrowed
from weft.sim.vector.draws import Words, bits_at, states
from weft.sim.vector.layout import Ints, Longs

_touching = borrowed(geometry.touching)
_opened = borrowed(geometry.opened)

MEMBERS_MAX = 50_000
"""Who touches whom is found by looking at every pair."""


class Zones(NamedTuple):
    """``low`` and ``high`` are the members' zones; ``near[first[i]:first[i + 1]]`` i's neighbours, ``through`` which sides."""

    low: Longs
    high: Longs
    first: Longs
    near: Ints
    through: Ints


@dataclass(frozen=True, slots=True)
class Space:
    """The CAN of a topic."""

    zones: Zones

    @classmethod
    def joined(cls, points: npt.ArrayLike, order: npt.ArrayLike | None = None) -> Self:
        """Member i joins at ``points[i]``, in the order of ``order`` (None: their own); the first founds the CAN."""
        places = np.asarray(points, np.int64)
        count, dims = places.shape
        if not 0 < count <= MEMBERS_MAX:
            raise Misuse(f"a CAN has 1…{MEMBERS_MAX} members here, not {count}")
        if places.min() < 0 or places.max() >= SIDE:
            raise Misuse("a point outside the space")
        turns = np.arange(count) if order is None else np.asarray(order, np.int64)
        low, high = np.zeros((count, dims), np.int64), np.full((count, dims), SIDE, np.int64)
        if not _tile(places, turns, low, high):
            raise Misuse("members so close together that no zone can be halved between them")
        first = np.zeros(count + 1, np.int64)
        _count(low, high, first)
        near, through = np.empty(int(first[-1]), np.int32), np.empty(int(first[-1]), np.int32)
        _meet(low, high, first, near, through)
        return cls(Zones(low, high, first, near, through))

    @property
    def size(self) -> int:
        return int(self.zones.low.shape[0])

    def flood(self, publisher: int, *, again: bool = False) -> "Flooded":
        """A publication of member ``publisher``; with ``again``, as ``overlay/can`` mends it."""
        if not 0 <= publisher < self.size:
            raise Misuse(f"there is no member {publisher}")
        hops = np.full(self.size, -1, np.int32)
        sent = np.zeros(self.size, np.int64)
        return Flooded(hops, sent, _flood(self.zones, publisher, again, hops, sent))


@dataclass(frozen=True, slots=True)
class Flooded:
    """``hops`` to each member, −1 if it was missed; ``sent`` by each; ``copies`` that reached who had had it."""

    hops: Ints
    sent: Longs
    copies: int


def points(seed: int, nodes: npt.ArrayLike, topic: str, dims: int) -> Longs:
    """Where the machines ``nodes`` of a simulation of ``seed`` join the CAN of ``topic``."""
    streams = states(seed, np.asarray(nodes, np.int64), identity(topic, 63))
    found = np.empty((streams.size, dims), np.int64)
    _draw(streams, found)
    return found


@borrowed
def _draw(streams: Words, found: Longs) -> None:
    for node in range(streams.size):
        for i in range(found.shape[1]):
            found[node, i] = np.int64(bits_at(streams, node) >> np.uint64(64 - BITS))


@borrowed
def _tile(places: Longs, turns: Longs, low: Longs, high: Longs) -> bool:
    """Joins one by one: whose zone holds the point gives away the half that does. A tree of halves finds it."""
    count, dims = places.shape
    below = np.full((2 * count, 2), -1, np.int64)
    owner = np.empty(2 * count, np.int64)
    owner[0] = turns[0]
    used = 1
    for turn in range(1, count):
        newcomer = turns[turn]
        at, depth = 0, 0
        begin, end = np.zeros(dims, np.int64), np.full(dims, SIDE, np.int64)
        while below[at, 0] >= 0:
            i = depth % dims
            middle = (begin[i] + end[i]) // 2
            if places[newcomer, i] < middle:
                end[i] = middle
                at = below[at, 0]
            else:
                begin[i] = middle
                at = below[at, 1]
            depth += 1
        if depth >= dims * (BITS - 1):
            return False
        i = depth % dims
        middle = (begin[i] + end[i]) // 2
        giver, upper = owner[at], places[newcomer, i] >= middle
        below[at, 0], below[at, 1] = used, used + 1
        owner[used], owner[used + 1] = (giver, newcomer) if upper else (newcomer, giver)
        used += 2
        low[newcomer], high[newcomer] = begin, end
        if upper:
            low[newcomer, i], high[giver, i] = middle, middle
        else:
            high[newcomer, i], low[giver, i] = middle, middle
    return True


@borrowed
def _count(low: Longs, high: Longs, first: Longs) -> None:
    for one in range(low.shape[0]):
        found = 0
        for other in range(low.shape[0]):
            if _touching(low[one], high[one], low[other], high[other]):
                found += 1
        first[one + 1] = first[one] + found


@borrowed
def _meet(low: Longs, high: Longs, first: Longs, near: Ints, through: Ints) -> None:
    for one in range(low.shape[0]):
        at = first[one]
        for other in range(low.shape[0]):
            sides = _touching(low[one], high[one], low[other], high[other])
            if sides:
                near[at], through[at] = other, sides
                at += 1


@borrowed
def _flood(zones: Zones, publisher: int, again: bool, hops: Ints, sent: Longs) -> int:
    """First come, first served: with equal delays, as in the event simulator."""
    low, high, first, near, through = zones
    source = (low[publisher] + high[publisher]) // 2
    done = np.zeros(low.shape[0], np.int64)
    queue = [(publisher, -1, 0)]
    at, copies = 0, 0
    while at < len(queue):
        member, came, depth = queue[at]
        at += 1
        sides = _opened(low[member], high[member], source, came)
        if hops[member] < 0:
            hops[member] = depth
            fresh = sides
        else:
            copies += 1
            fresh = sides & ~done[member] if again else 0
        done[member] |= sides
        if fresh:
            for which in range(first[member], first[member + 1]):
                open_sides = through[which] & fresh
                if open_sides:
                    side = 0
                    while not (open_sides >> side) & 1:
                        side += 1
                    sent[member] += 1
                    queue.append((int(near[which]), side, depth + 1))
    return copies
