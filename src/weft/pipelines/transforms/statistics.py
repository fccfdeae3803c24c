"""Summaries as DataFrame → DataFrame functions, in column expressions (``experiments/summaries.py`` says what each means)."""

from collections.abc import Callable
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's own documentation has it

from weft.pipelines.experiments.summaries import Cdf, Correlation, Mean, Quantiles, Summary, Total

Z = 1.959963984540054
"""The normal distribution's 97.5 %."""
T = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
"""Student's t, 97.5 %, for 1 … 10 degrees of freedom; beyond that the series in 1/ν is right to four digits."""


def summarise(summary: Summary) -> Callable[[DataFrame], DataFrame]:
    """The transform of a summary: ``frame.transform(summarise(summary))``."""

    def transform(frame: DataFrame) -> DataFrame:
        kept = frame.where(summary.where) if summary.where else frame
        order = (*summary.by, "value") if isinstance(summary, Cdf) else summary.by
        found = _applied(summary, kept)
        return found.orderBy(*order) if order else found

    return transform


def _applied(summary: Summary, frame: DataFrame) -> DataFrame:
    match summary:
        case Mean():
            return _mean(summary, frame)
        case Total():
            sums = [F.sum(name).alias(name) for name in summary.of]
            return frame.groupBy(*summary.by).agg(F.count(F.lit(1)).alias("n"), *sums)
        case Cdf():
            return _cdf(summary, frame)
        case Quantiles():
            marks = [F.percentile(summary.of, F.lit(q)).alias(quantile_name(q)) for q in summary.at]
            counted = F.count(summary.of).alias("n")
            return frame.groupBy(*summary.by).agg(counted, *marks, F.max(summary.of).alias("most"))
        case Correlation():
            return _correlation(summary, frame)
        case _:
            assert_never(summary)


def quantile_name(q: float) -> str:
    """0.5 → q50, 0.999 → q99_9."""
    return "q" + f"{q * 100:.10g}".replace(".", "_")


def _student(n: Column) -> Column:
    """The 97.5 % of Student's t with n − 1 degrees of freedom; null where there is no interval."""
    freedom = n - F.lit(1)
    series = F.lit(Z)
    for power, coefficient in enumerate(_SERIES, 1):
        series += F.lit(coefficient) / F.pow(freedom, F.lit(power))
    table = F.array(*(F.lit(value) for value in T))
    return F.when(freedom < 1, None).when(freedom <= len(T), F.get(table, (freedom - 1).cast("int"))).otherwise(series)


_SERIES = (
    (Z**3 + Z) / 4,
    (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
    (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
)
"""Cornish and Fisher: t as the normal's quantile and powers of 1/ν (Abramowitz and Stegun 26.7.5)."""


def _mean(summary: Mean, frame: DataFrame) -> DataFrame:
    columns = [F.count(F.lit(1)).alias("n")]
    for name in summary.of:
        half = _student(F.count(name)) * F.stddev_samp(name) / F.sqrt(F.count(name))
        mean = F.avg(name)
        columns += [
            mean.alias(name),
            (mean - half).alias(f"{name}_low"),
            (mean + half).alias(f"{name}_high"),
            F.min(name).alias(f"{name}_min"),
            F.max(name).alias(f"{name}_max"),
        ]
    return frame.groupBy(*summary.by).agg(*columns)


def _cdf(summary: Cdf, frame: DataFrame) -> DataFrame:
    weight = F.col(summary.weight) if summary.weight else F.lit(1)
    counts = frame.groupBy(*summary.by, F.col(summary.of).alias("value")).agg(F.sum(weight).alias("count"))
    all_of_them = Window.partitionBy(*summary.by)
    up_to = all_of_them.orderBy("value").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    share = F.sum("count").over(up_to) / F.sum("count").over(all_of_them)
    return counts.withColumn("share", share)


def _correlation(summary: Correlation, frame: DataFrame) -> DataFrame:
    both = frame.where(F.col(summary.x).isNotNull() & F.col(summary.y).isNotNull())
    found = both.groupBy(*summary.by).agg(F.count(F.lit(1)).alias("n"), F.corr(summary.x, summary.y).alias("r"))
    # Rounding may leave r above 1 by an ulp or two, where Fisher's z is not a number.
    bounded = F.greatest(F.lit(-1.0), F.least(F.lit(1.0), F.col("r")))
    z, half = F.atanh(bounded), F.when(F.col("n") > 3, F.lit(Z) / F.sqrt(F.col("n") - 3))
    return found.withColumns({"r": bounded, "low": F.tanh(z - half), "high": F.tanh(z + half)})
