"""What is read off the tables of beyond-planner."""

import pytest

from weft.pipelines.experiments.beyond.planner import EXPERIMENT, least, over, smaller
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.experiments.table import Missing, Table

BUDGETS = Table(
    {
        "fabric": ["tree"] * 4,
        "method": ["planner", "planner", "busiest", "busiest"],
        "share": [0.01, 0.1, 0.01, 0.1],
        "achieved": [0.9, 1.0, 0.3, 0.8],
        "of_all": [0.5, 0.9, 0.2, 0.7],
    }
)


def test_how_much_smaller_tables_may_be():
    assert smaller("tree", 0.1)({"budgets": BUDGETS}) == pytest.approx(0.55)
    with pytest.raises(Missing):
        smaller("tree", 0.01)({"budgets": BUDGETS})


def test_the_smallest_ratio_of_two_methods():
    assert over("planner", "busiest")({"budgets": BUDGETS}) == pytest.approx(1.25)
    assert least("budgets", "achieved", method="planner")({"budgets": BUDGETS}) == 0.9


def test_the_drift_is_never_larger_than_its_windows_allow():
    for scale in Scale:
        grid = EXPERIMENT.grid(scale)
        assert [point["part"] for point in grid] == ["optimum"] * 2 + ["budgets"] * 2 + ["drift"] * 2
        assert all(point["topics"] <= 10_000 for point in grid if point["part"] == "drift")
