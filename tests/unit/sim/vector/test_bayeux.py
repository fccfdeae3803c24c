"""Bayeux in bulk: the ways of the pure functions; what cannot be is refused."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.overlay.bayeux import geometry
from weft.overlay.rendezvous.geometry import flip, identity
from weft.sim.vector.bayeux import ways
from weft.sim.vector.layout import Layout
from weft.sim.vector.scribe import Substrate
from weft.sim.vector.skipgraph import build, membership


def test_over_a_hypercube_they_are_the_pure_functions_ways():
    members = list(range(1, 64, 5))
    found = ways(Substrate.hypercube(6), 9, members)
    table = geometry.ways(members, 9, flip)
    depths = geometry.hops(9, table)
    assert set(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == {
        (at, following) for at, targets in table.items() for following in targets
    }
    assert found.reached.tolist() == [depths[member] for member in members]
    assert found.copies == sum(map(len, table.values())) - (len(depths) - 1)
    assert found.trees == sum((member ^ 9).bit_count() for member in members)


def test_forwards_add_up_and_a_publisher_adds_its_way_to_the_root():
    ids = np.arange(1, 301)
    vectors = membership(2, ids)
    found = ways(Substrate.rings(build(Layout.plain(ids), vectors), vectors), identity("t", 48), range(50))
    assert found.forwards(np.zeros(300, np.int64)).sum() == found.sources.size
    assert np.array_equal(found.lengths(found.root), found.reached)
    assert np.array_equal(found.lengths((found.root + 1) % 300), found.reached + 1)


def test_nobody_and_the_root_alone_cost_nothing():
    over = Substrate.hypercube(4)
    assert ways(over, 3, []).sources.size == ways(over, 3, [3]).sources.size == 0
    assert ways(over, 3, [3]).reached.tolist() == [0]


def test_what_cannot_be_is_refused():
    with pytest.raises(Misuse, match="one of the 16 nodes"):
        ways(Substrate.hypercube(4), 3, [16])
    vectors = np.array([5, 5, 0], np.uint64)
    over = Substrate.rings(build(Layout.plain([1, 2, 3]), vectors, 4), vectors, 4)
    with pytest.raises(Misuse, match="one id"):
        ways(over, 0, [0, 1])
