"""saps-fig12: claims judged on a small run; its plots."""

from tried import drawn, tried
from weft.pipelines.experiments.claims import ABSENT, ALONE, HOLDS
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.experiments.saps.fig12 import EXPERIMENT


def test_verdicts_and_plots():
    tables = tried(EXPERIMENT)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert {verdict.verdict for verdict in verdicts} == {HOLDS, ALONE}
    assert [len(figure.axes) for figure in drawn(EXPERIMENT, tables)] == [2, 2, 1]


def test_without_the_sizes_they_are_not_run():
    tables = tried(EXPERIMENT, repeats=2)
    tables["ratios"] = tables["ratios"].where(subscribers=10_000, exponent=0.0)
    assert {claim.judge(tables).verdict for claim in EXPERIMENT.claims} == {ABSENT}


def test_zipf_is_of_the_tree_only():
    """SAPS §4.1.2: "Zipf distribution in tree topology cases"."""
    assert {point["exponent"] for point in EXPERIMENT.grid(Scale.PAPER) if point["topology"] == "line"} == {0.0}
