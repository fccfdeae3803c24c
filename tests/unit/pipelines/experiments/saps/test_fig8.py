"""saps-fig8: claims judged on a small run; its plot."""

from tried import drawn, tried
from weft.pipelines.experiments.claims import HOLDS
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.experiments.saps.fig8 import EXPERIMENT


def test_verdicts_and_plot():
    tables = tried(EXPERIMENT, repeats=6)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert [verdict.verdict for verdict in verdicts[:3]] == [HOLDS] * 3
    most, fewest, hung = (verdict.ours for verdict in verdicts[3:])
    assert most > fewest > 1.5
    assert hung < most
    (figure,) = drawn(EXPERIMENT, tables)
    assert [len(axes.lines) for axes in figure.axes] == [5, 4]


def test_the_papers_size():
    assert EXPERIMENT.repeats[Scale.PAPER] == 100
    assert {point["clusters"] for point in EXPERIMENT.grid(Scale.PAPER)} == {16}
    assert {point["subscribers"] for point in EXPERIMENT.grid(Scale.PAPER)} >= {100, 10_000}
