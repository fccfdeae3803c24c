"""shg-structure: its claims judged on what was really counted, and its plot."""

from tried import drawn, tried
from weft.pipelines.experiments.claims import AGREES, FAILS, HOLDS
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.experiments.shg.structure import EXPERIMENT, grid


def test_verdicts_and_plot():
    tables = tried(EXPERIMENT)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert {verdict.verdict for verdict in verdicts} == {AGREES, HOLDS, FAILS}
    assert all(verdict.why for verdict in verdicts if verdict.verdict == FAILS)
    (figure,) = drawn(EXPERIMENT, tables)
    assert len(figure.axes) == 1


def test_more_sizes_at_larger_scales():
    assert len(grid(Scale.SMALL)) < len(grid(Scale.PAPER))
    assert {point["variant"] for point in grid(Scale.SMALL)} == {"corrected", "literal"}
