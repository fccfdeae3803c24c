"""beyond-rerename: every claim is judged on a small run, and the plot is drawn."""

from tried import drawn, tried
from weft.pipelines.experiments.beyond.rerename import RERENAME
from weft.pipelines.experiments.claims import ABSENT


def test_verdicts_and_plot():
    tables = tried(RERENAME, repeats=2)
    assert ABSENT not in {claim.judge(tables).verdict for claim in RERENAME.claims}
    (figure,) = drawn(RERENAME, tables)
    assert len(figure.axes) == 4
