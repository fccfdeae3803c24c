"""Zones, and what travels in the CANs. ``can`` is a topic, or "" for the CAN of all nodes."""

from typing import Self

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.overlay.can.geometry import BITS, SIDE, touching
from weft.overlay.groups import Publication


class Zone(msgspec.Struct, frozen=True, gc=False):
    """A box, and how often the space was halved to make it."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    depth: int

    @classmethod
    def whole(cls, dims: int) -> Self:
        return cls((0,) * dims, (SIDE,) * dims, 0)

    def holds(self, point: tuple[int, ...]) -> bool:
        return all(one <= at < other for one, at, other in zip(self.low, point, self.high, strict=True))

    def contains(self, other: "Zone") -> bool:
        return self.holds(other.low) and self.depth <= other.depth

    def halves(self) -> tuple["Zone", "Zone"]:
        """The lower and the upper half."""
        i = self.depth % len(self.low)
        middle = (self.low[i] + self.high[i]) // 2
        return (
            Zone(self.low, _replaced(self.high, i, middle), self.depth + 1),
            Zone(_replaced(self.low, i, middle), self.high, self.depth + 1),
        )

    def parent(self) -> "Zone":
        """The box that this one is a half of."""
        i = (self.depth - 1) % len(self.low)
        size = self.high[i] - self.low[i]
        low = self.low[i] - self.low[i] % (2 * size)
        return Zone(_replaced(self.low, i, low), _replaced(self.high, i, low + 2 * size), self.depth - 1)

    def buddy(self) -> "Zone":
        """The other half of that box."""
        one, other = self.parent().halves()
        return other if one == self else one

    def check(self, dims: int) -> None:
        """A peer's zone: is it one that halving makes?"""
        if len(self.low) != dims or len(self.high) != dims or not 0 <= self.depth <= dims * (BITS - 1):
            raise Violation("a zone of another space")
        for i, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            size = SIDE >> (self.depth // dims + (1 if i < self.depth % dims else 0))
            if high - low != size or low % size or not 0 <= low < SIDE:
                raise Violation("a box that no halving makes")


def _replaced(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])


class Place(msgspec.Struct, frozen=True, gc=False):
    """Whose a zone is. ``version`` counts that node's zones in that CAN, so that old news is known for what it is."""

    node: NodeId
    zone: Zone
    version: int

    def sides(self, zone: Zone) -> int:
        """The sides of ``zone`` through which this place is its neighbour."""
        return touching(zone.low, zone.high, self.zone.low, self.zone.high)

    def touches(self, other: "Place") -> bool:
        return self.sides(other.zone) != 0


Introducers = dict[str, NodeId]


class Find(Message, frozen=True, gc=False):
    """In the CAN of all nodes, to who keeps ``topic``: through whom may ``asker`` join it?"""

    topic: str
    asker: NodeId
    hops: int


class Introduced(Message, frozen=True, gc=False):
    """The answer; None: the asker is the first, and is the introducer now."""

    topic: str
    introducer: NodeId | None


class Withdraw(Message, frozen=True, gc=False):
    """In the CAN of all nodes, to who keeps ``topic``: ``old`` is no member any more, ``new`` (if any) is."""

    topic: str
    old: NodeId
    new: NodeId | None
    hops: int


class Join(Message, frozen=True, gc=False):
    """To who owns ``point``: ``joiner`` wants half of your zone."""

    can: str
    point: tuple[int, ...]
    joiner: NodeId
    hops: int


class Welcome(Message, frozen=True, gc=False):
    """To a joiner, or to who takes a zone over: it is yours; these are its neighbours, and what its owner kept."""

    can: str
    zone: Zone
    neighbours: tuple[Place, ...]
    kept: Introducers


class Moved(Message, frozen=True, gc=False):
    """To neighbours old and new: ``place`` is so now."""

    can: str
    place: Place


class Gone(Message, frozen=True, gc=False):
    """To neighbours: ``node`` no longer has the zone that was its ``version``-th."""

    can: str
    node: NodeId
    version: int


class Vacate(Message, frozen=True, gc=False):
    """Somebody leaves the place ``left``: whoever can hand its own zone to its buddy takes it over."""

    can: str
    left: Place
    neighbours: tuple[Place, ...]
    hops: int


class Flood(Message, frozen=True, gc=False):
    """A publication in a topic's CAN, going through ``side``, from a publisher at ``source``."""

    publication: Publication
    source: tuple[int, ...]
    side: int
    hops: int
