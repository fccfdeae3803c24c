"""From Spark's summaries to tables; what runs took by the clock."""

import math

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

import pyarrow as pa

from weft.pipelines.jobs.judging import clocked, table
from weft.pipelines.jobs.results import Sweep


def test_what_is_not_known_is_not_a_number():
    found = table(pa.table({"method": ["a", "b"], "n": [1, 2], "low": [None, 0.5]}))
    assert math.isnan(found.one("low", method="a"))
    assert found.one("low", method="b", n=2) == 0.5
    assert found["n"].dtype.kind == "i"


def noted(run_id: str, runs: int, seconds: float) -> Sweep:
    return Sweep("coins", "v1", run_id, "small", "local[2]", 2, runs, 0, seconds)


def test_time_is_that_of_the_sweeps_that_made_what_is_there():
    sweeps = [noted("dropped", 10, 99.0), noted("first", 6, 3.0), noted("failed", 0, 7.0), noted("second", 4, 2.0)]
    assert clocked({"first": 6, "second": 4}, sweeps) == 5.0
    assert clocked({}, sweeps) == 0.0


def test_a_sweep_of_a_larger_scale_counts_for_its_part():
    assert clocked({"large": 10}, [noted("large", 40, 8.0)]) == 2.0


def test_the_time_of_a_sweep_that_was_killed_is_not_known():
    assert math.isnan(clocked({"killed": 3, "then": 7}, [noted("then", 7, 2.0)]))
