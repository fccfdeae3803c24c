"""What is told of Spark's errors."""

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

from weft.pipelines.jobs.sweep import said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Job aborted.\n\tat org.apache", "Job aborted."),
        (
            "An error occurred while calling o7.parquet.\n: org.apache.spark.SparkException: no",
            "org.apache.spark.SparkException: no",
        ),
        ("An error occurred while calling o7.parquet.", "An error occurred while calling o7.parquet."),
        ("", "RuntimeError"),
    ],
)
def test_the_line_that_says_something(text, line):
    assert said(RuntimeError(text)) == line
