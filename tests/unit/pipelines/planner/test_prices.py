"""Prices: of what is scarce only, and a bound whatever they are."""

import numpy as np
import pytest

from planning import case, most
from weft.pipelines.planner.demands import Demands
from weft.pipelines.planner.prices import prices


def test_what_is_not_scarce_costs_nothing():
    demands = Demands.of([4.0, 2.0], [0, 2, 4], [0, 1, 0, 1], [1, 1, 1, 1], [1, 9])
    found = prices(demands, demands.value, 4.0)
    assert found.price[1] == 0
    assert found.price[0] > 0
    assert found.bound == pytest.approx(4.0, rel=0.02)


@pytest.mark.parametrize("steps", [1, 2, 5, 50])
def test_the_bound_holds_after_however_few_steps(steps):
    for seed in range(20):
        demands = case(seed, 9, 4, 0.3)
        weight = np.where(demands.possible, demands.value, 0.0)
        assert prices(demands, weight, 0.0, steps).bound >= most(demands, weight) - 1e-9


def test_costs_are_the_entries_at_these_prices():
    demands = case(4, 30, 5, 0.2)
    found = prices(demands, demands.value, 0.0)
    each = found.price[demands.switch] * demands.entries
    assert found.cost == pytest.approx(np.bincount(demands.topic, each, len(demands)))


def test_tables_of_nothing():
    demands = Demands.of([1.0], [0, 1], [0], [1], [0])
    assert prices(demands, np.zeros(1), 0.0).bound == 0.0
