"""beyond-rerename: every claim is judged on a small run, and the plot is drawn."""

from tried import drawn, tried
from weft.pipelines.experiments.beyond.rerename import EXPERIMENT
from weft.pipelines.experiments.claims import ABSENT


def test_verdicts_and_plot():
    tables = tried(EXPERIMENT, repeats=2)
    assert ABSENT not in {claim.judge(tables).verdict for claim in EXPERIMENT.claims}
    (figure,) = drawn(EXPERIMENT, tables)
    assert len(figure.axes) == 4
