"""Towers grow, heal and go: tables are exactly those that keys and vectors make, whatever happened before."""

import pytest

from rings import grown
from skipgraph_bench import BARE, QUICK, Rings
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.overlay.api import Joined, Left, Ref
from weft.overlay.keys import number_key
from weft.overlay.ring.messages import Kind, SetR, Status
from weft.overlay.ring.tables import Link
from weft.overlay.skipgraph.geometry import static_levels
from weft.overlay.skipgraph.machine import SkipGraph
from weft.overlay.skipgraph.messages import LonelyDue
from weft.sim.des.trace import Level


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200])
def test_one_after_the_other(nodes):
    rings = Rings(nodes, seed=nodes, settings=BARE).join_all(0.5)
    assert rings.wrong() == []
    assert not rings.counts(), "no refusal, no repair, no retry"


@pytest.mark.parametrize("keys", [2, 5, 20])
def test_brokers_of_several_keys(keys):
    rings = Rings(8, keys, seed=keys, settings=BARE).join_all(2.0)
    rings.settle(20)


def test_brokers_whose_keys_alternate():
    """Two brokers on the same topics, as subscribers are: neither walks over the other's keys again and again."""
    keys = [number_key(topic, NodeId(node)) for topic in range(30) for node in (1, 2, 3)]
    rings = Rings(3, keys, settings=BARE, vectors=[0, 1 << 47, 3 << 46]).join_all(0.5)
    assert rings.wrong() == []
    joined = sum(len(peer.ring.links) for peer in rings.peers.values())
    assert rings.simulation.sent["Step"] < 2 * joined


@pytest.mark.parametrize(
    "vectors", [[0, 0, 0], [0, 0, (1 << 48) - 1], [0b01 << 46, 0b10 << 46, 0b11 << 46, 0b10 << 46]]
)
def test_vectors_that_are_equal_or_opposite(vectors):
    rings = Rings(len(vectors), 2, vectors=vectors).join_all(0.5)
    rings.settle(60)


@pytest.mark.parametrize(("nodes", "keys"), [(2, 1), (3, 1), (5, 3), (12, 2), (40, 1)])
def test_all_at_once(nodes, keys):
    for seed in range(4):
        rings = Rings(nodes, keys, seed=seed).join_all(0.0)
        rings.settle(30)
        assert len(rings.events(Joined)) == len(rings.keys)


@pytest.mark.parametrize(("nodes", "keys", "gap_s"), [(12, 1, 0.5), (12, 1, 0.0), (6, 4, 0.0), (2, 1, 0.0)])
def test_leaves(nodes, keys, gap_s):
    rings = Rings(nodes, keys, seed=5).join_all(0.3)
    rings.settle(30)
    leaving = rings.keys[1::2]
    for place, key in enumerate(leaving):
        rings.leave(key, rings.simulation.now + gap_s * place)
    rings.run(gap_s * len(leaving) + 1.0)
    rings.settle(30)
    assert {event.key for event in rings.events(Left)} == set(leaving)
    assert not any(peer.levels.towers.by_key.keys() & set(leaving) for peer in rings.peers.values())


def test_everybody_leaves_and_nothing_is_left():
    rings = Rings(6, 3, seed=2).join_all(0.3)
    for key in rings.keys:
        rings.leave(key)
    rings.run(120)
    for peer in rings.peers.values():
        assert peer.ring.links == {}
        assert peer.levels.towers.by_key == {}
        assert len(peer.contacts) == 0
        assert all(isinstance(token, LonelyDue) for token in peer.local.timers.armed())


def test_a_node_leaves_from_the_top():
    rings = Rings(12, seed=4, trace=Level.FULL, settings=BARE).join_all(0.5)
    key = max(rings.keys, key=lambda key: rings.peers[key.broker].height(key))
    height = rings.peers[key.broker].height(key)
    rings.leave(key)
    rings.run(10)
    asked = [
        step.what.level
        for step in rings.simulation.trace.steps()
        if isinstance(step.what, SetR) and step.what.kind is Kind.DELETE and step.source == key.broker
    ]
    assert asked == list(range(height, -1, -1))


def test_a_key_may_come_back():
    rings = Rings(6, 2, seed=3).join_all(0.3)
    for _ in range(3):
        rings.leave(rings.keys[3])
        rings.run(5)
        rings.join(rings.keys[3])
        rings.run(5)
    rings.settle(30)


