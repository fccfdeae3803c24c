"""Scribe's trees in bulk, over the rings of a Skip Graph or over a hypercube (overlay §8; ``overlay/scribe``).

A node's next hop depends on the node and the target alone, so a tree is grown by walking from each subscriber until the tree is
met. The rules are those of ``overlay/rendezvous/geometry``, compiled as they are.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.overlay.rendezvous import geometry
from weft.overlay.skipgraph.geometry import DIGITS
from weft.sim.vector.borrowed import borrowed
from weft.sim.vector.draws import Words
from weft.sim.vector.layout import Ints, Longs
from weft.sim.vector.skipgraph import SkipGraph

_shared = borrowed(geometry.shared)
_nearer = borrowed(geometry.nearer)
_flip = borrowed(geometry.flip)

CORNERS_DIGITS_MAX = 24
_NO_LINKS: Ints = np.empty(0, np.int32)
_NO_LONGS: Longs = np.empty(0, np.int64)


class Net(NamedTuple):
    """What a kernel routes over; without ``identities``, the corners of a hypercube."""

    identities: Longs
    base: Longs
    links: Ints
    digits: int


class Room(NamedTuple):
    """Where trees are grown; ``place`` is −1 everywhere between two of them."""

    place: Ints
    nodes: Ints
    parents: Ints
    depths: Ints


def _room(size: int) -> Room:
    return Room(np.full(size, -1, np.int32), *(np.empty(size, np.int32) for _ in range(3)))


@dataclass(frozen=True, slots=True)
class Substrate:
    """Nodes are numbers from 0; positions of a Skip Graph, or the corners of a hypercube."""

    size: int
    net: Net
    room: Room

    @classmethod
    def rings(cls, graph: SkipGraph, vectors: Words, digits: int = DIGITS) -> Self:
        """SkipNet's routing by numeric id over ``graph``, one key a broker: node i is position i, its id its vector."""
        if graph.layout.owner.size:
            raise Misuse("a rendezvous tree is over brokers with one key each")
        size = graph.layout.size
        return cls(size, Net(vectors.astype(np.int64), graph.base, graph.links, digits), _room(size))

    @classmethod
    def hypercube(cls, digits: int) -> Self:
        """Prefixes over the corners of a hypercube."""
        if not 0 < digits <= CORNERS_DIGITS_MAX:
            raise Misuse(f"a hypercube of dimension {digits}: 1…{CORNERS_DIGITS_MAX} are possible")
        return cls(1 << digits, Net(_NO_LONGS, _NO_LONGS, _NO_LINKS, digits), _room(1 << digits))

    def identity(self, node: int) -> int:
        return int(self.net.identities[node]) if self.net.identities.size else node

    def seek(self, target: int, start: int) -> "Sought":
        """The way of a message from ``start`` that nobody stops, to who owns ``target``."""
        return Sought(*_seek(self.net, target, start))

    def onward(self, at: int, target: int) -> int:
        """The next hop; ``at`` itself if it owns the target or is alone in its ring."""
        return int(onward(self.net, at, target))


@dataclass(frozen=True, slots=True)
class Sought:
    """``hops`` messages to ``root``; of those ``round`` went round the last ring, which was entered ``before`` the root."""

    root: int
    hops: int
    round: int
    before: int


@dataclass(frozen=True, slots=True)
class Tree:
    """``parents[i]`` and ``depths[i]`` are those of ``nodes[i]``: every forwarder and subscriber but the root.

    ``reached`` has the depth of each subscriber: messages from the root to it. A publication costs ``nodes.size`` messages and
    its way to the root: one, if the publisher is not the root and knows it.
    """

    root: int
    nodes: Ints
    parents: Ints
    depths: Ints
    reached: Ints
    joins: int
    """Join messages if the subscribers joined in the order given and the root was not known before."""
    leaves: int
    """Leave messages of the surplus, where the first join went all round a ring."""

    def forwards(self, into: Longs) -> Longs:
        """Copies that each node sends of one publication, added to ``into``."""
        np.add.at(into, self.parents, 1)
        return into

    def lengths(self, publisher: int) -> Ints:
        """Messages from ``publisher``, which knows the root, to each subscriber."""
        return self.reached + np.int32(publisher != self.root)


def tree(over: Substrate, target: int, subscribers: npt.ArrayLike) -> Tree:
    """The tree of a topic whose id is ``target``."""
    joining = np.asarray(subscribers, np.int64)
    if joining.size and not 0 <= int(joining.min()) <= int(joining.max()) < over.size:
        raise Misuse(f"a subscriber that is not one of the {over.size} nodes")
    room, start = over.room, int(joining[0]) if joining.size else 0
    sought = over.seek(target, start)
    reached = np.empty(joining.size, np.int32)
    count, first = _grow(over.net, target, sought.root, joining, room, reached)
    joins = sought.hops + count - first if joining.size else 0
    leaves = sought.round - sought.before if joining.size else 0
    nodes, parents, depths = (array[:count].copy() for array in (room.nodes, room.parents, room.depths))
    return Tree(sought.root, nodes, parents, depths, reached, joins, leaves)


@borrowed
def onward(net: Net, at: int, target: int) -> int:
    """The next hop from ``at``: itself if it owns the target, or is alone in its ring."""
    identities, base, links, digits = net
    if identities.size == 0:
        return _flip(at, target)
    level = _shared(identities[at], target, digits)
    if level == digits or base[at] + level >= base[at + 1]:
        return at
    return int(links[2 * (base[at] + level) + 1])


@borrowed
def _seek(net: Net, target: int, start: int) -> tuple[int, int, int, int]:
    """RouteByNumericID: (root, messages, of those round the last ring, steps in it from its entrance to the root)."""
    identities, digits = net.identities, net.digits
    at, hops = start, 0
    if identities.size == 0:
        while at != target:
            at = _flip(at, target)
            hops += 1
        return at, hops, 0, 0
    level, entrance, best, before, steps = -1, at, at, 0, 0
    while True:
        here = _shared(identities[at], target, digits)
        if here == digits:
            return at, hops, 0, 0
        if here > level:
            level, entrance, best, before, steps = here, at, at, 0, 0
        elif at == entrance:
            return best, hops + (1 if best != at else 0), steps, before
        elif _nearer(identities[at], at, identities[best], best, target):
            best, before = at, steps
        following = onward(net, at, target)
        if following == at:
            return at, hops, 0, 0
        at = following
        hops += 1
        steps += 1


@borrowed
def _grow(net: Net, target: int, root: int, joining: Longs, room: Room, reached: Ints) -> tuple[int, int]:
    """Walk up from each subscriber; (nodes in the tree but the root, those on the way of the first subscriber)."""
    place, nodes, parents, depths = room
    count, first = 0, 0
    for which in range(joining.size):
        begin, at = count, joining[which]
        while at != root and place[at] < 0:
            place[at] = count
            nodes[count] = at
            at = onward(net, at, target)
            parents[count] = at
            count += 1
        depth = 0 if at == root else depths[place[at]]
        for back in range(count - 1, begin - 1, -1):
            depth += 1
            depths[back] = depth
        reached[which] = depth
        if which == 0:
            first = count
    for back in range(count):
        place[nodes[back]] = -1
    return count, first
