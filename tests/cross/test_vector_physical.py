"""Hops and trees of switches by formula are those on the event simulator's topologies."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from casting import Ring, drawn_keys
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import segment_range
from weft.sim.des import shapes
from weft.sim.des.physical import Physical
from weft.sim.vector.layout import Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.physical import Line, Star, unicasts


def world(kind: str, clusters: int, seed: int):
    """A fabric, the topology that it stands for, and each cluster's edge switch there."""
    if kind == "star":
        return Star(clusters), shapes.tree(1, clusters), [f"s{number + 2}" for number in range(clusters)]
    places = list(range(clusters))
    if kind == "shuffled line":
        Rng(seed).shuffle(places)
    return Line(clusters, places), shapes.line(clusters), [f"s{place + 1}" for place in places]


KINDS = ("line", "shuffled line", "star")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clusters", [1, 2, 5, 16])
def test_every_pair_of_clusters(kind, clusters):
    fabric, topology, edge = world(kind, clusters, seed=clusters)
    one, other = np.divmod(np.arange(clusters**2), clusters)
    ways = [len(topology.path(edge[a], edge[b])) - 1 for a, b in zip(one, other, strict=True)]
    assert fabric.hops(one, other).tolist() == ways


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(30))
def test_a_tree_is_the_union_of_the_ways_to_the_members(kind, seed):
    rng = Rng(seed, 5)
    clusters = 1 + rng.below(9)
    members = [rng.below(3) for _ in range(clusters)]
    publisher = rng.below(clusters)
    fabric, topology, edge = world(kind, clusters, seed)
    ways = [topology.path(edge[publisher], edge[at]) for at in range(clusters) if members[at]]
    links = {frozenset(link) for way in ways for link in pairwise(way)}
    degrees = Counter(switch for link in links for switch in link)
    ofm = fabric.ofm(members, publisher)
    assert ofm.links == len(links)
    assert ofm.largest == max((len(way) - 1 for way in ways), default=0)
    involved = {edge[publisher], *degrees}
    assert ofm.switches == len(involved)
    behind = Counter({edge[at]: members[at] for at in range(clusters)})
    assert sorted(ofm.flows.tolist()) == sorted((s in involved) + behind[s] for s in topology.switches)
    assert sorted(ofm.buckets.tolist()) == sorted(degrees[s] + behind[s] for s in topology.switches)
    assert ofm.flows.sum() == ofm.switches + sum(members)
    assert ofm.buckets.sum() == 2 * (ofm.switches - 1) + sum(members)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", ["binary", "cluster-first"])
def test_links_that_the_machines_messages_cross(kind, strategy):
    sites = 6
    fabric, topology, edge = world(kind, sites, seed=1)
    keys = drawn_keys(Rng(4), 200, 1, sites)
    network = Physical(topology)
    ring = Ring("skipgraph", keys, seed=2, network=network)
    stands = {key.broker: int(key.cluster[0][1:]) if key.cluster else 0 for key in keys}
    for broker, site in stands.items():
        topology.place(NodeId(broker), edge[site])
    wanted = segment_range("L", "t0", keys[0].segment)
    sender = next(key.broker for key in keys if key in wanted)
    ring.cast(sender, wanted, strategy)
    tree = multicast(ring.model, ring.numbers[sender], Span.of(ring.keys, wanted), strategy)
    by_number = np.array([stands[int(node)] for node in tree.layout.ids], np.int32)
    traffic, largest = unicasts(tree, by_number, fabric)
    assert traffic == ring.simulation.links_crossed["Scatter"]
    assert 0 < largest <= traffic
