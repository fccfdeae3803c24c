"""SHG's figures: what is exact is pinned; what the paper says of its lost curves is tried on a few seeds."""

import numpy as np
import pytest

from weft.pipelines.experiments.shg.partition import counted
from weft.pipelines.experiments.shg.workload import events, subscriptions

FEW = range(6)


def test_figure_2_and_3_each_event_each_dominating_node_once_each_subscriber_once():
    """§III.C: 32 nodes, 4 partitions of 8, 8 dominating nodes, 8 sub-partitions of 4."""
    rows = counted({"dimension": 5, "k": 3, "variant": "corrected"}, 0)
    sizes = ("corners", "partitions", "partition_size", "dominating", "sub_partitions", "sub_partition_size")
    assert [rows[name][0] for name in sizes] == [32, 4, 8, 8, 8, 4]
    assert [rows[f"{name}_{end}"][0] for name in ("handed", "received") for end in ("least", "most")] == [1, 1, 1, 1]
    assert (rows["strangers"], rows["abroad"], rows["dominating_each"]) == ([0], [1], [2])


def test_figure_2_as_printed_the_procedures_lose_and_double():
    """§IV's procedures: some subscribers get an event five times, some never."""
    rows = counted({"dimension": 5, "k": 3, "variant": "literal"}, 0)
    assert (rows["received_least"], rows["received_most"]) == ([0], [5])


def test_v_beta_follows_from_alpha_and_the_patterns():
    """§V: α = .65 %, β = 15 %."""
    wanted = [events({"dimension": 8, "k": 4}, seed)["wanted"][0] for seed in FEW]
    assert np.mean(wanted) == pytest.approx(0.15, rel=0.05)


def test_figure_4_traffic_of_events_relative_to_scribe_does_not_grow():
    """§V: 'very good scalability'."""
    for name in ("ratio_pattern", "ratio_kind"):
        small, large = (
            np.mean([events({"dimension": n, "k": n // 2}, seed)[name][0] for seed in FEW]) for n in (6, 10)
        )
        assert large < small * 1.05


def test_figure_5_subscriptions_cost_less_than_scribes():
    """Abstract: others' 'routing state and control message overhead are enormous'."""
    for n in (6, 10):
        for seed in FEW:
            rows = subscriptions({"dimension": n, "k": n // 2}, seed)
            assert rows["ratio_pattern"][0] < 0.6
            assert rows["ratio_kind"][0] < 0.1
            assert rows["entries"][0] < rows["entries_pattern"][0]


def test_iv_b_the_size_of_partitions_trades_events_for_subscriptions():
    """§IV.B: 'minimize the traffic caused by events, at some additional cost for routing subscriptions'."""
    across = [events({"dimension": 8, "k": k}, 0)["across"][0] for k in range(1, 8)]
    assert across == [2 ** (9 - k) - 1 for k in range(1, 8)]
    costs = [subscriptions({"dimension": 8, "k": k}, 0)["shg"][0] for k in range(1, 8)]
    assert costs == sorted(costs)


def test_iv_the_procedures_as_printed_cost_more_and_miss_deliveries():
    rows = events({"dimension": 10, "k": 5}, 0)
    assert rows["shg"][1] > 1.4 * rows["shg"][0]
    assert (rows["missed"][0], rows["doubled"][0]) == (0, 0)
    assert rows["missed"][1] > 0.3
