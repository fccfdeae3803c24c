"""Digits, levels, and which way a walk goes on."""

import pytest

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import number_key
from weft.overlay.skipgraph.geometry import common_prefix, digit, goes_on, prefix, static_levels, wins


def test_digits_are_counted_from_the_front():
    vector = 0b1011
    assert [digit(vector, at, 4) for at in range(4)] == [1, 0, 1, 1]
    assert [prefix(vector, length, 4) for length in range(5)] == [0, 0b1, 0b10, 0b101, 0b1011]


@pytest.mark.parametrize(("one", "other", "shared"), [(0b1011, 0b1011, 4), (0b1011, 0b1010, 3), (0b1011, 0b0011, 0)])
def test_a_common_prefix_is_the_level_where_two_meet(one, other, shared):
    assert common_prefix(one, other, 4) == shared


def naive(nodes, digits, owner):
    """The definition, looked at from each node: the next one each way that shares i digits."""
    ranked = sorted(nodes)
    tables = {}
    for place, (key, vector) in enumerate(ranked):
        around = [*ranked[place + 1 :], *ranked[:place]]
        tables[key] = []
        for level in range(digits + 1):
            mates = [k for k, v in around if prefix(v, level, digits) == prefix(vector, level, digits)]
            if level and all(owner(mate) == owner(key) for mate in mates):
                break
            tables[key].append((mates[-1], mates[0]) if mates else (key, key))
    return tables


@pytest.mark.parametrize("seed", range(30))
def test_static_levels_are_the_definition(seed):
    rng = Rng(seed)
    vectors = {NodeId(node): rng.below(16) for node in range(1, 2 + rng.below(12))}
    keys = {number_key(rng.below(1000), node) for node in vectors for _ in range(1 + rng.below(3))}
    nodes = [(key, vectors[key.broker]) for key in sorted(keys)]
    assert static_levels(nodes, 4) == naive(nodes, 4, lambda key: key.broker)


def test_static_levels_take_any_key_with_an_order():
    assert static_levels([(1, 0b00), (2, 0b01), (3, 0b10)], 2, owner=lambda key: key) == {
        1: [(3, 2), (2, 2)],
        2: [(1, 3), (1, 1)],
        3: [(2, 1)],
    }
    assert static_levels([], 4) == {}


def test_a_walk_goes_on_until_it_is_round():
    assert goes_on(5, 5, 8, rightward=True)
    assert goes_on(5, 8, 2, rightward=True), "past the highest key"
    assert not goes_on(5, 8, 5, rightward=True), "back at the start"
    assert not goes_on(5, 2, 7, rightward=True), "past the start"
    assert not goes_on(5, 8, 7, rightward=True), "backwards"
    assert goes_on(5, 2, 8, rightward=False)
    assert not goes_on(5, 8, 5, rightward=False)
    assert not goes_on(5, 5, 5, rightward=True), "alone"


def test_of_two_walkers_exactly_one_wins():
    assert wins((3, "a"), (2, "b"))
    assert not wins((2, "b"), (3, "a"))
    assert wins((2, "b"), (2, "a")) is not wins((2, "a"), (2, "b"))
