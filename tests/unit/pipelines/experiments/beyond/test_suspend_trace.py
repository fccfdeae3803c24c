"""Percentages and break-even points, on a day made by hand."""

import pytest

from weft.pipelines.experiments.beyond.suspend_trace import MAIN, break_even, messages, saved
from weft.pipelines.experiments.beyond.suspending import ALWAYS, SCRIBE, SUSPENDING
from weft.pipelines.experiments.table import Missing, Table

DAY = {SUSPENDING: (1_000.0, 10.0, 90.0), ALWAYS: (3_000.0, 0.0, 0.0), SCRIBE: (11_000.0, 0.0, 0.0)}


@pytest.fixture
def tables() -> dict[str, Table]:
    rows = [(*MAIN.values(), method, *costs) for method, costs in DAY.items()]
    names = (*MAIN, "method", "data", "signals", "checks")
    return {"day": Table({name: [row[at] for row in rows] for at, name in enumerate(names)})}


def test_data_is_divided_by_the_interval_and_upkeep_is_not(tables):
    assert messages(tables["day"], 10.0, method=SUSPENDING) == 200
    assert saved(tables, ALWAYS, 10.0) == pytest.approx(100 / 3)


def test_at_the_break_even_interval_both_cost_the_same(tables):
    interval = break_even(tables, ALWAYS)
    assert interval == 20
    assert saved(tables, ALWAYS, interval) == pytest.approx(0)
    assert break_even(tables, SCRIBE) == 100
    assert break_even(tables, ALWAYS, checks=False) == 200


def test_what_was_not_run_is_missing(tables):
    with pytest.raises(Missing):
        saved(tables, ALWAYS, load=10.0)
