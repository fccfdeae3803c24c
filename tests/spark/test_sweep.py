"""Sweeps: every run once, failures beside the rest, resumed after whatever happened, one task for so many runs."""

import json

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

from pyspark.sql import functions as F  # noqa: N812

import coins
from coin_work import FAIR, MIXED, Fair, Mixed
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.jobs.judging import judge
from weft.pipelines.jobs.results import Results
from weft.pipelines.jobs.sweep import planned, sweep, tasks
from weft.pipelines.transforms.rows import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def results(tmp_path):
    found = Results(tmp_path / "out")
    with found.writing():
        yield found


def test_every_run_is_there_once_and_whole(spark, results):
    told = []
    outcome = sweep(spark, FAIR, Scale.SMALL, results, told.append, work=Fair)
    assert (outcome.planned, outcome.new, outcome.failed) == (10, 10, 0)
    assert (told[-1].done, told[-1].total) == (10, 10)
    runs = results.runs(spark, FAIR)
    assert sorted((run.throws, run.seed) for run in runs.collect()) == [(t, s) for t in (10, 100) for s in range(5)]
    direct = {
        (throws, seed): coins.throw({"coin": "fair", "throws": throws}, seed)["heads"][0]
        for throws in (10, 100)
        for seed in range(5)
    }
    assert {(row.throws, row.seed): row.heads for row in rows(runs).collect()} == direct


def test_what_is_there_is_not_run_again(spark, results):
    sweep(spark, FAIR, Scale.SMALL, results, work=Fair)
    before = sorted(path.name for path in results.folder(FAIR).glob("*.parquet"))
    again = sweep(spark, FAIR, Scale.SMALL, results, work=Fair)
    assert (again.planned, again.new) == (10, 0)
    assert sorted(path.name for path in results.folder(FAIR).glob("*.parquet")) == before
    assert len(results.sweeps(FAIR)) == 1


def test_a_larger_scale_keeps_what_a_smaller_one_has_run(spark, results):
    sweep(spark, FAIR, Scale.SMALL, results, work=Fair)
    assert sweep(spark, FAIR, Scale.PAPER, results, work=Fair).new == 30
    assert judge(spark, FAIR, Scale.SMALL, results).tables["shares"]["n"].tolist() == [5, 5]
    assert judge(spark, FAIR, Scale.PAPER, results).tables["shares"]["n"].tolist() == [20, 20]


def test_runs_of_which_a_file_was_lost_are_run_again(spark, results):
    sweep(spark, FAIR, Scale.SMALL, results, work=Fair)
    next(results.folder(FAIR).glob("*.parquet")).unlink()
    assert 0 < sweep(spark, FAIR, Scale.SMALL, results, work=Fair).new <= FAIR.per_task
    assert results.runs(spark, FAIR).count() == 10


def test_without_resume_all_are_run_anew(spark, results):
    sweep(spark, FAIR, Scale.SMALL, results, work=Fair)
    assert sweep(spark, FAIR, Scale.SMALL, results, work=Fair, resume=False).new == 10
    assert results.runs(spark, FAIR).count() == 10


def test_a_failure_is_recorded_and_ends_nothing(spark, results):
    outcome = sweep(spark, MIXED, Scale.SMALL, results, work=Mixed)
    assert (outcome.planned, outcome.new, outcome.failed) == (20, 10, 10)
    assert outcome.error.startswith("ValueError: this coin has no sides (coins.py:")
    judged = judge(spark, MIXED, Scale.SMALL, results)
    assert judged.tables["shares"]["coin"].tolist() == ["fair", "fair"]
    assert not judged.cost.complete
    again = sweep(spark, MIXED, Scale.SMALL, results, work=Mixed)
    assert (again.new, again.failed) == (0, 10)


def test_a_point_is_so_many_tasks_and_a_task_so_many_runs(spark):
    wanted = tasks(planned(spark, FAIR, Scale.SMALL), 3)
    sizes = wanted.groupBy("task").count().orderBy("task").collect()
    assert [(row.task, row["count"]) for row in sizes] == [(0, 3), (1, 3), (2, 3), (3, 1)]
    placed = wanted.repartitionById(4, "task").withColumn("partition", F.spark_partition_id())
    assert placed.where("partition != task").count() == 0


def test_costs_are_measured(spark, results):
    sweep(spark, FAIR, Scale.SMALL, results, work=Fair)
    cost = judge(spark, FAIR, Scale.SMALL, results).cost
    assert cost.complete
    assert cost.cpu_s > 0
    assert 20 < cost.peak_mb < 2_000
    assert cost.cores == 2
    assert cost.seconds > 0


def test_sweeps_are_noted(spark, results):
    sweep(spark, FAIR, Scale.SMALL, results, work=Fair)
    noted = json.loads((results.out / "sweeps.jsonl").read_text(encoding="utf-8"))
    assert (noted["experiment"], noted["scale"], noted["runs"], noted["master"]) == ("coins", "small", 10, "local[2,4]")
