"""saps-fig9: claims judged on a small run; its plot, with and without the size that the paper marks."""

from tried import drawn, tried
from weft.pipelines.experiments.claims import ABSENT, DIFFERS, FAILS
from weft.pipelines.experiments.saps.fig9 import EXPERIMENT


def test_verdicts_and_plot():
    tables = tried(EXPERIMENT, repeats=6)
    verdicts = {claim.what: claim.judge(tables) for claim in EXPERIMENT.claims}
    failed = [what for what, verdict in verdicts.items() if verdict.verdict in {FAILS, DIFFERS}]
    assert all("tree over that on the line" in what or "saves" in what for what in failed)
    heard, silent = (verdicts[what].ours for what in list(verdicts)[:2])
    assert 65 < heard < silent < 80
    (figure,) = drawn(EXPERIMENT, tables)
    assert [len(axes.lines) for axes in figure.axes] == [5, 4]


def test_what_was_not_run_is_said():
    tables = tried(EXPERIMENT, repeats=2)
    tables["costs"] = tables["costs"].where(topology="tree", subscribers=1_000)
    verdicts = [claim.judge(tables).verdict for claim in EXPERIMENT.claims]
    assert verdicts[:3] == [ABSENT] * 3
    assert verdicts[-1] == ABSENT
    (figure,) = drawn(EXPERIMENT, tables)
    assert [len(axes.lines) for axes in figure.axes] == [4, 3]
