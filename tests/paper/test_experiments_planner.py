"""MIGRATE's threshold beside a planner: what has to be so whatever the draws, and what was found, at small size."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond.flow_demands import Town, drawn, needs, saved
from weft.pipelines.experiments.beyond.planning import methods, planned, tables
from weft.pipelines.planner.plan import plan


@pytest.mark.parametrize("fabric", ["tree", "line"])
def test_migrate_3_no_rule_puts_more_into_a_switch_than_it_has_room_for(fabric):
    """§3: topics move to OFM as long as flow entries can be registered."""
    topics = drawn(Town(fabric=fabric, topics=400), 1)
    value = saved(topics, 1) * topics.rate
    for share in (0.01, 0.1, 0.5):
        demands = needs(topics, value, tables(topics, share))
        bound = plan(demands).bound
        for method, chosen in methods(topics, demands, 1):
            assert demands.fits(chosen), method
            assert value[chosen].sum() <= bound * (1 + 1e-9), method


def test_migrate_4_1_first_come_takes_topics_used_most_nearly_in_their_order():
    """§4.1: three publishes within 5 s, as an example; topics used most should be first."""
    topics = drawn(Town(topics=2_000), 3)
    demands = needs(topics, saved(topics, 3) * topics.rate, tables(topics, 0.02))
    plans = dict(methods(topics, demands, 3))
    first = topics.rate[plans["first come"]]
    assert np.median(first) > 5 * np.median(topics.rate)


def test_migrate_4_1_a_planner_saves_more_than_any_reading_of_the_threshold():
    """§4.1: the best setting of the threshold is not known; no order by what subscribers count reaches the planner."""
    found = [planned({"part": "budgets", "fabric": fabric, "topics": 500}, 0) for fabric in ("tree", "line")]
    for rows in found:
        saved_by = {
            (method, share): of_all
            for method, share, of_all in zip(rows["method"], rows["share"], rows["of_all"], strict=True)
        }
        for (method, share), of_all in saved_by.items():
            assert of_all <= saved_by["planner", share] + 1e-9, (method, share)


def test_small_plans_are_within_two_percent_of_the_optimum_on_average():
    rows = planned({"part": "optimum", "fabric": "tree", "topics": 30}, 0)
    achieved = [each for method, each in zip(rows["method"], rows["achieved"], strict=True) if method == "planner"]
    assert np.mean(achieved) > 0.98
