"""Every experiment keeps the contract at every scale; what it finds is a matter of its own tests."""

import json

import pytest

from weft.core.errors import Misuse
from weft.pipelines.experiments.catalogue import EXPERIMENTS, named
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.experiments.summaries import Cdf, Correlation, Quantiles

PAPERS = ["SAPS", "RELAY", "MIGRATE", "SELECT", "SHG", "beyond"]
WANTED = [
    *("saps-fig8", "saps-fig9", "saps-fig10", "saps-fig12", "saps-fig13"),
    *("relay-fig9", "relay-fig10", "relay-fig11", "relay-fig12-13", "relay-fig14", "relay-fig15", "relay-table1"),
    *("migrate-fig5", "migrate-fig8", "migrate-fig9"),
    *("select-fig9", "select-fig10", "select-fig11", "select-fig12", "select-table3", "select-table4"),
    *("shg-structure", "shg-fig4", "shg-fig5"),
    *("beyond-cluster-first", "beyond-split", "beyond-scale", "beyond-suspend-trace", "beyond-anycast"),
    *("beyond-rerename", "beyond-planner", "beyond-churn", "beyond-wildcards"),
]


def test_all_are_there_in_the_papers_order():
    assert [experiment.name for experiment in EXPERIMENTS] == WANTED
    papers = [PAPERS.index(experiment.paper) for experiment in EXPERIMENTS]
    assert papers == sorted(papers)


def test_an_unknown_one_is_refused_with_what_to_do():
    with pytest.raises(Misuse, match="unknown experiment saps-fig7; `weft experiments list` names them all"):
        named("saps-fig7")


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_its_points_are_of_one_kind_and_different(experiment):
    kinds = {name: type(value) for name, value in experiment.grid(Scale.SMALL)[0].items()}
    for scale in Scale:
        grid = experiment.grid(scale)
        assert all({name: type(value) for name, value in point.items()} == kinds for point in grid)
        assert len({json.dumps(point) for point in grid}) == len(grid) > 0
        assert experiment.repeats[scale] > 0
        assert all(experiment.memory_mb(point) > 0 for point in grid)
    assert not set(kinds) & {*experiment.columns, "seed", "key", "rows", "error", "cpu_s", "peak_mb", "executor"}


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_its_summaries_are_of_columns_that_are_there(experiment):
    known = {*experiment.grid(Scale.SMALL)[0], *experiment.columns, "seed"}
    for summary in experiment.summaries.values():
        match summary:
            case Correlation(by, x, y):
                used = {*by, x, y}
            case Cdf(by, of, weight):
                used = {*by, of, weight} - {""}
            case Quantiles(by, of):
                used = {*by, of}
            case _:
                used = {*summary.by, *summary.of}
        assert used <= known


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_it_says_what_it_is(experiment):
    assert experiment.title
    assert experiment.says
    assert experiment.setting
    assert experiment.plots or not experiment.claims or experiment.name == "shg-structure"
    for claim in experiment.claims:
        assert claim.what
        assert claim.source
        if claim.paper is None:
            assert claim.why or experiment.paper == "beyond"
        if isinstance(claim.paper, str):
            assert claim.holds is not None
