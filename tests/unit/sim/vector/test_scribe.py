"""Scribe in bulk: a tree is a tree, over rings and hypercubes; what cannot be is refused."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.overlay.rendezvous.geometry import flip, identity
from weft.overlay.scribe import geometry
from weft.sim.vector.layout import Layout
from weft.sim.vector.scribe import Substrate, tree
from weft.sim.vector.skipgraph import build, membership


def rings(nodes: int, seed: int = 1) -> Substrate:
    ids = np.arange(1, nodes + 1)
    vectors = membership(seed, ids)
    return Substrate.rings(build(Layout.plain(ids), vectors), vectors)


def test_over_a_hypercube_it_is_the_pure_functions_tree():
    for target in (0, 5, 31):
        found = tree(Substrate.hypercube(5), target, range(0, 32, 3))
        wanted = geometry.tree(range(0, 32, 3), target, lambda at, target=target: flip(at, target))
        assert found.root == target
        assert dict(zip(found.nodes.tolist(), found.parents.tolist(), strict=True)) == wanted
        assert found.depths.tolist() == [geometry.depth(node, target, wanted) for node in found.nodes.tolist()]
        assert found.reached.tolist() == [(node ^ target).bit_count() for node in range(0, 32, 3)]


def test_every_chain_of_parents_ends_at_the_root_and_depths_count_it():
    over = rings(3_000)
    found = tree(over, identity("t", 48), range(0, 3_000, 7))
    parents = dict(zip(found.nodes.tolist(), found.parents.tolist(), strict=True))
    assert found.root not in parents
    for node, depth in zip(found.nodes.tolist(), found.depths.tolist(), strict=True):
        assert geometry.depth(node, found.root, parents) == depth
        assert over.onward(node, identity("t", 48)) == parents[node]
    assert over.identity(5) == int(over.net.identities[5])
    assert Substrate.hypercube(4).identity(5) == 5


def test_room_is_as_before_after_each_tree():
    over = rings(500)
    first = tree(over, identity("a", 48), range(100))
    tree(over, identity("b", 48), range(300, 500))
    again = tree(over, identity("a", 48), range(100))
    assert np.array_equal(first.nodes, again.nodes)
    assert (over.room.place == -1).all()


def test_a_topic_without_subscribers_costs_the_way_to_its_root():
    found = tree(rings(50), identity("t", 48), [])
    assert (found.nodes.size, found.joins, found.leaves) == (0, 0, 0)


def test_forwards_add_up_to_the_messages_and_a_publisher_adds_its_way_to_the_root():
    found = tree(rings(400), identity("t", 48), range(60))
    assert found.forwards(np.zeros(400, np.int64)).sum() == found.nodes.size
    assert np.array_equal(found.lengths(found.root), found.reached)
    assert np.array_equal(found.lengths((found.root + 1) % 400), found.reached + 1)


def test_what_cannot_be_is_refused():
    with pytest.raises(Misuse, match="one key each"):
        Substrate.rings(build(Layout.shared([1], [0, 0]), membership(1, np.array([1]))), membership(1, np.array([1])))
    with pytest.raises(Misuse, match="dimension"):
        Substrate.hypercube(60)
    for wrong in ([-1], [50]):
        with pytest.raises(Misuse, match="one of the 50 nodes"):
            tree(rings(50), 3, wrong)