@pytest.mark.parametrize(("nodes", "keys"), [(4, 1), (12, 1), (6, 3), (24, 2)])
def test_crashes(nodes, keys):
    for seed in range(3):
        rings = Rings(nodes, keys, seed=seed).join_all(0.3)
        rings.settle(30)
        for node in rings.rng.sample(sorted(rings.peers), max(1, nodes // 4)):
            rings.simulation.crash(node)
        rings.settle(60)


@pytest.mark.parametrize(("nodes", "keys"), [(2, 1), (4, 1), (4, 3), (16, 2)])
def test_a_partition_that_heals(nodes, keys):
    for seed in range(3):
        rings = Rings(nodes, keys, seed=seed).join_all(0.3)
        rings.settle(30)
        rings.cut(rings.rng.sample(sorted(rings.peers), nodes // 2), 30.0)
        rings.settle(60)


def test_a_partition_while_towers_grow():
    rings = Rings(16, 2, seed=9).join_all(0.0)
    rings.cut(sorted(rings.peers)[:5], 20.0)
    rings.settle(60)


def test_a_broker_that_slept_while_the_others_went_on():
    """Its ring at the top is gone meanwhile: each waits there for the other, and one of them must give in."""
    for seed in range(4):
        rings = Rings(3, 3, seed=seed, vectors=[0, 1, 1 << 47]).join_all(0.3)
        rings.settle(30)
        rings.simulation.pause(NodeId(2))
        rings.run(20.0)
        rings.simulation.resume(NodeId(2))
        rings.settle(60)


def test_a_restarted_broker_takes_its_new_place():
    rings = Rings(10, 2, seed=6).join_all(0.3)
    rings.settle(30)
    mine = [key for key in rings.keys if key.broker == 4]
    rings.simulation.crash(NodeId(4))
    rings.simulation.restart(NodeId(4), SkipGraph(NodeId(4), QUICK, 6, run=1))
    for key in mine:
        rings.join(key)
    rings.run(5)
    rings.settle(60)
    assert set(mine) == set(rings.peers[NodeId(4)].keys())


def test_a_ring_of_our_own_keys_ends_our_height():
    rings = Rings(2, 3, vectors=[0, 1]).join_all(0.3)
    rings.settle(30)
    assert {peer.height(key) for peer in rings.peers.values() for key in peer.keys()} == {47}
    for key in [key for key in rings.keys if key.broker == 2]:
        rings.leave(key)
    rings.run(20)
    peer = rings.peers[NodeId(1)]
    assert {peer.height(key) for key in peer.keys()} == {0}
    assert rings.wrong() == []


def test_upkeep_is_cheap_once_all_is_well():
    rings = Rings(64, seed=1).join_all(0.2)
    rings.settle(30)
    rings.run(60)
    before = rings.simulation.sent
    rings.run(60)
    sent = rings.simulation.sent - before
    links = sum(len(peer.ring.links) for peer in rings.peers.values())
    looks = links * 60 / QUICK.walk_interval_s
    assert sent["Step"] <= 3 * looks, "a look costs two questions on average, a few more at the top"
    assert sent["SetR"] == sent["Candidate"] == 0


def test_rings_that_start_whole_stay_as_they_are():
    rings = Rings(12, 2, seed=8)
    vectors = [(key, rings.peers[key.broker].vector) for key in rings.keys]
    refs = {key: Ref(key, key.broker, rings.peers[key.broker].local.next_incarnation()) for key in rings.keys}
    tables = static_levels(vectors)
    out = Outbox()
    for key, table in tables.items():
        for level, (left, right) in enumerate(table):
            link = Link(refs[key], level, Status.IN, left=refs[left], right=refs[right])
            rings.peers[key.broker].levels.preset(0.0, link, out)
    assert not [effect for effect in out.effects if hasattr(effect, "message")], "nothing to ask"
    for node, machine in list(rings.peers.items()):
        rings.simulation.crash(node)
        rings.simulation.restart(node, machine)  # its deadline is looked at anew
    assert rings.wrong() == []
    rings.run(30)
    assert rings.wrong() == []
    assert rings.simulation.sent["SetR"] == 0


def test_who_is_told_to_leave_on_its_way_in_grows_no_further():
    """Else a walker of our kin could have it found level 1 while it leaves, and that level would outlive level 0."""
    net = grown([1, 2], SkipGraph)
    net.join(3)
    while "SetR" not in net.kinds():
        net.deliver(net.flying.pop(0))
    net.leave(3)
    net.arrive("SetR")
    net.arrive("SetRAck")
    towers = net.peers[3].levels.towers
    assert [tower.leaving for tower in towers] == [True]
    assert towers.below(1) == [], "nobody may found a ring by it"
    net.settle()
    assert list(towers) == []
    assert net.peers[3].ring.links == {}
