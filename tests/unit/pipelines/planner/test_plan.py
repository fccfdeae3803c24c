"""Plans: always fit, never weigh more than the bound, are near the optimum, and change only for a gain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planning import case, most
from weft.core.errors import Misuse
from weft.pipelines.planner.demands import Demands
from weft.pipelines.planner.exact import best
from weft.pipelines.planner.plan import Policy, greedy, per_entry, plan

NONE = Policy()


def weights(demands):
    return NONE.weights(demands, np.zeros(len(demands), bool))


@given(st.integers(0, 1 << 30), st.integers(1, 9), st.integers(1, 5), st.sampled_from([0.0, 0.1, 0.3, 0.8, 1.0]))
def test_a_plan_fits_and_lies_between_greedy_and_optimum(seed, topics, switches, share):
    demands = case(seed, topics, switches, share)
    found = plan(demands)
    optimum = most(demands, weights(demands))
    assert demands.fits(found.chosen)
    assert demands.value[greedy(demands, per_entry(demands, weights(demands)))].sum() <= found.value + 1e-9
    assert found.value <= optimum + 1e-9 <= found.bound * (1 + 1e-9) + 2e-9
    assert not found.chosen[~demands.possible].any()


def test_where_tables_have_room_for_all_everything_of_worth_is_chosen():
    demands = case(3, 40, 6, 1.0)
    found = plan(demands)
    assert found.chosen.tolist() == (demands.value > 0).tolist()
    assert found.value == pytest.approx(found.bound)


def test_plans_are_near_the_optimum():
    ratios = []
    for seed in range(60):
        demands = case(seed, 40, 6, 0.25)
        found = plan(demands)
        ratios.append(found.value / demands.value[best(demands, weights(demands), found.chosen)].sum())
    assert np.mean(ratios) > 0.995
    assert min(ratios) > 0.9


def test_the_same_demands_give_the_same_plan():
    demands = case(5, 300, 9, 0.2)
    assert plan(demands).chosen.tolist() == plan(demands).chosen.tolist()


def pair(first: float, second: float) -> Demands:
    """Two topics of 10 entries, room for one."""
    return Demands.of([first, second], [0, 1, 2], [0, 0], [10, 10], [10])


@pytest.mark.parametrize(
    ("policy", "gain", "changes"),
    [
        (Policy(), 0.1, True),
        (Policy(margin=0.2), 1.9, False),
        (Policy(margin=0.2), 2.1, True),
        (Policy(entry_cost=0.1), 1.9, False),  # ten entries go, ten come
        (Policy(entry_cost=0.1), 2.1, True),
        (Policy(entry_cost=0.05, margin=0.1), 1.9, False),
        (Policy(entry_cost=0.05, margin=0.1), 2.1, True),
    ],
)
def test_a_change_is_made_only_for_more_than_it_costs(policy, gain, changes):
    found = plan(pair(10.0, 10.0 + gain), policy, np.array([True, False]))
    assert found.chosen.tolist() == [not changes, changes]
    assert (found.added, found.removed) == (changes, changes)


def test_entries_that_cost_more_than_they_save_are_not_installed():
    assert plan(pair(0.9, 0.8), Policy(entry_cost=0.1)).chosen.tolist() == [False, False]


def test_a_topic_that_no_longer_saves_goes():
    found = plan(pair(0.0, 0.0), Policy(margin=0.5), np.array([True, False]))
    assert found.removed == 1


def test_a_table_that_has_shrunk_is_obeyed():
    demands = Demands.of([3.0, 2.0], [0, 1, 2], [0, 0], [2, 2], [3])
    found = plan(demands, Policy(margin=10), np.array([True, True]))
    assert found.chosen.tolist() == [True, False]


def test_equal_demands_again_change_nothing():
    demands = case(8, 300, 9, 0.2)
    first = plan(demands)
    again = plan(demands, Policy(entry_cost=1e-3), first.chosen)
    assert (again.added, again.removed) == (0, 0)


def test_a_plan_of_other_topics_is_refused():
    with pytest.raises(Misuse, match="a plan for 3 topics stands, 2 are known"):
        plan(pair(1, 2), before=np.zeros(3, bool))


def test_no_topics():
    demands = Demands.of([], [0], [], [], [5])
    assert plan(demands).value == 0.0
