"""Measures for statements."""

import numpy as np
import pytest

from weft.pipelines.experiments.relay.laws import apart, exponent, interval_99, quantile, straightness
from weft.pipelines.experiments.table import Missing


def test_the_exponent_of_a_power_and_of_what_is_left_of_a_logarithm():
    x = np.array([16.0, 64.0, 256.0, 1_024.0])
    assert exponent(x, 3 * x**0.5) == pytest.approx(0.5)
    assert exponent(x, 3 * np.log2(x) / np.log2(x)) == pytest.approx(0.0)
    assert exponent(x, x / np.log2(x)) > 0.5
    with pytest.raises(Missing):
        exponent([1], [1])


def test_straight_and_bent():
    assert straightness([1, 2, 3], [2, 4, 6]) == pytest.approx(1.0)
    assert straightness([1, 2, 3, 4], [1, 4, 9, 16]) < 0.99
    with pytest.raises(Missing):
        straightness([1, 2], [1, 2])


def test_table_3s_intervals_follow_from_its_coefficients():
    """RELAY table 3: n is 100,000 subscribers in figure 13 and 100 publishers in figure 12; the level is 99 %."""
    assert interval_99(0.5483, 100_000) == pytest.approx((0.5426, 0.5540), abs=6e-5)
    assert interval_99(-0.0045, 100_000) == pytest.approx((-0.0126, 0.0037), abs=6e-5)
    assert interval_99(0.1310, 100) == pytest.approx((-0.1290, 0.3742), abs=6e-5)


def test_the_distance_of_two_distributions():
    assert apart([1, 2], [0.5, 1.0], [1, 2], [0.5, 1.0]) == 0.0
    assert apart([1, 2], [0.5, 1.0], [2, 3], [0.5, 1.0]) == 0.5
    assert apart([1], [1.0], [5], [1.0]) == 1.0
    assert apart([1, 4], [0.25, 1.0], [2], [1.0]) == 0.75


def test_quantiles_of_a_distribution():
    assert quantile([3, 5, 9], [0.2, 0.9, 1.0], 0.5) == 5
    assert quantile([3, 5, 9], [0.2, 0.9, 1.0], 0.99) == 9
