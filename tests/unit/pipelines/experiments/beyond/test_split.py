"""beyond-split: claims judged on a small run; its plots."""

from tried import drawn, tried
from weft.pipelines.experiments.beyond.split import EXPERIMENT
from weft.pipelines.experiments.claims import ABSENT, ALONE, HOLDS


def test_verdicts_and_plots():
    tables = tried(EXPERIMENT, repeats=3)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert {verdict.verdict for verdict in verdicts} == {HOLDS, ALONE}
    assert [len(figure.axes) for figure in drawn(EXPERIMENT, tables)] == [2, 2, 3, 3]


def test_an_overlay_that_was_not_run():
    tables = tried(EXPERIMENT, repeats=2)
    tables["shapes"] = tables["shapes"].where(overlay="Suzaku")
    assert {claim.judge(tables).verdict for claim in EXPERIMENT.claims} == {ABSENT, ALONE, HOLDS}
