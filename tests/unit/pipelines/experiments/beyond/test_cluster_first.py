"""beyond-cluster-first: claims judged on a small run; its plots."""

from tried import drawn, tried
from weft.pipelines.experiments.beyond.cluster_first import EXPERIMENT
from weft.pipelines.experiments.claims import ALONE, HOLDS
from weft.pipelines.experiments.experiment import Scale


def test_verdicts_and_plots():
    tables = tried(EXPERIMENT)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert {verdict.verdict for verdict in verdicts} == {HOLDS, ALONE}
    assert [len(figure.axes) for figure in drawn(EXPERIMENT, tables)] == [2, 2, 2]


def test_no_point_twice_though_two_sweeps_meet():
    for scale in Scale:
        grid = [tuple(point.items()) for point in EXPERIMENT.grid(scale)]
        assert len(set(grid)) == len(grid)
