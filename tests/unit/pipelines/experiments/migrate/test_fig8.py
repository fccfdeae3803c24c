"""migrate-fig8: every claim is judged on a small run, and the plot is drawn."""

from tried import drawn, tried
from weft.pipelines.experiments.claims import ABSENT, FAILS
from weft.pipelines.experiments.migrate.fig8 import EXPERIMENT


def test_verdicts_and_plot():
    tables = tried(EXPERIMENT)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert ABSENT not in {verdict.verdict for verdict in verdicts}
    assert all(verdict.why for verdict in verdicts if verdict.verdict == FAILS)
    assert len(drawn(EXPERIMENT, tables)) == 1
