"""Ids, nearness, hypercube steps."""

from hashlib import sha256
from itertools import pairwise

import pytest

from weft.core.rand import Rng
from weft.overlay.rendezvous.geometry import flip, identity, length, nearer, shared
from weft.overlay.skipgraph.geometry import common_prefix


def test_length_and_shared_are_those_of_the_skip_graph():
    rng = Rng(5)
    values = [0, 1, 2, 3, (1 << 48) - 1, *(rng.bits() >> (16 + rng.below(48)) for _ in range(200))]
    assert [length(value) for value in values] == [value.bit_length() for value in values]
    for one, other in pairwise(values):
        assert shared(one, other, 48) == common_prefix(one, other, 48)


def test_nearer_is_by_number_and_then_by_node():
    assert nearer(5, 9, 2, 1, 6)
    assert not nearer(2, 1, 5, 9, 6)
    assert nearer(5, 1, 7, 2, 6)
    assert not nearer(7, 2, 5, 1, 6)
    assert not nearer(5, 1, 5, 1, 6)


def test_a_step_over_a_hypercube_flips_the_first_digit_that_differs():
    assert flip(0b10110, 0b10001) == 0b10010
    assert flip(0b10010, 0b10001) == 0b10000
    assert flip(0b10000, 0b10001) == 0b10001
    assert flip(0b10001, 0b10001) == 0b10001
    for at in range(32):
        for target in range(32):
            if at != target:
                assert shared(flip(at, target), target, 5) > shared(at, target, 5)


@pytest.mark.parametrize("digits", [1, 5, 48, 63])
def test_a_topics_id_is_the_front_of_its_sha_256(digits):
    whole = int(sha256(b"a/b").hexdigest(), 16)
    assert identity("a/b", digits) == whole >> (256 - digits)
