"""saps-fig13: the equations beside the counts; its plots."""

import pytest

from tried import drawn, tried
from weft.pipelines.experiments.claims import ABSENT, FAILS
from weft.pipelines.experiments.saps.fig13 import EXPERIMENT, expected
from weft.pipelines.experiments.saps.turnover import BOTH, EITHER
from weft.pipelines.experiments.table import Table

RATES = Table({"join_rate": [0.0, 1.0, 1.0], "leave_rate": [0.0, 0.0, 1.0]})


def test_equations_at_the_corners():
    """SAPS §4.2: 100 subscribers, 10 publishers, a publish per second."""
    assert expected(RATES, EITHER).tolist() == [10, 110, 210]
    assert expected(RATES, BOTH).tolist() == [0, 0, 100]


def test_verdicts_and_plots():
    tables = tried(EXPERIMENT)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert FAILS not in {verdict.verdict for verdict in verdicts}
    assert verdicts[2].ours == pytest.approx(1, abs=0.1)
    assert verdicts[3].ours == pytest.approx(1, abs=0.1)
    assert verdicts[6].ours < 0.9
    assert [len(figure.axes) for figure in drawn(EXPERIMENT, tables)] == [2, 2]


def test_nothing_run_nothing_judged():
    nothing = {"queries": Table({"case": [], "join_rate": [], "leave_rate": []})}
    assert {claim.judge(nothing).verdict for claim in EXPERIMENT.claims} == {ABSENT}
