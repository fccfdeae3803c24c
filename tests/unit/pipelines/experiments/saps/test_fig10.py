"""saps-fig10: claims judged on a small run; its plot."""

import pytest

from tried import drawn, tried
from weft.pipelines.experiments.claims import ABSENT, ALONE, HOLDS
from weft.pipelines.experiments.saps.fig10 import EXPERIMENT, occupied


def test_verdicts_and_plot():
    tables = tried(EXPERIMENT)
    verdicts = [claim.judge(tables) for claim in EXPERIMENT.claims]
    assert {verdict.verdict for verdict in verdicts[1:]} == {HOLDS, ALONE}
    (figure,) = drawn(EXPERIMENT, tables)
    assert len(figure.axes) == 2


def test_how_many_clusters_hold_one_of_100_subscribers():
    assert occupied(1) == 1.0
    assert occupied(16) > 0.99 > occupied(32)
    assert occupied(128) == pytest.approx(0.5436, abs=1e-3)


def test_without_many_clusters_some_claims_are_not_run():
    tables = tried(EXPERIMENT, repeats=2)
    tables["costs"] = tables["costs"].where(clusters=4)
    assert EXPERIMENT.claims[1].judge(tables).verdict == ABSENT
