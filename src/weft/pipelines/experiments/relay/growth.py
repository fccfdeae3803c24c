"""How paths and tables grow with members, nodes, topics and dimensions (RELAY §5.4, table 1), for four methods.

Every node is in ``rounds`` topics of ``members``, of whom half publish, so there are nodes × rounds / members topics. The path
is the longest from some publishers of a topic to all its subscribers, the mean over topics. Storage is the mean over all
nodes: the entries of Skip Graphs and CANs, Scribe's children, Bayeux's registrations, a publisher's root. A path and a
property are measured on some topics, storage on all, except that CANs of one size are alike.

Relay-free: who is reached though not of the topic. Strong: are publishers, and subscribers, connected among themselves by
what they have in their tables?
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.relay.topics import DEALING, Keys, Skips, dealt, targets
from weft.sim.vector.bayeux import ways
from weft.sim.vector.can import Space, points
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Ints
from weft.sim.vector.multicast import multicast
from weft.sim.vector.scribe import tree
from weft.sim.vector.skipgraph import SkipGraph, seeded
from weft.sim.vector.storage import kept

PROPOSED, SCRIBE, BAYEUX, CAN = "proposed", "Scribe", "Bayeux", "CAN-MC"
COLUMNS = {"method": str, "longest": float, "storage": float, "strangers": float, "parted": float, "missed": float}
"""``strangers``: reached without being of the topic, of all reached. ``parted``: topics whose publishers or subscribers are not
connected. ``missed``: subscribers that a flood does not reach, by the paper's half-way rule."""

LOOKED_AT = 24
"""Topics in which paths are measured."""
SENDERS = 4
CONNECTED_AT = 6
"""Topics in which connections are looked at."""
CAN_NODES_MAX = 4_096
"""A CAN of all nodes is measured at up to as many; its tables do not depend on it."""


class Found(NamedTuple):
    longest: list[int]
    strangers: list[float]
    parted: list[bool]
    missed: list[float]
    storage: float


