"""The models of the baselines are the machines: the very same trees and zones, the same messages, the same hops."""

from collections import Counter

import numpy as np
import pytest

from groups_bench import TREES, Meeting
from skipgraph_bench import BARE
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import number_key
from weft.overlay.rendezvous.geometry import identity
from weft.overlay.shg.patterns import Predicate, matches, pattern
from weft.sim.baselines import Beside, hypercube, numeric, over, shg
from weft.sim.vector import bayeux, can, scribe
from weft.sim.vector.layout import Layout
from weft.sim.vector.scribe import Substrate
from weft.sim.vector.shg import Shg
from weft.sim.vector.skipgraph import build, membership, seeded
from weft.sim.whole import whole_skipgraph

TARGET = identity("t", 48)


def both(kind: str, nodes: int, seed: int) -> tuple[Meeting, Substrate]:
    """Machines and model over the rings of one seed."""
    ids = np.arange(1, nodes + 1)
    vectors = membership(seed, ids)
    routes = numeric([int(vector) for vector in vectors])
    return Meeting(over(routes, TREES[kind]), seed), Substrate.rings(build(Layout.plain(ids), vectors), vectors)


def cubes(kind: str, digits: int) -> tuple[Meeting, Substrate]:
    return Meeting(over(hypercube(digits), TREES[kind])), Substrate.hypercube(digits)


def cases(kind: str) -> list[tuple[Meeting, Substrate, int, Rng]]:
    made = [
        (*both(kind, nodes, seed), TARGET, Rng(seed, nodes)) for seed, nodes in enumerate([1, 2, 3, 4, 5, 8, 13, 40])
    ]
    made += [(*both(kind, 60, seed), TARGET, Rng(seed)) for seed in range(20, 32)]
    return made + [(*cubes(kind, digits), identity("t", digits), Rng(digits)) for digits in (1, 2, 5, 8)]


def held(meeting: Meeting, root: int) -> None:
    assert [node - 1 for node, machine in meeting.machines.items() if machine.owned] == [root]


def assert_scribe(meeting: Meeting, over: Substrate, target: int, subscribers: list[int], publisher: int) -> None:
    tree = scribe.tree(over, target, subscribers)
    meeting.subscribe(*(node + 1 for node in subscribers))
    held(meeting, tree.root)
    parents = {n - 1: m.branches["t"].parent - 1 for n, m in meeting.machines.items() if m.branches and not m.owned}
    assert parents == dict(zip(tree.nodes.tolist(), tree.parents.tolist(), strict=True))
    assert meeting.sent() == {kind: count for kind, count in (("Join", tree.joins), ("Leave", tree.leaves)) if count}
    meeting.publish(publisher + 1)
    before = meeting.sent()
    received = meeting.publish(publisher + 1)
    assert (meeting.sent() - before)["Data"] == tree.nodes.size
    assert {node - 1: event.hops for node, event in received} == dict(
        zip(subscribers, tree.lengths(publisher).tolist(), strict=True)
    )


@pytest.mark.parametrize("case", range(24))
def test_scribes_trees(case):
    meeting, over, target, rng = cases("scribe")[case]
    assert_scribe(meeting, over, target, rng.sample(range(over.size), min(over.size, 15)), rng.below(over.size))


def test_scribes_trees_of_2000_nodes():
    rng = Rng(6)
    assert_scribe(*both("scribe", 2_000, 6), TARGET, rng.sample(range(2_000), 500), 7)


@pytest.mark.parametrize("seed", range(3))
def test_scribes_trees_beside_the_skip_graph_of_that_seed(seed):
    """No vector is handed over: machine and model draw them from the seed."""
    nodes, rng = 300, Rng(seed)
    keys = {NodeId(node): [number_key(node, NodeId(node))] for node in range(1, nodes + 1)}
    peers = {node: Beside(peer, TREES["scribe"]) for node, peer in whole_skipgraph(keys, BARE, seed).items()}
    meeting = Meeting(peers, seed)
    meeting.machines = {node: beside.groups for node, beside in peers.items()}
    graph = seeded(Layout.plain(np.arange(1, nodes + 1)), seed)
    over = Substrate.rings(graph, membership(seed, np.arange(1, nodes + 1)))
    assert_scribe(meeting, over, TARGET, rng.sample(range(nodes), 60), rng.below(nodes))


def assert_bayeux(meeting: Meeting, over: Substrate, target: int, members: list[int], publisher: int) -> None:
    ways = bayeux.ways(over, target, members)
    meeting.subscribe(*(node + 1 for node in members))
    held(meeting, ways.root)
    edges = {
        (node - 1, to - 1)
        for node, machine in meeting.machines.items()
        for branch in machine.branches.values()
        for to in branch.targets()
    }
    assert edges == set(zip(ways.sources.tolist(), ways.targets.tolist(), strict=True))
    assert meeting.sent() == {kind: count for kind, count in (("Join", ways.joins), ("Tree", ways.trees)) if count}
    meeting.publish(publisher + 1)
    before, copies = meeting.sent(), meeting.counts()["bayeux.copy"]
    received = meeting.publish(publisher + 1)
    assert (meeting.sent() - before)["Data"] == ways.sources.size
    assert meeting.counts()["bayeux.copy"] - copies == ways.copies
    assert {node - 1: event.hops for node, event in received} == dict(
        zip(members, ways.lengths(publisher).tolist(), strict=True)
    )


