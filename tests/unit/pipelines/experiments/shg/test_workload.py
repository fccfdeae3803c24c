"""SHG's workload: what α and β ask for, and both of Scribe's mappings message by message."""

import numpy as np
import pytest

from weft.pipelines.experiments.shg.workload import (
    EVENT_COLUMNS,
    EVENTS,
    PATTERNS,
    SIGMA,
    SUBSCRIPTION_COLUMNS,
    Groups,
    events,
    subscriptions,
    workload,
)
from weft.sim.vector.draws import Draws


def test_alpha_and_beta_ask_for_events_that_satisfy_a_quarter_of_the_patterns():
    assert pytest.approx(0.25, abs=0.001) == SIGMA
    assert (PATTERNS, EVENTS) == (100, 3_000)


def test_the_same_seed_gives_the_same_workload():
    one, other, third = workload(6, 1), workload(6, 1), workload(6, 2)
    assert np.array_equal(one.own, other.own)
    assert np.array_equal(one.publishers, other.publishers)
    assert not np.array_equal(one.own, third.own)
    assert np.bincount(one.kinds).tolist() == [30] * 100


def test_publications_to_groups_one_by_one():
    """The trees walked by hand: a message for each member of a tree but its root, and the way to the root."""
    dimension, draws = 5, Draws(3)
    members = (draws.random(4 * 32) < 0.2).reshape(4, 32)
    groups, publishers = Groups(dimension, members, Draws(7)), draws.below(32, 10)
    to = (draws.random(10 * 4) < 0.5).reshape(10, 4)
    roots = Draws(7).below(32, 4)
    messages = routed = hops = hops_routed = deliveries = 0
    for event in range(10):
        for group in np.flatnonzero(to[event]):
            root, parents = int(roots[group]), {}
            for member in np.flatnonzero(members[group]):
                at = int(member)
                while at != root and at not in parents:
                    differing = at ^ root
                    parents[at] = at ^ (1 << (differing.bit_length() - 1))
                    at = parents[at]
            away = (int(publishers[event]) ^ root).bit_count()
            messages += len(parents) + (away > 0)
            routed += len(parents) + away
            for member in np.flatnonzero(members[group]):
                deliveries += 1
                hops += (int(member) ^ root).bit_count() + (away > 0)
                hops_routed += (int(member) ^ root).bit_count() + away
    published = groups.published(to, publishers)
    assert (published.messages, published.routed) == (messages, routed)
    assert (published.hops, published.hops_routed) == pytest.approx((hops / deliveries, hops_routed / deliveries))


def test_rows_of_events():
    rows = events({"dimension": 6, "k": 3}, 0)
    assert list(rows) == list(EVENT_COLUMNS)
    assert rows["variant"] == ["corrected", "literal"]
    assert rows["shg"] == pytest.approx(
        [sum(parts) for parts in zip(rows["up"], rows["across"], rows["down"], strict=True)]
    )
    assert rows["across"][0] == 15
    assert (rows["missed"][0], rows["doubled"][0]) == (0, 0)
    assert rows["missed"][1] > 0
    assert rows["ratio_pattern_routed"][0] < rows["ratio_pattern"][0]


def test_rows_of_subscriptions():
    rows = subscriptions({"dimension": 6, "k": 3}, 0)
    assert list(rows) == list(SUBSCRIPTION_COLUMNS)
    assert rows["shg"][0] < rows["shg"][1]
    assert rows["ratio_pattern"][0] == rows["shg"][0] / rows["by_pattern"][0]
    assert rows["by_pattern"][0] < rows["by_kind"][0]
