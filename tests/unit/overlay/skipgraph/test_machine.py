"""The Skip Graph as an overlay: its vector, its routing entries, copies of it."""

from copy import deepcopy

import pytest

from skipgraph_bench import BARE, QUICK, Rings
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Outbox
from weft.overlay.api import Entry
from weft.overlay.keys import number_key
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.geometry import static_levels
from weft.overlay.skipgraph.machine import SkipGraph


def test_the_vector_is_drawn_from_the_seed_or_given():
    one = SkipGraph(NodeId(1), BARE, seed=5)
    assert one.vector == SkipGraph(NodeId(1), BARE, seed=5).vector
    assert one.vector != SkipGraph(NodeId(2), BARE, seed=5).vector
    assert one.vector != SkipGraph(NodeId(1), BARE, seed=5, run=1).vector, "another life is another place"
    assert 0 <= one.vector < 1 << BARE.membership_digits
    assert SkipGraph(NodeId(1), BARE, vector=7).vector == 7


@pytest.mark.parametrize(("digits", "vector"), [(0, None), (64, None), (4, 16), (4, -1)])
def test_a_vector_that_cannot_be_is_refused(digits, vector):
    with pytest.raises(Misuse, match="membership vector"):
        SkipGraph(NodeId(1), Settings(membership_digits=digits), vector=vector)


def test_entries_are_the_neighbours_level_by_level():
    rings = Rings(20, 2, seed=3, settings=BARE).join_all(0.5)
    tables = static_levels((key, rings.peers[key.broker].vector) for key in rings.keys)
    for key in rings.keys:
        peer = rings.peers[key.broker]
        assert [entry.level for entry in peer.rights(key)] == list(range(peer.height(key) + 1))
        assert [
            (left.ref.key, right.ref.key) for left, right in zip(peer.lefts(key), peer.rights(key), strict=True)
        ] == (tables[key])
        held = {entry.ref.key for entry in (*peer.rights(key), *peer.lefts(key))}
        low, high = number_key(0, NodeId(1)), number_key(10**10, NodeId(1))
        assert held <= {ref.key for ref in peer.contacts.inside(low, high, 0.0)}, "routing uses all levels"


def test_a_node_alone_has_itself_at_level_0():
    peer = SkipGraph(NodeId(1), BARE)
    key = number_key(1, NodeId(1))
    peer.join(0.0, key, None, Outbox())
    me = peer.contacts.own[0]
    assert peer.rights(key) == peer.lefts(key) == [Entry(me, 0)]
    assert peer.height(key) == 0


def test_a_copy_goes_its_own_way():
    rings = Rings(6, 2, seed=1, settings=QUICK).join_all(0.0)
    peer = rings.peers[NodeId(3)]
    copy, other = deepcopy(peer), deepcopy(peer)
    rings.settle(60)
    outs = [Outbox(), Outbox()]
    for machine, out in zip((copy, other), outs, strict=True):
        for _ in range(50):
            machine.timeout(machine.deadline, out)
    assert outs[0].effects == outs[1].effects != []
    assert rings.wrong() == [], "what copies do happens to them alone"
