"""A campaign on Spark is the campaign."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")


pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def campaign(*more: str) -> dict:
    program = "from weft.cli.main import main; main()"
    words = ["sim", "campaign", "--seeds", "100", "--first", "7", "--nodes", "4", "--json", *more]
    said = subprocess.run([sys.executable, "-c", program, *words], check=True, capture_output=True, text=True)
    return json.loads(said.stdout)


def test_a_campaign_on_spark_comes_to_the_same():
    one, other = campaign("--jobs", "2"), campaign("--spark", "local[2]")
    assert one["schedules"] == 100
    assert {**one, "seconds": 0} == {**other, "seconds": 0}