class Society(NamedTuple):
    """Topics by row: publishers, then subscribers."""

    members: Ints
    publishers: int
    nodes: int
    seed: int

    def looked_at(self, most: int = LOOKED_AT) -> range:
        count = len(self.members)
        return range(0, count, max(1, count // most))[:most]

    def halves(self, topic: int) -> tuple[Ints, Ints]:
        row = self.members[topic]
        return row[: self.publishers], row[self.publishers :]


def model(point: Point, seed: int) -> Rows:
    """A row for each method."""
    nodes, members, rounds, dims = (int(point[name]) for name in ("nodes", "members", "rounds", "dims"))
    society = Society(dealt(Draws(seed, int(DEALING)), nodes, members, rounds), members // 2, nodes, seed)
    skips = Skips.of(nodes, seed)
    found = {
        PROPOSED: proposed(society),
        SCRIBE: scribe(society, skips),
        BAYEUX: bayeux(society, skips),
        CAN: can(society, dims, rounds),
    }
    return {
        "method": list(found),
        "longest": [float(np.mean(each.longest)) for each in found.values()],
        "storage": [each.storage for each in found.values()],
        "strangers": [float(np.mean(each.strangers)) for each in found.values()],
        "parted": [float(np.mean(each.parted)) for each in found.values()],
        "missed": [float(np.mean(each.missed)) for each in found.values()],
    }


def proposed(society: Society) -> Found:
    topics, size = society.members.shape
    topic = np.repeat(np.arange(topics), size)
    role = np.tile(np.arange(size) >= society.publishers, topics).astype(np.int64)
    keys = Keys.of(society.nodes, topics, topic, role, society.members.ravel().astype(np.int64))
    graph = seeded(keys.layout, society.seed)
    longest, strangers = [], []
    for one in society.looked_at():
        own = np.isin(np.arange(society.nodes), society.members[one])
        reached = [multicast(graph, int(who), keys.span(one), "binary") for who in keys.publishers(one)[-SENDERS:]]
        longest.append(int(max(each.depths.max() for each in reached)))
        strangers.append(float(np.mean([1.0 - own[each.target].mean() for each in reached])))
    parted = [
        not all(connected(half, _contacts(graph)) for half in society.halves(one))
        for one in society.looked_at(CONNECTED_AT)
    ]
    return Found(longest, strangers, parted, [0.0], float(kept(graph).entries.mean()))


def scribe(society: Society, skips: Skips) -> Found:
    over = skips.substrate
    longest, strangers, entries = [], [], 0
    looked_at = set(society.looked_at())
    for one, target in enumerate(targets(society.seed, len(society.members), over.net.digits)):
        publishers, subscribers = society.halves(one)
        found = tree(over, target, subscribers)
        entries += found.nodes.size + publishers.size
        if one in looked_at:
            longest.append(int(max(found.lengths(int(who)).max() for who in publishers[:SENDERS])))
            strangers.append(_strange(np.append(found.nodes, found.root), society.members[one]))
    return Found(longest, strangers, _parted(society, skips.graph), [0.0], entries / society.nodes)


def bayeux(society: Society, skips: Skips) -> Found:
    """Each node on the way to a member registers that member (RELAY §3.1)."""
    over = skips.substrate
    longest, strangers, entries, measured = [], [], 0, 0
    wanted = targets(society.seed, len(society.members), over.net.digits)
    for one in society.looked_at():
        publishers, subscribers = society.halves(one)
        found = ways(over, wanted[one], subscribers)
        entries += found.trees + publishers.size
        measured += 1
        longest.append(int(max(found.lengths(int(who)).max() for who in publishers[:SENDERS])))
        strangers.append(_strange(np.append(found.targets, found.root), society.members[one]))
    storage = entries / measured * len(society.members) / society.nodes
    return Found(longest, strangers, _parted(society, skips.graph), [0.0], storage)


def can(society: Society, dims: int, rounds: int) -> Found:
    """A mini CAN for each topic, and one of all nodes; the half-way rule as it is printed."""
    longest, parted, missed, near = [], [], [], []
    for one in society.looked_at(CONNECTED_AT):
        publishers, subscribers = society.halves(one)
        members = np.sort(society.members[one])
        space = Space.joined(points(society.seed, members + 1, f"topic {one}", dims))
        hears = np.searchsorted(members, subscribers)
        for who in np.searchsorted(members, publishers[:SENDERS]):
            hops = space.flood(int(who)).hops[hears]
            longest.append(int(hops.max()))
            missed.append(float((hops < 0).mean()))
        near.append(space.zones.near.size / space.size)
        halves = (np.searchsorted(members, half) for half in (publishers, subscribers))
        parted.append(not all(connected(half, _beside(space)) for half in halves))
    everyone = np.arange(1, min(society.nodes, CAN_NODES_MAX) + 1)
    whole = Space.joined(points(society.seed, everyone, "everyone", dims))
    storage = rounds * float(np.mean(near)) + whole.zones.near.size / whole.size
    return Found(longest, [0.0], parted, missed, storage)


def connected(members: npt.ArrayLike, contacts: Callable[[int], Ints]) -> bool:
    """Can everybody of ``members`` be reached from the first, over contacts that are of them too?"""
    left = set(np.asarray(members).tolist())
    ahead = [left.pop()]
    while ahead and left:
        near = left.intersection(contacts(ahead.pop()).tolist())
        left -= near
        ahead += near
    return not left


def _strange(reached: Ints, members: Ints) -> float:
    return float(1.0 - np.isin(np.unique(reached), members).mean())


def _parted(society: Society, graph: SkipGraph) -> list[bool]:
    contacts = _contacts(graph)
    topics = society.looked_at(CONNECTED_AT)
    return [not all(connected(half, contacts) for half in society.halves(one)) for one in topics]


def _contacts(graph: SkipGraph) -> Callable[[int], Ints]:
    """The brokers in a broker's tables."""
    layout, owners = graph.layout, graph.layout.owners()

    def contacts(broker: int) -> Ints:
        return np.concatenate(list(_towers(broker)))

    def _towers(broker: int) -> Iterator[Ints]:
        for position in layout.positions(broker):
            yield owners[graph.links[2 * graph.base[position] : 2 * graph.base[position + 1]]]

    return contacts


def _beside(space: Space) -> Callable[[int], Ints]:
    zones = space.zones
    return lambda member: zones.near[zones.first[member] : zones.first[member + 1]]
