"""From the table of runs to the rows that the models returned, and what the runs themselves tell."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's own documentation has it

FOUND = ("rows", "error", "cpu_s", "peak_mb", "executor", "run_id", "schema_version", "key")


def rows(runs: DataFrame) -> DataFrame:
    """A row for each of the model's, with the point's parameters and the seed beside it; failed runs have none."""
    beside = [name for name in runs.columns if name not in FOUND]
    return runs.where("error IS NULL").select(*beside, F.explode("rows").alias("row")).select(*beside, "row.*")


def done(runs: DataFrame) -> DataFrame:
    """Keys of the runs that are there."""
    return runs.where("error IS NULL").select("key")


def doubled(runs: DataFrame) -> DataFrame:
    """Keys that are there more than once: there must be none."""
    return done(runs).groupBy("key").count().where("count > 1")


def made(runs: DataFrame) -> DataFrame:
    """How many of the runs that are there each sweep has made."""
    return runs.where("error IS NULL").groupBy("run_id").count()


def costs(runs: DataFrame) -> DataFrame:
    """One row: runs that are there and that failed, CPU time, the highest peak of memory, and on how many executors."""
    failed = runs.where("error IS NOT NULL").join(done(runs), "key", "left_anti")
    lost = failed.agg(F.countDistinct("key").alias("failed"), F.min("error").alias("error"))
    there = runs.where("error IS NULL").agg(
        F.count("key").alias("runs"),
        F.coalesce(F.sum("cpu_s"), F.lit(0.0)).alias("cpu_s"),
        F.coalesce(F.max("peak_mb"), F.lit(0.0)).alias("peak_mb"),
        F.countDistinct("executor").alias("executors"),
    )
    return there.crossJoin(lost)
