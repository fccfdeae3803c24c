"""A run of figure 13: three cases under the same joins and leaves."""

import pytest

from weft.pipelines.experiments.saps.turnover import BOTH, EITHER, MIGRATING, model


def rows(seed: int = 1, **rates) -> dict[str, dict[str, float]]:
    found = model({"seconds": 5.0, **rates}, seed)
    return {case: {name: found[name][at] for name in found if name != "case"} for at, case in enumerate(found["case"])}


def test_queries_are_the_sum_of_what_the_equations_have():
    found = rows(join_rate=0.5, leave_rate=0.25)
    assert list(found) == [EITHER, BOTH, MIGRATING]
    for row in found.values():
        assert row["queries"] == pytest.approx(row["publish"] + row["join"] + row["leave"])
    assert found[EITHER]["publish"] == 10.0
    assert found[EITHER]["leave"] == found[BOTH]["leave"] == found[BOTH]["queries"]
    assert found[MIGRATING]["constructs"] > 0 == found[BOTH]["constructs"]


def test_points_have_processes_of_their_own():
    assert rows(join_rate=0.0, leave_rate=0.5)[BOTH] != rows(join_rate=0.5, leave_rate=0.5)[BOTH]
    assert rows(join_rate=0.0, leave_rate=0.5) == rows(join_rate=0.0, leave_rate=0.5)
