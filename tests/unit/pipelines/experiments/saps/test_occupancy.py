"""Placements by exponent, and the ratios of figure 12."""

import numpy as np
import pytest

from weft.pipelines.experiments.saps.occupancy import UNIFORM, model, placed


def one(**point) -> dict[str, float]:
    return {name: values[0] for name, values in model({"topology": "tree", "clusters": 16, **point}, 1).items()}


@pytest.mark.parametrize("exponent", [UNIFORM, 1.0, 2.0])
def test_subscribers_are_where_the_distribution_has_them(exponent):
    counts = placed(8, 200_000, exponent, seed=2)
    weights = np.arange(1, 9) ** -exponent
    assert counts.sum() == 200_000
    assert np.abs(counts / counts.sum() - weights / weights.sum()).max() < 0.005


def test_ratios():
    found = one(exponent=UNIFORM, subscribers=1_000)
    assert found == {
        "entries": 1.0,
        "buckets": 16 / 17,
        "edges": 1.0,
        "all_entries": (17 + 16) / 17,
        "all_buckets": (2 * 16 + 16) / 17,
    }


def test_a_second_host_takes_a_second_bucket():
    assert one(exponent=UNIFORM, subscribers=24_000)["buckets"] == 32 / 17


def test_few_subscribers_leave_switches_alone():
    found = one(exponent=2.0, subscribers=5)
    assert found["edges"] < 0.5
    assert found["entries"] == (16 * found["edges"] + 1) / 17
