"""Verdicts are computed: each kind of claim, each way to end."""

import math

import pytest

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.table import Table

TABLES = {"mean": Table({"size": [1], "hops": [9.6]})}


def hops(tables):
    return tables["mean"].one("hops", size=1)


def judged(**more):
    return Claim(**{"what": "Hops", "source": "a paper", "ours": hops, **more}).judge(TABLES)


@pytest.mark.parametrize(
    ("paper", "within", "verdict"),
    [(10, 0.05, "agrees"), (10, 0.03, "differs"), (9.6, 0, "agrees"), (-9.6, 0.5, "differs")],
)
def test_a_number_agrees_within_its_tolerance(paper, within, verdict):
    found = judged(paper=paper, within=within)
    assert found.verdict == verdict
    assert found.ratio == pytest.approx(9.6 / paper)


def test_of_zero_the_tolerance_is_absolute():
    assert judged(paper=0, within=9.5).verdict == "differs"
    assert judged(paper=0, within=9.7).verdict == "agrees"
    assert math.isnan(judged(paper=0).ratio)


def test_a_statement_holds_or_does_not():
    assert judged(paper="under ten", holds=lambda ours: ours < 10).verdict == "holds"
    assert judged(paper="over ten", holds=lambda ours: ours > 10).verdict == "does not hold"
    assert math.isnan(judged(paper="under ten", holds=lambda ours: ours < 10).ratio)


def test_nothing_published_is_nothing_to_compare_but_ours_is_told():
    found = judged(paper=None, why="the curve is lost")
    assert (found.verdict, found.ours, found.paper) == ("nothing to compare", 9.6, "–")


def test_what_was_not_run_is_said():
    found = judged(paper=10, ours=lambda tables: tables["mean"].one("hops", size=2))
    assert found.verdict == "not run"
    assert math.isnan(found.ours)
    assert judged(paper=10, ours=lambda tables: tables["other"].one("hops")).verdict == "not run"


def test_a_number_that_is_none_differs():
    assert judged(paper=10, ours=lambda tables: math.nan).verdict == "differs"


@pytest.mark.parametrize(
    "ours", [lambda tables: min([]), lambda tables: tables["mean"].where(size=2)["hops"][-1], lambda tables: math.nan]
)
def test_what_cannot_be_read_off_a_part_of_the_results_was_not_run(ours):
    claim = Claim(what="Hops", source="a paper", paper="under ten", holds=lambda hops: hops < 10, ours=ours)
    assert claim.judge(TABLES, whole=False).verdict == "not run"


def test_what_cannot_be_read_off_whole_results_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        judged(paper=1, ours=lambda tables: min([]))
