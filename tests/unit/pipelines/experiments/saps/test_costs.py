"""What is read off a table of costs."""

import pytest

from weft.pipelines.experiments.saps.costs import memory_mb, ratios, saved, worst_ofm
from weft.pipelines.experiments.table import Missing, Table

COSTS = Table(
    {
        "clusters": [4, 4, 4, 4, 4],
        "subscribers": [200, 100, 100, 200, 100],
        "method": ["OFM", "OFM", "ALM", "ALM", "ALM-LA"],
        "traffic": [5.0, 4.0, 16.0, 50.0, 8.0],
    }
)


def test_ratios_go_along_the_sweep():
    assert ratios(COSTS, "traffic", "OFM", "ALM") == [0.25, 0.1]
    assert worst_ofm(COSTS, "traffic", ("ALM",)) == 0.25


@pytest.mark.parametrize("other", ["ALM-LA", "nobody"])
def test_a_method_that_was_not_run_everywhere_is_missing(other):
    with pytest.raises(Missing):
        ratios(COSTS, "traffic", other, "ALM")


def test_percent_and_memory():
    assert saved(25.0, 100.0) == 75.0
    assert memory_mb({"subscribers": 100}) < memory_mb({"subscribers": 1_000_000}) < 1_000
