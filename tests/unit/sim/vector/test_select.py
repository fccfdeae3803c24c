"""Selections: what a walk does with values that are right, stale, or nothing; the machines' way is in ``tests/cross``."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.overlay.keys import ALM, Key
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.select import SELECTIONS, Selector, marks_of, multicast_hops, optimal_hops
from weft.sim.vector.suzaku import Suzaku

LAYOUT = Layout.plain(range(1, 65))
SPAN = Span(16, 32)


def selector(free: list[int], selection: str = "close", **changes) -> Selector:
    values = np.zeros(64)
    values[free] = 1.0
    made = Selector.seeded(LAYOUT, values, 1, SPAN, selection)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize("selection", ["many", "few", "close"])
def test_values_that_are_right_lead_straight_to_the_only_one(selection):
    for last in range(17, 32):
        walk = selector([last], selection).walk(16)
        assert (walk.picked, walk.restarts) == (last, 0)
        assert 1 <= walk.hops <= (last - 16).bit_count()


def test_ourselves_over_no_hop():
    assert selector([20]).walk(20) == (20, 0, 0, 0)


@pytest.mark.parametrize("selection", sorted(SELECTIONS))
@pytest.mark.parametrize("remember", [True, False])
def test_nobody_is_an_answer(selection, remember):
    walk = selector([], selection, remember=remember).walk(16)
    assert walk.picked == -1


@pytest.mark.parametrize("remember", [True, False])
def test_all_are_reserved_though_the_values_never_change(remember):
    made = selector(list(range(16, 32)), remember=remember, ttl=4_096)
    used = np.zeros(1 + 2 * made.ageing.levels, np.int64)
    walks = made.reserve_all(16, 0.0, used)
    picked = [walk.picked for walk in walks if walk.picked >= 0]
    assert len(set(picked)) == len(picked)
    assert len(picked) >= 12, "stale values may end a search early, not at once"
    assert sum(walk.restarts for walk in walks) > 0
    assert all((0 if walk.restarts else walk.hops) <= walk.hops - walk.again <= walk.hops for walk in walks)
    assert all(walk.again == 0 for walk in walks if not walk.restarts)
    assert used.sum() > 16


@pytest.mark.parametrize("selection", ["many", "few", "close"])
def test_with_time_between_requests_all_are_reserved_without_a_detour(selection):
    made = selector(list(range(16, 32)), selection)
    walks = made.reserve_all(16, made.ageing.bound_s)
    assert sorted(walk.picked for walk in walks) == list(range(16, 32))
    assert [walk.restarts for walk in walks] == [0] * 16


def test_optimal_is_the_fewest_hops_nearest_first():
    """±2^i: 7, 14 and 15 places away are two fingers, one there and one back; 11 and 13 are three."""
    assert optimal_hops(64, 6, 16, SPAN).tolist() == [0] + [1] * 4 + [2] * 9 + [3] * 2


def test_multicast_asks_all_hears_all_and_reserves_one():
    tree = multicast(Suzaku(LAYOUT), 16, SPAN, "split")
    assert multicast_hops(tree) == (2 * 4 + 1, 2 * 15 + 1)


def test_marks_are_apart_where_a_bound_fits_between():
    keys = [Key("L", "t", ALM, 0, (), broker) for broker in (1, 2, 5, 6)]
    assert marks_of(keys).tolist() == [0, 1, 3, 4]
    assert marks_of(keys[:1]).tolist() == [0]


def test_misuse_is_said_at_once():
    with pytest.raises(Misuse):
        selector([], "best")
    with pytest.raises(Misuse):
        selector([]).walk(15)
