"""The questions that the papers leave open, as experiments: what of their answers is exact, or follows from a rule."""

import pytest

from weft.pipelines.experiments.beyond.publishing import published
from weft.sim.churn.turnover import Terms, Turnover

CHURN = {
    "nodes": 120,
    "departure": "crash",
    "lifetime_s": 400.0,
    "warm_s": 10.0,
    "measured_s": 60.0,
    "ping_s": 10.0,
    "update_s": 5.0,
    "walk_s": 30.0,
    "span": 40,
    "multicasts_per_s": 1.0,
    "lookups_per_s": 3.0,
}


@pytest.fixture(scope="module", params=["suzaku", "skipgraph"])
def churned(request) -> list[tuple[str, str, float, float]]:
    return Turnover(Terms(**CHURN, overlay=request.param), 0).run().rows


def values(rows, measure: str, kind: str) -> list[float]:
    return [value for name, of, _, value in rows if (name, of) == (measure, kind)]


def test_overlay_5_who_stays_is_reached_once_or_the_sender_knows(churned):
    """overlay §5, §11: every sub-range is answered exactly once, so the root knows what is missing; nobody is reached twice."""
    assert sum(values(churned, "stayed", "answered")) > 500
    assert sum(values(churned, "silent", "answered")) == 0
    assert not values(churned, "twice", "answered") + values(churned, "twice", "acknowledged")


def test_overlay_5_acknowledged_hops_reach_more(churned):
    """overlay §5: hop acknowledgement and retry, against a message that is lost with the broker it went to."""
    shares = {
        way: sum(values(churned, "got", way)) / sum(values(churned, "stayed", way)) for way in ("bare", "acknowledged")
    }
    assert shares["acknowledged"] > 0.97
    assert shares["bare"] < 0.95


def test_overlay_2_a_hole_lasts_half_an_interval_and_three_timeouts(churned):
    """overlay §2: the right neighbour looks once an interval, and asks three times before it takes its left for dead."""
    mended = values(churned, "mended", "hole")
    assert len(mended) > 10
    assert 5 + 6 - 3 < sum(mended) / len(mended) < 5 + 6 + 4, "two of them beside each other take longer"


def test_suzaku_tables_keep_their_height_while_members_leave():
    """Suzaku's fingers after a sweep of churn: they were cut level by level until a lookup walked the ring."""
    terms = Terms(**{**CHURN, "departure": "leave", "nodes": 256, "warm_s": 90.0}, overlay="suzaku")
    rows = Turnover(terms, 1).run().rows
    held, defined = (
        sum(value for name, kind, _, value in rows if (name, kind) == ("level", of)) for of in ("held", "defined")
    )
    hops = values(rows, "lookup hops", "right")
    assert held / defined > 0.75, "all but the top levels, which a removal takes and a sweep brings back; it was 0.61"
    assert sum(hops) / len(hops) < 5, "8 levels; 4 when nobody comes or goes"


def test_adr_0003_one_exact_multicast_for_each_live_shape():
    """docs/adr/0003: the members of any filter are one range; a prefix scheme asks for each prefix, and some do not match."""
    rows = published({"keys": 2_000, "shapes": 16}, 0)
    by = {scheme: {name: column[at] for name, column in rows.items()} for at, scheme in enumerate(rows["scheme"])}
    assert (by["shapes"]["queries"], by["shapes"]["false"]) == (16, 0)
    assert (by["prefixes"]["queries"], by["prefixes"]["false"] > by["prefixes"]["matching"]) == (6, True)
    assert by["shapes"]["messages"] < by["prefixes"]["messages"] < by["flooding"]["messages"]
