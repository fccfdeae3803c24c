"""What a tree says of itself; that it is the machines' tree is in ``tests/cross``."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.keys import ALM, EVERYTHING, Key, KeyRange, after, before, segment_range
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import STRATEGIES, multicast
from weft.sim.vector.skipgraph import seeded
from weft.sim.vector.suzaku import Suzaku

SIXTEEN = Suzaku(Layout.plain(range(1, 17)))


def test_a_tree_by_hand():
    """Binary over fingers: 0 hands all to 2, its farthest; 2 cuts the rest at itself."""
    tree = multicast(SIXTEEN, 0, Span(0, 4), "binary")
    assert tree.messages.tolist() == [[0, 2, 1, -1], [2, 1, 2, 0], [2, 3, 2, 0]]
    assert tree.depths.tolist() == [0, 2, 1, 2]
    assert tree.parents.tolist() == [0, 2, 0, 2]
    assert tree.forwards().tolist() == [1, 0, 2, *[0] * 13]
    assert tree.via.tolist() == [-1, 1, 0, 2]


def test_forwards_of_many_trees_add_up():
    total = np.zeros(16, np.int64)
    for _ in range(3):
        multicast(SIXTEEN, 0, Span(0, 4), "binary").forwards(total)
    assert total.tolist() == [3, 0, 6, *[0] * 13]


def test_costs_add_up_along_the_way():
    tree = multicast(SIXTEEN, 0, Span(0, 4), "binary")
    assert tree.along(np.array([10, 1, 5])).tolist() == [10, 11, 15]


def test_crossings_are_counted_between_sites():
    tree = multicast(SIXTEEN, 0, Span(0, 4), "binary")
    assert tree.crossings(np.array([0, 0, 1, 1, *[2] * 12], np.int32)) == 2


def test_nobody_and_one():
    assert multicast(SIXTEEN, 8, Span(9, 9), "split").messages.size == 0
    towards = multicast(SIXTEEN, 5, Span(9, 9), "split").messages.tolist()
    assert towards == [[5, 7, 1, -1], [7, 8, 2, 0]], "8 knows by its right neighbour that nobody is there"
    alone = multicast(SIXTEEN, 5, Span(5, 6), "split")
    assert (alone.messages.size, alone.depths.tolist()) == (0, [0])
    assert multicast(Suzaku(Layout.plain([1])), 0, Span(0, 1), "binary").depths.tolist() == [0]


@pytest.mark.parametrize("overlay", ["suzaku", "skipgraph"])
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_everybody_is_reached_once_by_fewer_messages_than_keys(overlay, strategy):
    size = 20_000
    rng = np.random.RandomState(3)
    layout = Layout.shared(range(1, 5_001), rng.permutation(size) // 4, run=np.arange(size) // 1_250)
    model = Suzaku(layout) if overlay == "suzaku" else seeded(layout, 1)
    tree = multicast(model, 17, Span(0, size), strategy)
    assert tree.lost == 0
    assert (tree.depths >= 0).all()
    assert len(tree.messages) == tree.forwards().sum() < size
    causes = tree.cause
    assert (causes < np.arange(causes.size)).all()
    assert (tree.source[causes >= 0] == tree.target[causes[causes >= 0]]).all()


def test_a_span_of_real_keys_knows_the_localities_at_its_borders():
    keys = [
        Key("L", topic, ALM, 0, (site,), NodeId(1 + at))
        for at, (topic, site) in enumerate([("a", "x"), ("a", "x"), ("a", "y"), ("b", "x")])
    ]
    assert Span.of(keys, EVERYTHING) == (0, 4, -1, -1)
    assert Span.of(keys, segment_range("L", "a", ALM)) == (0, 3, -1, -1)
    assert Span.of(keys, KeyRange(after(keys[0]), keys[2])) == (1, 2, 0, 1)
    assert Span.of(keys, KeyRange(after(keys[1]), before(keys[2]))) == (2, 2, 0, 1)
    with pytest.raises(Misuse):
        Span.of(keys, KeyRange(keys[0], keys[0]))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: multicast(SIXTEEN, 0, Span(0, 4), "flood"),
        lambda: multicast(SIXTEEN, 16, Span(0, 4), "binary"),
        lambda: multicast(SIXTEEN, 0, Span(4, 3), "binary"),
        lambda: multicast(SIXTEEN, 0, Span(0, 17), "binary"),
    ],
)
def test_misuse_is_said_at_once(wrong):
    with pytest.raises(Misuse):
        wrong()
