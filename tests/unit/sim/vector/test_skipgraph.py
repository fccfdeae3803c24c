"""Skip Graphs in bulk: the converged tables, as ``static_levels`` defines them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.overlay.settings import Settings
from weft.overlay.skipgraph.geometry import static_levels
from weft.overlay.skipgraph.machine import SkipGraph as Machine
from weft.sim.vector.layout import Layout
from weft.sim.vector.skipgraph import build, membership, seeded


@st.composite
def cases(draw):
    """Few digits, so that vectors are often equal; brokers with several keys, or none."""
    digits = draw(st.integers(1, 6))
    brokers = draw(st.integers(1, 12))
    vectors = draw(st.lists(st.integers(0, 2**digits - 1), min_size=brokers, max_size=brokers))
    owner = draw(st.lists(st.integers(0, brokers - 1), min_size=1, max_size=30))
    present = sorted(set(owner))
    return digits, [vectors[broker] for broker in present], [present.index(broker) for broker in owner]


@given(cases())
@settings(max_examples=300)
def test_any_vectors_and_owners(case):
    digits, vectors, owner = case
    layout = Layout.shared(range(1, len(vectors) + 1), owner)
    model = build(layout, np.array(vectors, np.uint64), digits)
    nodes = [(position, vectors[broker]) for position, broker in enumerate(owner)]
    expected = static_levels(nodes, digits, owner=lambda position: owner[position])
    assert {position: model.levels(position) for position in range(layout.size)} == expected


@given(st.integers(1, 200), st.integers(0, 2**32))
@settings(max_examples=60)
def test_a_broker_for_each_position(size, seed):
    layout = Layout.plain(range(1, size + 1))
    vectors = membership(seed, layout.ids)
    expected = static_levels([(at, int(vectors[at])) for at in range(size)], owner=lambda at: at)
    model = seeded(layout, seed)
    assert [model.levels(position) for position in range(size)] == [expected[at] for at in range(size)]


def test_vectors_are_those_that_the_machines_draw():
    ids = np.array([1, 2, 77, 1 << 40], np.int64)
    for digits in (5, 48, 63):
        chosen = Settings(membership_digits=digits)
        expected = [Machine(int(node), chosen, 99).vector for node in ids]
        assert membership(99, ids, digits).tolist() == expected


def test_towers_are_as_high_as_the_logarithm_and_a_little():
    """On average a node of n has log2 n levels and a third, besides level 0: storage stays O(log n) (RELAY §5.1)."""
    for size in (1_000, 30_000):
        model = seeded(Layout.plain(range(1, size + 1)), 5)
        mean = model.base[-1] / size
        assert np.log2(size) + 1 < mean < np.log2(size) + 2
        assert model.nbytes < (2 * 4 * (np.log2(size) + 2) + 8) * size + 8
