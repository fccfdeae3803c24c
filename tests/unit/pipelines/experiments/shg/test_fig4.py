"""shg-fig4: its claims are judged on a small run, those about larger sizes are not run; its plots."""

from tried import drawn, tried
from weft.pipelines.experiments.claims import ABSENT, ALONE, FAILS, HOLDS
from weft.pipelines.experiments.shg.fig4 import EXPERIMENT


def test_verdicts_and_plots():
    tables = tried(EXPERIMENT, repeats=2)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert {verdict.verdict for verdict in verdicts} <= {ALONE, HOLDS, FAILS, ABSENT}
    assert {ALONE, HOLDS, ABSENT} <= {verdict.verdict for verdict in verdicts}
    for verdict in verdicts:
        assert ("1,024 nodes" in verdict.what) <= (verdict.verdict == ABSENT) or "by that at 64" in verdict.what
    assert len(drawn(EXPERIMENT, tables)) == 2
