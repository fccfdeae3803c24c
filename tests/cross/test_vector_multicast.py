"""The model's multicast is the machines': the same messages between the same brokers, the same hops to the same keys."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casting import Ring, drawn_keys, edges
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import EVERYTHING, KeyRange, after, before, number_key, segment_range
from weft.overlay.spread.messages import PARTS_MAX
from weft.sim.vector.layout import Span
from weft.sim.vector.multicast import STRATEGIES, multicast
from weft.sim.vector.skipgraph import seeded

OVERLAYS = ("skipgraph", "suzaku")
NAMES = sorted(STRATEGIES)


def assert_same(ring: Ring, sender: int, wanted: KeyRange, strategy: str) -> int:
    if wanted.is_empty:
        assert ring.cast(sender, wanted, strategy) == ([], {})
        return 0
    span = Span.of(ring.keys, wanted)
    tree = multicast(ring.model, ring.numbers[sender], span, strategy)
    messages, reached = ring.cast(sender, wanted, strategy)
    assert edges(tree) == messages
    assert dict(zip(ring.keys[span.low : span.high], tree.depths.tolist(), strict=True)) == reached
    assert tree.lost == 0
    return len(messages)


@st.composite
def cases(draw):
    """Small rings of every kind: borders at, just below and just above keys, so that empty ranges and ranges of one occur."""
    rng = Rng(draw(st.integers(0, 2**32)))
    keys = drawn_keys(rng, draw(st.integers(1, 24)), draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    borders = sorted({border for key in keys for border in (before(key), key, after(key))})
    low, high = sorted((rng.choice(borders), rng.choice(borders)))
    return keys, KeyRange(low, high), rng.choice(keys).broker, draw(st.integers(0, 99))


@given(cases(), st.sampled_from(OVERLAYS), st.sampled_from(NAMES))
@settings(max_examples=300)
def test_any_small_ring(case, overlay, strategy):
    keys, wanted, sender, seed = case
    assert_same(Ring(overlay, keys, seed), sender, wanted, strategy)


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize(("brokers", "keys_each"), [(1, 1), (2, 1), (3, 1), (7, 1), (33, 1), (5, 4), (31, 6)])
def test_every_range_kind_and_both_ends(overlay, brokers, keys_each):
    keys = drawn_keys(Rng(brokers, keys_each), brokers, keys_each, sites=4)
    ring = Ring(overlay, keys, seed=brokers)
    whole = [EVERYTHING, *(segment_range("L", f"t{topic}", keys[0].segment) for topic in range(3))]
    ends = [
        KeyRange(keys[0], after(keys[0])),
        KeyRange(keys[-1], after(keys[-1])),
        KeyRange(after(keys[-1]), whole[0].high),
    ]
    for wanted in (*whole, *ends, KeyRange(keys[0], keys[-1])):
        for sender in {keys[0].broker, keys[len(keys) // 2].broker, keys[-1].broker}:
            for strategy in NAMES:
                assert_same(ring, sender, wanted, strategy)


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize(("brokers", "keys_each", "sites"), [(2_000, 1, 16), (601, 5, 7)])
def test_large_rings(overlay, brokers, keys_each, sites):
    rng = Rng(5, brokers)
    keys = drawn_keys(rng, brokers, keys_each, sites)
    ring = Ring(overlay, keys, seed=3)
    sent = 0
    for strategy in NAMES:
        for wanted in (segment_range("L", "t1", keys[0].segment), KeyRange(*sorted(rng.sample(keys, 2)))):
            sent += assert_same(ring, rng.choice(keys).broker, wanted, strategy)
    assert sent > brokers


@pytest.mark.parametrize(("seed", "low", "high", "sender"), [(101, 3, 10, 84), (29, 0, 7, 7)])
def test_a_contact_that_is_an_entry_has_the_entrys_level(seed, low, high, sender):
    """A sender outside, whose locality reaches into the range: the taker's level is the table's."""
    rng = Rng(seed, 9)
    brokers, keys_each = 12 + rng.below(60), 1 + rng.below(6)
    keys = drawn_keys(rng, brokers, keys_each, sites=1 + rng.below(3))
    assert_same(Ring("suzaku", keys, seed), sender, KeyRange(after(keys[low]), keys[high]), "cluster-first")


def test_more_pieces_than_one_message_holds():
    """Two brokers' keys in turn: each gap between ours is a piece for the other."""
    keys = [number_key(number, NodeId(1 + number % 2)) for number in range(2 * PARTS_MAX + 40)]
    ring = Ring("skipgraph", keys, seed=0)
    assert assert_same(ring, 1, EVERYTHING, "binary") == 2


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_beyond_that_the_same_distributions(overlay):
    """4,000 nodes; the model draws other vectors: the mean depth of the machines' tree is one that a model's could be."""
    keys = drawn_keys(Rng(9), 4_000, 1, 16, topics=1)
    ring = Ring(overlay, keys, seed=1)
    sender, everybody = keys[0].broker, Span(0, 4_000)
    models = [ring.model if overlay == "suzaku" else seeded(ring.model.layout, seed) for seed in range(2, 22)]
    for strategy in NAMES:
        _, reached = ring.cast(sender, EVERYTHING, strategy)
        means = [np.mean(multicast(each, ring.numbers[sender], everybody, strategy).depths) for each in models]
        assert abs(np.mean(means) - np.mean(list(reached.values()))) <= 4 * np.std(means)