@pytest.mark.parametrize("case", range(24))
def test_bayeuxs_ways(case):
    meeting, over, target, rng = cases("bayeux")[case]
    assert_bayeux(meeting, over, target, rng.sample(range(over.size), min(over.size, 15)), rng.below(over.size))


def test_bayeuxs_ways_of_2000_nodes():
    rng = Rng(6)
    assert_bayeux(*both("bayeux", 2_000, 6), TARGET, rng.sample(range(2_000), 300), 7)


@pytest.mark.parametrize("start", range(0, 40, 3))
def test_the_first_publications_way_to_the_root(start):
    for seed in range(6):
        meeting, over = both("scribe", 40, seed)
        meeting.publish(start + 1)
        sought = over.seek(TARGET, start)
        held(meeting, sought.root)
        assert meeting.sent()["Post"] == sought.hops


def assert_flood(meeting: Meeting, space: can.Space, inside: list[int], publisher: int, again: bool) -> None:
    zones = {node: meeting.machines[NodeId(node)].members["t"].zone for node in inside}
    assert [zone.low for zone in zones.values()] == [tuple(low) for low in space.zones.low.tolist()]
    assert [zone.high for zone in zones.values()] == [tuple(high) for high in space.zones.high.tolist()]
    flooded = space.flood(inside.index(publisher), again=again)
    before, copies = meeting.simulation.sent["Flood"], meeting.counts()["can.copy"]
    received = meeting.publish(publisher)
    assert meeting.simulation.sent["Flood"] - before == flooded.sent.sum()
    assert meeting.counts()["can.copy"] - copies == flooded.copies
    assert {node: event.hops for node, event in received} == {
        node: hops for node, hops in zip(inside, flooded.hops.tolist(), strict=True) if hops >= 0
    }


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("nodes", "dims", "members"), [(1, 2, 1), (3, 1, 2), (20, 1, 13), (60, 2, 40), (60, 3, 50)])
def test_cans_and_their_floods(nodes, dims, members, again):
    meeting = Meeting.cans(nodes, dims, seed=dims, again=again)
    joining = Rng(dims, nodes).sample(range(1, nodes + 1), members)
    meeting.subscribe(*joining)
    inside = sorted(joining)
    space = can.Space.joined(can.points(dims, inside, "t", dims), [inside.index(node) for node in joining])
    for publisher in inside[:10]:
        assert_flood(meeting, space, inside, publisher, again)


def test_a_can_of_2000_members():
    meeting = Meeting.cans(2_000, 2, seed=4)
    inside = list(range(1, 2_001))
    meeting.subscribe(*inside)
    space = can.Space.joined(can.points(4, inside, "t", 2))
    for publisher in (1, 77, 1_999):
        assert_flood(meeting, space, inside, publisher, again=False)


@pytest.mark.parametrize("variant", ["corrected", "literal"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (4, 2), (5, 3), (6, 3), (7, 4), (11, 5)])
def test_shgs_messages_and_who_receives(n, k, variant):
    rng, meeting, model = Rng(n, k), Meeting(shg(n, k, variant)), Shg(n, k, variant)
    patterns = [pattern(Predicate("x", "=", which % 5)) for which in range(5)] + [pattern(Predicate("y", ">", 3))]
    own = np.zeros((len(patterns), 1 << n), np.bool_)
    for which in range(len(patterns)):
        for corner in rng.sample(range(1 << n), max(1, min(40, 1 << n - 2))):
            own[which, corner] = True
            meeting.subscribe(corner + 1, interest=patterns[which])
    assert meeting.sent()["Subscribe"] == model.subscriptions(own).sum()
    known = [[wanted in meeting.machines[NodeId(v + 1)].table for v in range(1 << n)] for wanted in patterns]
    assert np.array_equal(model.installed(own), np.array(known))
    contents = [{"x": rng.below(7), "y": rng.below(7)} for _ in range(20)]
    publishers = [rng.below(1 << n) for _ in contents]
    matching = np.array([[matches(wanted, content) for wanted in patterns] for content in contents])
    events = model.events(own, matching, publishers)
    for at, (content, publisher) in enumerate(zip(contents, publishers, strict=True)):
        before = meeting.sent()
        received = meeting.publish(publisher + 1, content)
        sent = meeting.sent() - before
        assert (sent["Up"], sent["Across"], sent["Down"]) == (events.up[at], events.across[at], events.down[at])
        counted = Counter(node - 1 for node, _ in received)
        assert counted == {v: count for v, count in enumerate(events.served[at].tolist()) if count}
        first: dict[int, int] = {}
        for node, event in received:
            first.setdefault(node - 1, event.hops)
        assert first == {v: hops for v, hops in enumerate(events.hops[at].tolist()) if hops >= 0}


@pytest.mark.parametrize("nodes", [10_000])
def test_beyond_that_the_same_distribution(nodes):
    """Other vectors: the mean depth of one seed's tree is one that other seeds' could be (RELAY, figure 11)."""
    means = []
    for seed in range(8):
        ids = np.arange(1, nodes + 1)
        vectors = membership(seed, ids)
        over = Substrate.rings(build(Layout.plain(ids), vectors), vectors)
        means.append(np.mean(scribe.tree(over, TARGET, np.arange(0, nodes, 17)).reached))
    lengths = []
    for seed in range(8):
        meeting, _ = both("scribe", 1_000, seed)
        meeting.subscribe(*range(1, 1_001, 17))
        lengths.append(np.mean([event.hops - event.relay for _, event in meeting.publish(1)]))
    assert np.mean(means) - np.mean(lengths) == pytest.approx(np.log2(10), abs=1.0)
