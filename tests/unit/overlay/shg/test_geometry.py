"""Partitions, steps, broadcasts; and what the printed procedures come to."""

from collections import Counter

import pytest

from weft.overlay.shg.geometry import (
    branches,
    distance,
    dominating,
    dominator,
    is_dominating,
    literal_onward,
    literal_targets,
    low,
    onward,
    partition,
    place,
)

SIZES = [(n, k) for n in range(2, 9) for k in range(1, n)]


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_every_node_steps_to_the_nearer_dominating_node_of_its_partition(n, k):
    for node in range(1 << n):
        bare, full = node - low(node, k), node | (1 << k) - 1
        near, far = (node ^ bare).bit_count(), (node ^ full).bit_count()
        assert dominating(node, k) == (bare if near <= far else full)
        at, steps = node, 0
        while onward(at, k) != at:
            assert (at ^ onward(at, k)).bit_count() == 1
            assert dominating(onward(at, k), k) == dominating(node, k), "the way stays in the sub-partition"
            at, steps = onward(at, k), steps + 1
        assert at == dominating(node, k)
        assert steps == distance(node, k) == min(near, far) <= k // 2
        assert partition(at, k) == partition(node, k)


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_places_are_the_dominating_nodes(n, k):
    found = [dominator(at, n, k) for at in range(1 << (n - k + 1))]
    assert sorted(found) == [node for node in range(1 << n) if is_dominating(node, k)]
    assert [place(node, n, k) for node in found] == list(range(len(found)))


@pytest.mark.parametrize("dimension", range(1, 7))
def test_the_broadcast_reaches_each_place_once_from_any_root(dimension):
    for root in range(1 << dimension):
        reached, waiting, crossings = Counter({root: 1}), [(root, dimension)], 0
        while waiting:
            at, came = waiting.pop()
            for following, along in branches(at, came):
                reached[following] += 1
                crossings += along == dimension - 1
                waiting.append((following, along))
        assert reached == Counter(range(1 << dimension))
        assert crossings == 1, "the layer is crossed once"


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_as_printed_every_way_leads_to_the_bare_node(n, k):
    for node in range(1 << n):
        at, steps = node, 0
        while literal_onward(at, k) != at:
            at, steps = literal_onward(at, k), steps + 1
        assert at == node - low(node, k)
        assert steps == low(node, k).bit_count()


def test_as_printed_events_reach_some_twice_and_some_never():
    targets = Counter(literal_targets(0b01000, 5, 3))
    assert targets[0b01000] == 2, "x empty, and x = σ3: both make the node itself"
    assert targets[0b11000] == 3, "twice a superset, and one element more"
    assert targets[0b10000] == 0, "a bare node that is neither: it never hears of it"
    assert all(is_dominating(target, 3) for target in targets)
    assert set(literal_targets(0, 5, 3)) >= {0, 0b01000, 0b10000, 0b11000}
