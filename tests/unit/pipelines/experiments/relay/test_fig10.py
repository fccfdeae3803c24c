"""Figure 10's claims, on numbers made by hand."""

import pytest

from weft.pipelines.experiments.relay.fig10 import EXPERIMENT, SMALL_TOPICS, grid, growth, ratios
from weft.pipelines.experiments.relay.paths import FROM_ROOT, PATTERNS, PROPOSED, SCRIBE
from weft.pipelines.experiments.scale import Scale
from weft.pipelines.experiments.table import Missing, Table

THEIRS = {1_000: 10.0, 10_000: 13.0, 100_000: 16.2}
OURS = dict(zip(PATTERNS, (12.8, 11.8, 8.0, 3.4, 2.9, 2.5), strict=True))


def tables(sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> dict[str, Table]:
    rows = [
        (nodes, pattern, method, hops)
        for nodes in sizes
        for pattern in PATTERNS
        for method, hops in (
            (PROPOSED, OURS[pattern]),
            (SCRIBE, THEIRS[nodes]),
            (FROM_ROOT, THEIRS[nodes] - 1),
        )
    ]
    names = ("nodes", "pattern", "method", "hops")
    return {"lengths": Table({name: [row[at] for row in rows] for at, name in enumerate(names)})}


def test_every_statement_holds_of_such_a_figure():
    wrong = {"differs", "does not hold", "not run"}
    failed = [claim.what for claim in EXPERIMENT.claims if claim.judge(tables()).verdict in wrong]
    assert failed == ["the same, from the root on"], "15.2 does not round to 16"


def test_what_needs_100000_nodes_is_not_judged_without():
    absent = [claim for claim in EXPERIMENT.claims if claim.judge(tables((1_000, 10_000))).verdict == "not run"]
    assert len(absent) == 7


def test_growth_is_from_the_smallest_overlay_to_the_largest():
    assert growth(SCRIBE, min)(tables()) == pytest.approx(0.62)
    assert growth(PROPOSED, max)(tables()) == 0
    with pytest.raises(Missing):
        growth(SCRIBE, min)(tables((1_000,)))


def test_ratios_are_scribes_over_ours_in_the_order_asked_for():
    assert ratios(tables()).tolist() == pytest.approx([16.2 / OURS[pattern] for pattern in SMALL_TOPICS])


def test_small_overlays_are_taken_together():
    by_nodes = {point["nodes"]: point["overlays"] for point in grid(Scale.PAPER)}
    assert by_nodes == {1_000: 20, 10_000: 4, 100_000: 1}
    assert len(grid(Scale.PAPER)) == 18
