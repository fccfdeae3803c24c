"""A small campaign, each time: seeded schedules under every fault, and every order of messages in small rings.

``weft sim campaign --seeds 100000 --exhaustive 4`` is the large one; its last report is docs/reports/campaign.md.
"""

from collections import Counter

import pytest

from weft.sim.campaign import run_seeds
from weft.sim.des.faults import FaultPlan
from weft.sim.explore import Case, Explored, Explorer, cases
from weft.sim.overlays import OVERLAYS
from weft.sim.schedule import Bounds

WIDEST = ("stay", "join", "join", "join")
"""By far the largest case of four: 217,482 states."""

ORDERS = {"stay-join-join": 16_638, "stay-join-leave": 1_759, "stay-join-join-leave": 9_177_525_174}
"""How many orders the larger cases have: fewer would mean that the explorer passes some by, more that the protocol grew."""


def explored(found: list[Case]) -> list[Explored]:
    return [Explorer(case).run() for case in found]


def test_schedules_with_every_fault():
    """Overlay §2 and §11, on both overlays: no rule is broken, whatever is dropped, doubled, cut, crashed or bent."""
    tally = run_seeds(range(150), Bounds())
    assert tally.violations == []
    assert tally.schedules == 150
    assert set(tally.overlays) == set(OVERLAYS)
    assert len(tally.faults) == len(FaultPlan.KINDS), "each kind of fault was in some plan"
    assert min(tally.faults.values()) >= 5


def test_schedules_without_faults_keep_i1_and_i2_at_every_step():
    tally = run_seeds(range(1_000, 1_020), Bounds(faults=()))
    assert tally.violations == []


@pytest.mark.parametrize(("nodes", "seeds"), [(32, 4), (64, 4)])
def test_larger_rings_with_churn(nodes, seeds):
    """Overlay §11, last sentence: whole and converged within the bound, for rings of tens of brokers too."""
    tally = run_seeds(range(2_000, 2_000 + seeds), Bounds(nodes_max=nodes))
    assert tally.violations == []
    assert tally.schedules == seeds


def test_storms_crashes_and_partitions_of_larger_rings():
    bounds = Bounds(nodes_max=24, faults=("join-storm", "crash", "crash-restart", "partition"))
    tally = run_seeds(range(3_000, 3_012), bounds)
    assert tally.violations == []
    assert len(tally.faults) == 4


def test_schedules_in_which_most_crash():
    """Small rings lose more than their lists are long; who is left finds each other, as long as anybody was ever met."""
    harsh = Bounds(faults=("crash", "crash-restart", "drop", "join-storm"), down_share=0.6)
    tally = run_seeds(range(4_000, 4_060), harsh)
    assert tally.violations == []


@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize(
    "extra", [(0, 0, 0), (14, 0, 0), (0, 0, 1)], ids=["bare", "with timers", "with one message twice"]
)
def test_every_order_in_rings_of_two_and_three(nodes, extra):
    """Overlay §2: small rings hold the surprises, so nothing of them is left to chance."""
    results = explored(list(cases(nodes, *extra)))
    assert len(results) == 4 ** (nodes - 1)
    for result in results:
        assert result.orders == ORDERS.get(result.case, result.orders)


def test_every_order_in_rings_of_two_with_one_message_lost_anywhere():
    assert all(result.ends >= 1 for result in explored(list(cases(2, timers=12, losses=1))))


@pytest.mark.slow
def test_every_order_in_rings_of_three_with_one_message_lost_anywhere():
    explored(list(cases(3, timers=12, losses=1)))


def test_every_order_in_rings_of_four():
    """All but the widest case, which is below."""
    results = explored([case for case in cases(4) if case.roles != WIDEST])
    assert len(results) == 63
    assert Counter(result.orders for result in results if result.case in ORDERS) == Counter(
        [ORDERS["stay-join-join-leave"]]
    )
    assert sum(result.states for result in results) > 60_000


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_order_of_three_that_join_one():
    """Some 7·10¹¹ orders."""
    assert Explorer(Case(WIDEST)).run().orders == 716_462_797_873
