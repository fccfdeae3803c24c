"""One run: who comes and goes, what is asked, and the rows; the same seed gives the same rows."""

from collections import Counter

import pytest

from weft.overlay.suzaku.machine import Suzaku
from weft.sim.churn.asking import WAYS
from weft.sim.churn.turnover import Terms, Turnover
from weft.sim.invariants import RingCheck, no_violations

TERMS = Terms(
    overlay="suzaku",
    nodes=40,
    departure="leave",
    lifetime_s=120.0,
    warm_s=5.0,
    measured_s=40.0,
    ping_s=5.0,
    update_s=2.0,
    walk_s=20.0,
    span=10,
    multicasts_per_s=1.0,
    lookups_per_s=2.0,
)


def total(rows, measure: str, **wanted) -> float:
    return sum(value for name, kind, _, value in rows if name == measure and wanted.get("kind", kind) == kind)


def test_the_same_seed_gives_the_same_rows_and_another_gives_others():
    once, again, other = (Turnover(TERMS, seed).run().rows for seed in (1, 1, 2))
    assert once == again != other


@pytest.mark.parametrize("overlay", ["suzaku", "skipgraph"])
def test_who_leaves_in_good_order_takes_nobody_along(overlay):
    rows = Turnover(TERMS._replace(overlay=overlay), 3).run().rows
    for way in WAYS:
        assert total(rows, "got", kind=way) == total(rows, "stayed", kind=way) > 0
    assert total(rows, "twice") == total(rows, "silent") == total(rows, "refused") == 0
    assert total(rows, "messages", kind="leaves") > 0
    assert total(rows, "messages", kind="joins") > 0
    assert {kind for measure, kind, _, _ in rows if measure == "lookup"} == {"right"}


@pytest.mark.parametrize("overlay", ["suzaku", "skipgraph"])
def test_after_crashes_all_comes_right_when_nobody_comes_or_goes_any_more(overlay):
    run = Turnover(TERMS._replace(overlay=overlay, departure="crash"), 4)
    run.run()
    measured = Counter(measure for measure, _, _, _ in run.rows)
    assert measured["mended"] > 3
    assert measured["join"] > 3
    membership, simulation = run.membership, run.simulation
    membership._depart = membership._next_arrival = lambda *_: None
    simulation.run(until=simulation.now + 60.0)
    membership.look()
    assert not membership.holes
    assert sorted(key for peer in membership.peers.values() for key in peer.keys()) == membership.members
    RingCheck().at_rest(membership.peers.values())
    no_violations(membership.peers.values())


def test_sweeps_begin_at_all_levels():
    run = Turnover(TERMS._replace(nodes=200), 1)
    run.membership.begin()
    cursors = Counter(
        fingers.cursor
        for peer in run.membership.peers.values()
        if isinstance(peer, Suzaku)
        for fingers in peer.fingers.tables.values()
    )
    assert len(cursors) == 8
    assert min(cursors.values()) > 10
