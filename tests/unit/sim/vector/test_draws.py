"""Bulk draws are the single draws of ``weft.core.rand``, bit for bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weft.core.rand import Rng
from weft.sim.vector.draws import Draws, bits_at, random_at, states

seeds = st.integers(0, 2**64 - 1)


@given(seeds, st.lists(st.integers(0, 2**40), max_size=3))
def test_blocks_are_the_stream_call_by_call(seed, path):
    one, many = Rng(seed, *path), Draws(seed, *path)
    assert many.bits(3).tolist() == [one.bits() for _ in range(3)]
    assert many.random(4).tolist() == [one.random() for _ in range(4)]
    assert many.below(10, 5).tolist() == [one.below(10) for _ in range(5)]
    assert many.bits(1).tolist() == [one.bits()]


@given(seeds, st.lists(st.integers(0, 2**40), min_size=1, max_size=5), st.lists(st.integers(0, 2**40), max_size=2))
def test_states_are_those_of_the_streams(seed, numbers, path):
    expected = [Rng(seed, number, *path).state for number in numbers]
    assert states(seed, np.array(numbers, np.int64), *path).tolist() == expected


@given(seeds, st.integers(0, 50))
def test_shuffled_is_shuffle(seed, count):
    items = list(range(count))
    one, many = Rng(seed), Draws(seed)
    one.shuffle(items)
    assert many.shuffled(count).tolist() == items
    assert many.bits(1).tolist() == [one.bits()]


def test_inside_a_kernel_each_stream_moves_on_by_itself():
    streams = states(7, np.array([1, 2], np.int64))
    first, second = Rng(7, 1), Rng(7, 2)
    assert [int(bits_at(streams, 0)), int(bits_at(streams, 0))] == [first.bits(), first.bits()]
    assert random_at(streams, 1) == second.random()
