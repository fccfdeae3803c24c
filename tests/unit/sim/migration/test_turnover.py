"""A group whose members come and go: what is counted, and what is held."""

import pytest

from weft.sim.migration.ofgate import Method, Query
from weft.sim.migration.turnover import Newcomers, Rates, Turnover

RATES = Rates(subscribers=20, publishers=4, publish=2.0, join=0.5, leave=0.5)
CASES = [
    (Method.EITHER, Newcomers.SETTLED),
    (Method.BOTH, Newcomers.SETTLED),
    (Method.BOTH, Newcomers.MIGRATING),
]


def ran(method, newcomers, rates=RATES, seed=1, seconds=10.0) -> Turnover:
    group = Turnover(method, rates, newcomers, seed)
    group.run(seconds)
    return group


@pytest.mark.parametrize(("method", "newcomers"), CASES)
def test_the_number_of_subscribers_is_held_and_they_get_what_is_published(method, newcomers):
    group = ran(method, newcomers)
    assert len(group.roll.alm) + len(group.roll.ofm) == RATES.subscribers
    assert group.published.total() == RATES.publishers * RATES.publish * 10
    assert 0.95 < group.received / (group.published.total() * RATES.subscribers) <= 1.01


def test_the_methods_see_the_same_joins_and_leaves():
    either, both = (ran(*case).queries for case in CASES[:2])
    assert set(either) == {Query.PUBLISH, Query.JOIN, Query.LEAVE}
    assert both == {Query.LEAVE: either[Query.LEAVE]}
    assert either[Query.PUBLISH] == 80


def test_who_migrates_reports_fewer_leaves_and_has_the_tree_built_again():
    settled, migrating = (ran(*case, seconds=40.0).queries for case in CASES[1:])
    assert 0 < migrating[Query.LEAVE] < settled[Query.LEAVE]
    assert migrating[Query.CONSTRUCT] > 0
    assert migrating[Query.JOIN] == migrating[Query.PUBLISH] == 0


def test_without_turnover_either_asks_for_its_publishes_and_both_for_nothing():
    still = Rates(subscribers=20, publishers=4)
    assert ran(*CASES[0], still).queries == {Query.PUBLISH: 40}
    assert ran(*CASES[1], still).queries == ran(*CASES[2], still).queries == {}
    assert ran(*CASES[0], still).published == {True: 40}


def test_frequent_turnover_keeps_either_from_the_tree_and_both_not():
    """SAPS §3.2.1: many joins and leaves reduce the availability of OFM."""
    busy = Rates(subscribers=100, publishers=10, join=1.0, leave=1.0)
    assert ran(*CASES[0], busy).published[True] < 50
    assert ran(*CASES[2], busy).published == {True: 100}


def test_the_same_seed_gives_the_same_run():
    one, same, other = (ran(*CASES[2], seed=seed) for seed in (5, 5, 6))
    assert (one.queries, one.received, one.simulation.steps) == (same.queries, same.received, same.simulation.steps)
    assert one.simulation.steps != other.simulation.steps
