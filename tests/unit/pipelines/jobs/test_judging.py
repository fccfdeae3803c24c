"""From Spark's summaries to tables."""

import math

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

import pyarrow as pa

from weft.pipelines.jobs.judging import table


def test_what_is_not_known_is_not_a_number():
    found = table(pa.table({"method": ["a", "b"], "n": [1, 2], "low": [None, 0.5]}))
    assert math.isnan(found.one("low", method="a"))
    assert found.one("low", method="b", n=2) == 0.5
    assert found["n"].dtype.kind == "i"
