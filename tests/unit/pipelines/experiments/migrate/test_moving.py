"""How long members take: intervals and messages in a row."""

import pytest

from weft.pipelines.experiments.migrate.moving import COLUMNS, METHODS, moved


@pytest.mark.parametrize("method", METHODS)
def test_a_run_is_one_row(method):
    rows = moved({"method": method, "latency_ms": 5.0}, 1)
    assert list(rows) == list(COLUMNS)
    assert {len(values) for values in rows.values()} == {1}


def test_a_rename_is_latency_and_a_rejoin_is_intervals():
    for latency_ms in (1.0, 10.0):
        rename = moved({"method": "rename", "latency_ms": latency_ms}, 1)
        assert rename["time_ms"][0] == pytest.approx(22 * latency_ms, rel=0.3)
        rejoin = moved({"method": "rejoin", "latency_ms": latency_ms}, 1)
        assert 0 <= rejoin["time_ms"][0] - 4_550 <= 3 * latency_ms
    quick = moved({"method": "rejoin-quick", "latency_ms": 1.0}, 1)
    assert quick["intervals_ms"] == [pytest.approx(3_150)]
