"""migrate-fig5: every claim is judged on a small run, and the plot is drawn."""

from tried import drawn, tried
from weft.pipelines.experiments.claims import ABSENT, FAILS
from weft.pipelines.experiments.migrate.fig5 import FIG5


def test_verdicts_and_plot():
    tables = tried(FIG5)
    verdicts = [claim.judge(tables) for claim in FIG5.claims]
    assert ABSENT not in {verdict.verdict for verdict in verdicts}
    assert all(verdict.why for verdict in verdicts if verdict.verdict == FAILS)
    assert len(drawn(FIG5, tables)) == 1
