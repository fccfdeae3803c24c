"""What a day costs, with prices and pieces that can be checked by hand."""

import numpy as np
import pytest

from weft.pipelines.experiments.beyond import suspending
from weft.pipelines.experiments.beyond.suspending import ALWAYS, SCRIBE, SUSPENDING, Prices, prices

POINT = {"nodes": 500, "topics": 20, "exponent": 1.0, "load": 0.5, "publishers": 4}


@pytest.fixture(scope="module")
def paid() -> Prices:
    return prices(500, 4, 20, 1)


def test_a_publication_reaches_every_subscriber_and_a_signal_every_other_publisher(paid):
    assert (paid.proposed >= paid.counts).all()
    assert paid.signal == 3
    assert paid.counts[-1] >= 20


def test_without_subscribers_scribe_sends_one_message_and_ours_goes_to_the_rendezvous_point(paid):
    assert paid.scribe[0] == pytest.approx(1, abs=0.01)
    assert 0.5 < paid.proposed[0] < 3


def test_scribe_costs_more_per_subscriber(paid):
    assert (paid.scribe[1:] > paid.proposed[1:]).all()


@pytest.fixture(scope="module")
def totals() -> dict[str, dict[str, float]]:
    rows = {name: np.asarray(values) for name, values in suspending.model(POINT, 1).items()}
    return {
        method: {name: float(rows[name][rows["method"] == method].sum()) for name in rows if name != "method"}
        for method in (SUSPENDING, ALWAYS, SCRIBE)
    }


def test_suspending_sends_less_and_only_suspending_has_upkeep(totals):
    assert totals[SUSPENDING]["data"] < totals[ALWAYS]["data"]
    assert totals[SUSPENDING]["signals"] > 0
    for method in (ALWAYS, SCRIBE):
        assert totals[method]["signals"] == totals[method]["checks"] == 0


def test_checks_are_two_messages_a_minute_for_all_but_the_rendezvous_point(totals):
    minutes = totals[SUSPENDING]["idle"] * 60
    assert totals[SUSPENDING]["checks"] == pytest.approx(minutes * 2 * 3)


def test_signals_come_in_whole_multicasts_and_hours_are_all_accounted_for(totals):
    assert totals[SUSPENDING]["signals"] % 3 == 0
    assert totals[SUSPENDING]["hours"] == 20 * 24
    assert totals[SUSPENDING]["subscribed"] / totals[SUSPENDING]["hours"] == pytest.approx(0.5, rel=0.4)


def test_a_publisher_alone_is_the_rendezvous_point_and_costs_nothing():
    rows = {name: np.asarray(values) for name, values in suspending.model({**POINT, "publishers": 1}, 1).items()}
    assert rows["signals"].sum() == rows["checks"].sum() == 0
    ours, always = (rows["data"][rows["method"] == method].sum() for method in (SUSPENDING, ALWAYS))
    assert ours == pytest.approx(always), "it sees for itself that nobody subscribes"
