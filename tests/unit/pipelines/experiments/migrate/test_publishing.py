"""Publishes while members move, both ways."""

import numpy as np

from weft.pipelines.experiments.migrate.publishing import COLUMNS, TICKS, publishes


def test_both_ways_differ_before_by_what_goes_to_nobody():
    for seed in range(5):
        one, other = (publishes({"method": method}, seed) for method in ("conventional", "proposed"))
        assert list(one) == list(other) == list(COLUMNS)
        before = np.array(TICKS) <= 0
        assert np.array_equal((one["hops"] - one["empty"])[before], other["hops"][before])
        assert not other["empty"][before].any()


def test_after_it_the_proposed_way_sends_nothing():
    rows = publishes({"method": "proposed"}, 0)
    assert rows["hops"][np.array(TICKS) >= 5].sum() == 0
    conventional = publishes({"method": "conventional"}, 0)
    assert np.array_equal(conventional["hops"][-5:], conventional["empty"][-5:])
