"""Tables are held to the papers' definitions: right ones pass, each bent entry is named."""

import pytest

from rings import whole
from skipgraph_bench import Rings
from weft.core.ids import NodeId
from weft.overlay.keys import number_key
from weft.sim.convergence import converged, hops_allowed, skipgraph_converged, suzaku_converged
from weft.sim.invariants import Broken


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 33])
def test_tables_as_defined_are_converged(count):
    suzaku_converged(list(whole(count).peers.values()))


@pytest.mark.parametrize(("forward", "side"), [(True, "FFT"), (False, "BFT")])
@pytest.mark.parametrize("level", [0, 2])
def test_a_finger_at_the_wrong_node_is_named(forward, side, level):
    net = whole(8)
    fingers = net.peers[3].fingers.tables[number_key(30, NodeId(3))]
    fingers.put(forward, level, net.link(6).me if level == 0 else net.link(2).me)
    with pytest.raises(Broken, match=rf"{side} of .*, wanted"):
        converged("suzaku", list(net.peers.values()))


def test_a_finger_too_few_or_too_many_is_found():
    net = whole(8)
    fingers = net.peers[3].fingers.tables[number_key(30, NodeId(3))]
    fingers.put(True, 3, net.link(1).me)
    with pytest.raises(Broken, match="FFT"):
        suzaku_converged(list(net.peers.values()))
    fingers.cut(True, 2)
    with pytest.raises(Broken, match="FFT"):
        suzaku_converged(list(net.peers.values()))


def test_one_member_too_many_changes_what_is_right():
    """Tables that were right for eight are wrong for nine."""
    net = whole(8)
    ninth = whole(9).peers[9]
    with pytest.raises(Broken):
        suzaku_converged([*net.peers.values(), ninth])


@pytest.fixture
def rings() -> Rings:
    settled = Rings(6, 2, seed=5).join_all(0.3)
    settled.settle(60)
    return settled


def test_levels_as_defined_are_converged(rings):
    converged("skipgraph", list(rings.peers.values()))


@pytest.mark.parametrize("level", [0, 1])
def test_a_neighbour_at_the_wrong_place_is_named(rings, level):
    peer = rings.peers[NodeId(2)]
    key = next(key for key in peer.keys() if (level, key) in peer.ring.links)
    link = peer.ring.links[level, key]
    link.right = link.me
    with pytest.raises(Broken, match=r"levels of .*, wanted"):
        skipgraph_converged(list(rings.peers.values()))


@pytest.mark.parametrize(("nodes", "hops"), [(1, 0), (2, 1), (3, 1), (4, 1), (5, 2), (8, 2), (9, 3), (1024, 9)])
def test_a_suzaku_lookup_has_ceil_log2_n_less_one_hops(nodes, hops):
    """SELECT §3.2; with two nodes, the other is one hop away."""
    assert hops_allowed("suzaku", nodes) == hops


def test_a_skip_graph_only_promises_its_expectation():
    assert hops_allowed("skipgraph", 64) == 64
