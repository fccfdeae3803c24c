"""Each summary, against numbers that were worked out by hand or by another library."""

import math

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

from pyspark.sql import functions as F  # noqa: N812
from pyspark.testing import assertDataFrameEqual

from weft.pipelines.experiments.summaries import Cdf, Correlation, Mean, Quantiles, Total
from weft.pipelines.transforms.statistics import quantile_name, summarise

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rows(spark):
    return spark.createDataFrame(
        [("a", 1, 2.0, 1), ("a", 2, 4.0, 3), ("a", 3, 9.0, 1), ("b", 1, 7.0, 2)],
        "method string, x long, hops double, times long",
    )


def test_total(spark, rows):
    expected = spark.createDataFrame(
        [("a", 3, 15.0, 5), ("b", 1, 7.0, 2)], "method string, n long, hops double, times long"
    )
    assertDataFrameEqual(rows.transform(summarise(Total(by=("method",), of=("hops", "times")))), expected)


def test_where_is_applied_before_anything_else(spark, rows):
    expected = spark.createDataFrame([("a", 2, 13.0)], "method string, n long, hops double")
    assertDataFrameEqual(
        rows.transform(summarise(Total(by=("method",), of=("hops",), where="hops > 2 AND x > 1"))), expected
    )


def test_a_mean_has_students_interval(rows):
    found = rows.transform(summarise(Mean(by=("method",), of=("hops",)))).collect()
    a, b = found
    assert (a.n, a.hops, a.hops_min, a.hops_max) == (3, 5.0, 2.0, 9.0)
    half = 4.302653 * math.sqrt(13) / math.sqrt(3)  # variance 13, two degrees of freedom
    assert a.hops_low == pytest.approx(5 - half, rel=1e-4)
    assert a.hops_high == pytest.approx(5 + half, rel=1e-4)
    assert (b.n, b.hops, b.hops_low, b.hops_high) == (1, 7.0, None, None)


@pytest.mark.parametrize(
    ("n", "t"), [(2, 12.7062), (11, 2.2281), (12, 2.2010), (31, 2.0423), (101, 1.9840), (1001, 1.9623)]
)
def test_students_t_is_right_in_the_table_and_beyond_it(spark, n, t):
    frame = spark.range(n).select(F.lit("a").alias("method"), F.col("id").cast("double").alias("x"))
    found = frame.transform(summarise(Mean(by=("method",), of=("x",)))).collect()[0]
    half = (found.x_high - found.x_low) / 2
    assert half / (np.std(np.arange(n), ddof=1) / math.sqrt(n)) == pytest.approx(t, abs=2e-4)


def test_a_cdf_counts_weights(spark, rows):
    expected = spark.createDataFrame(
        [("a", 2.0, 1, 0.2), ("a", 4.0, 3, 0.8), ("a", 9.0, 1, 1.0), ("b", 7.0, 2, 1.0)],
        "method string, value double, count long, share double",
    )
    assertDataFrameEqual(rows.transform(summarise(Cdf(by=("method",), of="hops", weight="times"))), expected)


def test_a_cdf_without_weights_counts_rows(rows):
    found = rows.transform(summarise(Cdf(by=(), of="x"))).collect()
    assert [(row.value, row["count"], row.share) for row in found] == [(1, 2, 0.5), (2, 1, 0.75), (3, 1, 1.0)]


def test_quantiles_are_exact(spark):
    frame = spark.range(1, 102).select(F.lit(1).alias("k"), F.col("id").alias("v"))
    found = frame.transform(summarise(Quantiles(by=("k",), of="v", at=(0.5, 0.99)))).collect()[0]
    assert (found.n, found.q50, found.q99, found.most) == (101, 51.0, 100.0, 101)
    assert quantile_name(0.999) == "q99_9"


def test_a_correlation_has_fishers_interval(spark):
    noise = np.sin(np.arange(50.0) * 37)
    x, y = np.arange(50.0), np.arange(50.0) + 20 * noise
    frame = spark.createDataFrame(
        list(zip(["a"] * 50, x.tolist(), y.tolist(), strict=True)), "method string, x double, y double"
    )
    found = frame.transform(summarise(Correlation(by=("method",), x="x", y="y"))).collect()[0]
    r = np.corrcoef(x, y)[0, 1]
    assert found.n == 50
    assert found.r == pytest.approx(r)
    assert found.low == pytest.approx(math.tanh(math.atanh(r) - 1.959964 / math.sqrt(47)))
    assert found.high == pytest.approx(math.tanh(math.atanh(r) + 1.959964 / math.sqrt(47)))


def test_a_perfect_correlation_is_not_nan(spark):
    frame = spark.createDataFrame([("a", float(i), 0.1 * i) for i in range(10)], "method string, x double, y double")
    found = frame.transform(summarise(Correlation(by=("method",), x="x", y="y"))).collect()[0]
    assert found.r == pytest.approx(1)
    assert found.high == pytest.approx(1)
    assert found.low > 0.999
