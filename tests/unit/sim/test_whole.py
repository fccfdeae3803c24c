"""Rings that start whole are the rings that joins and updates would have made."""

import pytest

from rings import Net, grown, key
from skipgraph_bench import BARE, Rings
from weft.core.ids import NodeId
from weft.overlay.api import Found
from weft.overlay.keys import number_key
from weft.overlay.settings import Settings
from weft.overlay.suzaku.machine import Suzaku
from weft.sim.convergence import skipgraph_converged, suzaku_converged
from weft.sim.des.engine import Simulation
from weft.sim.invariants import RingCheck
from weft.sim.whole import whole_skipgraph, whole_suzaku

STILL = Settings(ping_interval_s=None, update_interval_s=None, lost_interval_s=None)
QUICK = Settings(ping_interval_s=1.0, update_interval_s=1.0)


def tables(net: Net) -> dict[int, object]:
    """What a lookup or a multicast can see of each broker: fingers both ways, neighbours, left-neighbour list."""
    seen = {}
    for broker, peer in net.peers.items():
        link = net.link(broker)
        sides = [[entry.ref.key for entry in side(key(broker))] for side in (peer.rights, peer.lefts)]
        seen[broker] = (sides, link.left.key, link.right.key, [known.key for known in link.lefts])
    return seen


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 9])
def test_it_is_what_joins_produce(count):
    joined = grown(range(1, count + 1), Suzaku, QUICK)
    joined.run(120.0)
    ready = Net(Suzaku)
    ready.peers.update(whole_suzaku({NodeId(b): [key(b)] for b in range(1, count + 1)}, STILL))
    assert tables(ready) == tables(joined)


def test_fingers_have_the_backups_and_the_pointers_that_updates_would_have_told():
    joined = grown(range(1, 10), Suzaku, QUICK)
    joined.run(300.0)
    ready = Net(Suzaku)
    ready.peers.update(whole_suzaku({NodeId(b): [key(b)] for b in range(1, 10)}, STILL))
    for broker in ready.peers:
        mine, theirs = (net.peers[broker].fingers.tables[key(broker)] for net in (ready, joined))
        assert [[known.key for known in finger.backups] for finger in mine.forward[1:]] == [
            [known.key for known in finger.backups] for finger in theirs.forward[1:]
        ]
        assert {ref.key for ref in mine.reverse} <= {ref.key for ref in theirs.reverse}


def test_brokers_with_several_keys_share_one_ring():
    keys = {NodeId(b): [number_key(number, NodeId(b)) for number in range(b, 40, 5)] for b in (1, 2, 3, 4)}
    peers = whole_suzaku(keys, STILL)
    suzaku_converged(list(peers.values()))
    RingCheck().at_rest(peers.values())
    for node, held in keys.items():
        assert sorted(peers[node].keys()) == sorted(held)


def test_it_stays_as_it_is_under_upkeep():
    peers = whole_suzaku({NodeId(b): [key(b)] for b in range(1, 14)}, QUICK)
    simulation = Simulation(1)
    for node, peer in peers.items():
        simulation.add(node, peer)
    simulation.run(until=30.0)
    suzaku_converged(list(peers.values()))
    RingCheck().at_rest(peers.values())
    assert sum(simulation.sent.values()) > 0
    assert "SetR" not in simulation.sent, "there was nothing to repair"


def test_lookups_work_at_once():
    net = Net(Suzaku)
    net.peers.update(whole_suzaku({NodeId(b): [key(b)] for b in range(1, 17)}, STILL))
    net.do(1, lambda peer, now, out: peer.lookup(now, key(9), out))
    net.settle()
    (found,) = net.heard(Found, 1)
    assert found.at.key == key(9)
    assert found.hops <= 3


@pytest.mark.parametrize(("nodes", "keys_each"), [(1, 1), (2, 1), (3, 2), (9, 1), (6, 3)])
def test_a_skip_graph_is_what_joins_produce(nodes, keys_each):
    joined = Rings(nodes, keys_each, seed=4)
    joined.join_all(1.0).settle(600.0)
    held: dict[NodeId, list] = {NodeId(node): [] for node in range(1, nodes + 1)}
    for each in joined.keys:
        held[each.broker].append(each)
    whole = whole_skipgraph(held, BARE, seed=4)
    for node, peer in joined.peers.items():
        assert whole[node].vector == peer.vector
        for each in held[node]:
            for side in ("rights", "lefts"):
                tables = [getattr(every[node], side)(each) for every in (whole, joined.peers)]
                assert [[(e.ref.key, e.level) for e in table] for table in tables].count(
                    [(e.ref.key, e.level) for e in tables[0]]
                ) == 2


def test_a_whole_skip_graph_stays_as_it_is_under_upkeep():
    held = {NodeId(node): [number_key(number, NodeId(node)) for number in (node, node + 50)] for node in range(1, 14)}
    peers = whole_skipgraph(held, Settings(ping_interval_s=1.0, walk_interval_s=1.0))
    simulation = Simulation(1)
    for node, peer in peers.items():
        simulation.add(node, peer)
    simulation.run(until=30.0)
    skipgraph_converged(list(peers.values()))
    RingCheck().at_rest(peers.values())
    assert simulation.sent["Step"] > 0
    assert "SetR" not in simulation.sent, "there was nothing to repair"
