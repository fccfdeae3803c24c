"""kill -9 at the JVM in the middle of a sweep: what was done is kept, once; the next sweep does the rest."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

from pyspark.sql import functions as F  # noqa: N812

from coin_driver import RUNS, SLOW
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.jobs.judging import judge
from weft.pipelines.jobs.results import Results

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

TESTS = Path(__file__).parents[1]


def driver(out: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.Popen(
        [sys.executable, str(TESTS / "coin_driver.py"), str(out)], stdout=subprocess.PIPE, text=True, env=environment
    )


def said(program: subprocess.Popen[str]) -> list[str]:
    assert program.stdout is not None
    return program.stdout.readline().split(maxsplit=1)


def test_a_sweep_whose_jvm_is_killed_is_resumed_without_a_double(spark, tmp_path):
    results = Results(tmp_path)
    with driver(tmp_path) as first:
        word, pid = said(first)
        assert word == "jvm"
        while first.poll() is None and len(list(results.folder(SLOW).glob("*.parquet"))) < 3:
            try:
                first.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        os.kill(int(pid), signal.SIGKILL)
        word, why = said(first)
        assert word == "aborted"
        assert "what was done is kept: run it again" in why
        assert first.wait() == 1
    kept = results.runs(spark, SLOW).select("key", "run_id").collect()
    assert 3 <= len(kept) < RUNS
    with driver(tmp_path) as second:
        said(second)
        assert said(second) == ["new", f"{RUNS - len(kept)}\n"]
        assert second.wait() == 0
    runs = results.runs(spark, SLOW)
    assert runs.count() == runs.select("key").distinct().count() == RUNS
    assert runs.agg(F.countDistinct("run_id")).collect()[0][0] == 2
    assert {row.run_id for row in runs.collect() if row.key in {each.key for each in kept}} == {kept[0].run_id}
    assert judge(spark, SLOW, Scale.SMALL, results).cost.complete
