"""The grid's settings, and what is claimed of tables."""

import numpy as np

from weft.overlay.settings import Settings
from weft.pipelines.experiments.beyond.churn import EXPERIMENT as CHURN
from weft.pipelines.experiments.beyond.churned import terms_of
from weft.pipelines.experiments.claims import AGREES, DIFFERS, FAILS, HOLDS
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.experiments.table import Table


def test_beyond_the_papers_scale_settings_are_the_defaults():
    assert {terms_of(point).settings for point in CHURN.grid(Scale.HUGE)} == {Settings()}
    assert {point["nodes"] for point in CHURN.grid(Scale.PAPER)} == {10_000}


def test_both_overlays_are_run_alike():
    for scale in Scale:
        grid = CHURN.grid(scale)
        both = [
            [
                {name: point[name] for name in point if name not in {"overlay", "warm_s", "measured_s"}}
                for point in grid
                if point["overlay"] == overlay
            ]
            for overlay in ("suzaku", "skipgraph")
        ]
        assert both[0] == both[1]


def judged(**tables: list[dict]) -> dict[str, str]:
    made = {
        name: Table({column: np.array([row[column] for row in rows]) for column in rows[0]})
        for name, rows in tables.items()
    }
    return {verdict.what: verdict.verdict for verdict in (claim.judge(made) for claim in CHURN.claims)}


def delivery(measure: str, value: float, kind: str = "answered") -> dict:
    return {
        "overlay": "suzaku",
        "departure": "crash",
        "lifetime_s": 600.0,
        "measure": measure,
        "kind": kind,
        "value": value,
    }


def test_silence_and_doubles_are_found():
    silent, twice = (claim.what for claim in CHURN.claims[:2])
    found = judged(delivery=[delivery("stayed", 9.0), delivery("silent", 0.0), delivery("twice", 3.0, kind="bare")])
    assert (found[silent], found[twice]) == (HOLDS, HOLDS), "a bare one may come twice"
    found = judged(delivery=[delivery("stayed", 9.0), delivery("silent", 1.0), delivery("twice", 1.0)])
    assert (found[silent], found[twice]) == (FAILS, FAILS)


def test_a_hole_lasts_half_an_interval_and_three_timeouts():
    what = CHURN.claims[2].what
    for seconds, verdict in ((16.5, AGREES), (19.0, DIFFERS)):
        row = {"overlay": "suzaku", "departure": "crash", "lifetime_s": 600.0, "ping_s": 20.0, "value": seconds}
        assert judged(mended=[row, {**row, "value": 16.0}])[what] == verdict
