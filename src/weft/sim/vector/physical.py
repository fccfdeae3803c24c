"""What crosses the network between clusters: by unicasts of an overlay, and by a tree of switches (SAPS §4.1; overlay §10).

Each cluster stands behind an edge switch of its own. On a *line* the edge switches are a row; in a *tree* of height 2 they all
hang on one root, so that every two clusters are 2 hops apart (SAPS: a message to a switch and one from it). What stays inside
a cluster is not counted. The loopback packet, which tells an OFM publisher that its message was copied, is one message more
from its switch; it is kept apart, because it crosses no link between switches.

OFM is one bidirectional shared tree per topic. For each switch of it: one flow entry, whatever the number of publishers, and
one more for each member behind it (its loopback); one bucket for each link of the tree, and one for each member. So there are
switches + members flow entries and 2 (switches − 1) + members buckets.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.sim.vector.layout import Ints, Longs
from weft.sim.vector.multicast import Tree

HOST_SUBSCRIBERS_MAX = 1_000
"""SAPS §4.1.2: subscribers per host, and so per switch port."""


@dataclass(frozen=True, slots=True)
class Ofm:
    """One topic's tree, and one publish over it."""

    links: int
    """Links between switches that the message crosses: each link of the tree, once."""
    largest: int
    """Most of them on the way to one member."""
    flows: Longs
    """Flow entries of each switch."""
    buckets: Longs
    """Group buckets of each switch."""

    @property
    def switches(self) -> int:
        return int(np.count_nonzero(self.flows))


class Fabric(Protocol):
    """The switches between ``clusters`` clusters."""

    @property
    def clusters(self) -> int: ...

    @property
    def switches(self) -> int: ...

    def hops(self, one: npt.ArrayLike, other: npt.ArrayLike) -> Longs:
        """Links between clusters, pair by pair."""
        ...

    def ofm(self, members: npt.ArrayLike, publisher: int) -> Ofm:
        """The tree of a topic with ``members[c]`` members in cluster c, one of which may be the publisher's."""
        ...


class Line:
    """``places[c]`` is where cluster c stands in the row: its number, unless clusters are numbered at random."""

    def __init__(self, clusters: int, places: npt.ArrayLike | None = None) -> None:
        self.clusters = clusters
        self.places: Longs = np.arange(clusters) if places is None else np.asarray(places, np.int64)
        if clusters < 1 or not np.array_equal(np.sort(self.places), np.arange(clusters)):
            raise Misuse(f"{clusters} clusters stand at different places 0…{clusters - 1}")

    @property
    def switches(self) -> int:
        return self.clusters

    def hops(self, one: npt.ArrayLike, other: npt.ArrayLike) -> Longs:
        apart: Longs = np.abs(self.places[np.asarray(one)] - self.places[np.asarray(other)])
        return apart

    def ofm(self, members: npt.ArrayLike, publisher: int) -> Ofm:
        """Switch number p of the answer stands at place p."""
        counts = _checked(members, publisher, self.clusters)
        here = int(self.places[publisher])
        reached = np.append(self.places[np.flatnonzero(counts)], here)
        low, high = int(reached.min()), int(reached.max())
        flows, buckets = np.zeros(self.clusters, np.int64), np.zeros(self.clusters, np.int64)
        flows[low : high + 1] = 1
        buckets[low : high + 1] = 2
        buckets[low] -= 1
        buckets[high] -= 1
        flows[self.places] += counts
        buckets[self.places] += counts
        return Ofm(high - low, max(here - low, high - here), flows, buckets)


class Star:
    """The tree of height 2: a root above all edge switches. The root is the last switch."""

    def __init__(self, clusters: int) -> None:
        if clusters < 1:
            raise Misuse(f"1 cluster or more, not {clusters}")
        self.clusters = clusters

    @property
    def switches(self) -> int:
        return self.clusters + 1

    def hops(self, one: npt.ArrayLike, other: npt.ArrayLike) -> Longs:
        apart: Longs = np.asarray(np.asarray(one) != np.asarray(other), np.int64)
        return 2 * apart

    def ofm(self, members: npt.ArrayLike, publisher: int) -> Ofm:
        counts = _checked(members, publisher, self.clusters)
        edges = counts > 0
        edges[publisher] = True
        reached = int(np.count_nonzero(edges))
        flows, buckets = np.append(edges + counts, 0), np.append(counts, 0)
        if reached == 1:
            return Ofm(0, 0, flows, buckets)
        flows[-1], buckets[-1] = 1, reached
        buckets[:-1] += edges
        return Ofm(reached, 2, flows, buckets)


def _checked(members: npt.ArrayLike, publisher: int, clusters: int) -> Longs:
    counts = np.asarray(members, np.int64)
    if counts.shape != (clusters,) or (counts < 0).any() or not 0 <= publisher < clusters:
        raise Misuse(f"a number of members for each of {clusters} clusters, and a publisher in one of them")
    return counts


def unicasts(tree: Tree, sites: Ints, fabric: Fabric) -> tuple[int, int]:
    """(traffic, largest delay) in hops between clusters of one overlay multicast; ``sites`` by broker number."""
    costs = fabric.hops(sites[tree.source], sites[tree.target])
    return int(costs.sum()), int(tree.along(costs).max(initial=0))


def occupied(fabric: Fabric, members: npt.ArrayLike) -> tuple[float, float]:
    """SAPS's figure 12: switches with a flow entry, and host ports with a bucket, each by the number of switches."""
    counts = np.asarray(members, np.int64)
    used = np.flatnonzero(counts)
    if not used.size:
        return 0.0, 0.0
    ports = -(-counts // HOST_SUBSCRIBERS_MAX)
    return fabric.ofm(counts, int(used[0])).switches / fabric.switches, float(ports.sum()) / fabric.switches


def ofgate_queries(
    *, publishers: int, publish_rate: float, subscribers: int, leave_rate: float, join_rate: float
) -> tuple[float, float]:
    """SAPS's equations 1 and 2: queries to OFGate per unit of time under EITHER and under BOTH."""
    both = subscribers * leave_rate
    return publishers * publish_rate + both + subscribers * join_rate, both
