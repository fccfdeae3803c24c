"""Baselines in the simulator: whole rings, and beside a Skip Graph that really joined."""

import pytest

from groups_bench import TREES, Meeting, vectors
from skipgraph_bench import BARE, Rings
from weft.overlay.skipgraph.geometry import common_prefix
from weft.sim.baselines import Beside, numeric, over, rings


def test_rings_link_to_the_right_who_shares_the_digits():
    ids = vectors(40, seed=3)
    for node, levels in enumerate(rings(ids)):
        for level, right in enumerate(levels):
            between = [other % 40 for other in range(node + 1, right + (40 if right <= node else 0))]
            assert common_prefix(ids[node], ids[right]) >= level
            assert [other for other in between if common_prefix(ids[node], ids[other]) >= level] == []


@pytest.mark.parametrize("kind", list(TREES))
def test_beside_a_live_skip_graph_it_is_what_it_is_over_whole_rings(kind):
    ids = vectors(24, seed=8)
    live = Rings(24, seed=8, settings=BARE, vectors=ids).join_all(0.5)
    assert live.wrong() == []
    order = [key.broker for key in sorted(live.keys)]
    beside = Meeting({node: Beside(peer, TREES[kind]) for node, peer in live.peers.items()})
    whole = Meeting(over(numeric([ids[node - 1] for node in order]), TREES[kind]))
    places = {node: place for place, node in enumerate(order, 1)}
    for node in (3, 9, 17, 20):
        beside.subscribe(node)
        whole.subscribe(places[node])
    one, other = beside.publish(5), whole.publish(places[5])
    assert {(places[node], event.hops, event.relay) for node, event in one} == {
        (node, event.hops, event.relay) for node, event in other
    }
    assert beside.sent()["Data"] == whole.sent()["Data"] > 0
