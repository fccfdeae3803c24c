"""How many levels there are, what a finger stands for, and the order in which a newcomer asks."""

from math import ceil, log2

import pytest

from rings import key
from weft.overlay.suzaku.geometry import advances, covered_levels, hops_bound, stands_in, top_level, zigzag


@pytest.mark.parametrize("nodes", [*range(2, 70), 100, 1000, 1023, 1024, 1025, 1 << 20])
def test_the_top_level_is_the_papers_k(nodes):
    assert top_level(nodes) == ceil(log2(nodes)) - 1
    assert 1 << top_level(nodes) < nodes, "the last finger has not come round"
    assert 1 << (top_level(nodes) + 1) >= nodes, "and the next would have"


def test_who_is_alone_has_no_level():
    assert top_level(1) == -1


def test_the_bound_is_the_papers_except_where_that_says_zero():
    assert [hops_bound(n) for n in (1, 2, 3, 4, 5, 8, 9, 16, 17, 1024)] == [0, 1, 1, 1, 2, 2, 3, 3, 4, 9]


@pytest.mark.parametrize(
    ("owner", "finger", "following", "forward", "beyond"),
    [
        (1, 2, 3, True, True),
        (1, 3, 2, True, False),
        (1, 3, 1, True, False),
        (1, 3, 3, True, False),
        (7, 9, 2, True, True),
        (7, 2, 8, True, False),
        (5, 4, 3, False, True),
        (5, 3, 4, False, False),
        (5, 3, 5, False, False),
        (5, 3, 3, False, False),
        (2, 9, 7, False, True),
        (2, 9, 1, False, False),
    ],
)
def test_a_finger_lies_beyond_the_one_before_it_and_has_not_come_round(owner, finger, following, forward, beyond):
    assert advances(key(owner), key(finger), key(following), forward) is beyond


@pytest.mark.parametrize(("level", "forward", "backward"), [(0, 0, 0), (1, 1, 0), (2, 2, 1), (3, 3, 2), (7, 7, 6)])
def test_an_aggregate_stands_for_the_nodes_of_its_range(level, forward, backward):
    """FFT[i] for 2**i nodes, BFT[i] for 2**(i-1), one if i is 0: the node itself and so many of its fingers."""
    assert (covered_levels(level, True), covered_levels(level, False)) == (forward, backward)
    nodes = [1 + sum(2**i for i in range(covered)) for covered in (forward, backward)]
    assert nodes == [2**level, 2 ** (level - 1) if level else 1]


def test_a_newcomer_asks_in_zig_zag():
    ahead, behind, asked = 0, 0, []
    while (step := zigzag(ahead, behind)) is not None:
        asked.append(step)
        forward, level = step
        following = level + 1 if level < 2 else None
        ahead, behind = (following, behind) if forward else (ahead, following)
    assert asked == [(True, 0), (False, 0), (True, 1), (False, 1), (True, 2), (False, 2)]


def test_one_side_goes_on_when_the_other_is_complete():
    assert zigzag(None, 3) == (False, 3)
    assert zigzag(4, None) == (True, 4)
    assert zigzag(5, 4) == (False, 4), "the side that is behind"
    assert zigzag(None, None) is None


@pytest.mark.parametrize(
    ("owner", "finger", "spare", "dead", "forward", "may"),
    [
        (1, 2, 4, 5, True, True),
        (1, 2, 2, 3, True, False),
        (1, 2, 1, 3, True, False),
        (1, 2, 9, 3, True, False),  # left of 3 are 2, 1 and 9: that one is all the way round
        (8, 9, 2, 3, True, True),
        (8, 9, 7, 2, True, False),
        (9, 8, 6, 7, False, True),
        (9, 8, 8, 7, False, False),
        (2, 1, 8, 9, False, True),
        (5, 4, 5, 3, False, False),
    ],
)
def test_who_may_stand_in_for_a_dead_finger(owner, finger, spare, dead, forward, may):
    assert stands_in(key(owner), key(finger), key(spare), key(dead), forward) is may
