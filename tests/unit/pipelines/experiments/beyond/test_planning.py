"""The threshold's readings, and the draws that are made for them."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond.planning import (
    COLUMNS,
    HORIZON_S,
    crossings,
    normal,
    planned,
    poisson,
)
from weft.sim.vector.draws import Draws


def test_three_publishes_within_five_seconds():
    rate = np.full(4_000, 10.0)
    assert crossings(rate, 1).mean() == pytest.approx(0.3, rel=0.05), "the third of ten a second"
    slow = crossings(np.full(500, 0.001), 1)
    assert (slow == HORIZON_S).mean() > 0.95
    middle = crossings(np.full(2_000, 0.6), 1)
    assert np.median(middle) == pytest.approx(2.674 / 0.6, rel=0.05), (
        "the median of the third, which is mostly soon enough"
    )


@pytest.mark.parametrize("mean", [0.0, 0.3, 5.0, 29.0, 31.0, 400.0])
def test_poisson_numbers(mean):
    found = poisson(np.full(40_000, mean), Draws(1))
    assert (found == np.rint(found)).all()
    assert found.mean() == pytest.approx(mean, abs=0.03 * mean**0.5 + 1e-9)
    assert found.var() == pytest.approx(mean, rel=0.05)


def test_normal_numbers():
    found = normal(Draws(2), 40_000)
    assert found.mean() == pytest.approx(0, abs=0.02)
    assert found.std() == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize("part", ["optimum", "budgets", "drift"])
def test_rows_are_a_function_of_point_and_seed(part):
    point = {"part": part, "fabric": "tree", "topics": 30 if part == "optimum" else 200}
    rows = planned(point, 1)
    assert set(rows) == set(COLUMNS)
    assert rows == planned(point, 1)
    assert rows != planned(point, 2)
    assert all(0 <= value <= 1 + 1e-9 for value in rows["achieved"])
    assert all(0 <= value <= 1 + 1e-9 for value in rows["of_all"])
