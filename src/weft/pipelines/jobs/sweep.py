"""An experiment on Spark: which runs are not there yet, one or a few to a task, each kept as soon as its task ends.

The order matters for what a crash leaves: the committer (version 2) moves a task's file into place when the task ends, and a
run is one row of one file, so what is there is whole; the next sweep leaves it out by its key.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's own documentation has it

from weft.pipelines import schemas
from weft.pipelines.experiments.experiment import Experiment, Scale
from weft.pipelines.experiments.version import key_of, version_of
from weft.pipelines.jobs.progress import Told, watched
from weft.pipelines.jobs.results import Results, Sweep
from weft.pipelines.jobs.task import Work
from weft.pipelines.transforms.rows import costs, done, doubled

ERRORS = (PySparkException, Py4JError)
"""What Spark raises when it, or its JVM, can do no more."""


class Aborted(Exception):
    """Spark gave up; what had been done is kept."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is there after a sweep, of this version: ``planned`` at this scale, ``new`` by this sweep, ``failed`` not there."""

    planned: int
    new: int
    failed: int
    error: str
    seconds: float


def planned(spark: SparkSession, experiment: Experiment, scale: Scale) -> DataFrame:
    """All runs at ``scale``, in the grid's order: a point's seeds stand together."""
    version = version_of(experiment)
    rows = [
        (key_of(experiment, version, point, seed), position, json.dumps(dict(point)), seed)
        for position, (point, seed) in enumerate(
            (point, seed) for point in experiment.grid(scale) for seed in range(experiment.repeats[scale])
        )
    ]
    return spark.createDataFrame(rows, schemas.planned())


def tasks(runs: DataFrame, per_task: int) -> DataFrame:
    """``task``: which of them a run belongs to, numbered from 0 without a gap."""
    turn = F.row_number().over(Window.orderBy("position")) - 1
    return runs.withColumn("task", F.floor(turn / per_task).cast("int"))


def sweep(
    spark: SparkSession,
    experiment: Experiment,
    scale: Scale,
    results: Results,
    tell: Callable[[Told], None] = lambda told: None,
    *,
    resume: bool = True,
    work: type[Work] = Work,
) -> Outcome:
    """Run what is missing, if ``resume``, or all. ``results`` must be open for writing."""
    begun = time.monotonic()
    if not resume:
        results.drop(experiment)
    wanted = planned(spark, experiment, scale)
    todo = tasks(wanted.join(done(results.runs(spark, experiment)), "key", "left_anti"), experiment.per_task).cache()
    count = todo.count()
    run_id = f"{time.time_ns():x}"
    master, cores = spark.sparkContext.master or "", spark.sparkContext.defaultParallelism

    def note(new: int, failed: int) -> float:
        seconds = time.monotonic() - begun
        results.note(
            Sweep(
                experiment=experiment.name,
                version=version_of(experiment),
                run_id=run_id,
                scale=scale.value,
                master=master,
                cores=cores,
                runs=new,
                failed=failed,
                seconds=round(seconds, 3),
            )
        )
        return seconds

    if count:
        parts = ceil(count / experiment.per_task)
        numbered = todo.repartitionById(parts, "task").select(*schemas.PLANNED.names)
        found = numbered.mapInArrow(work(experiment.name, run_id), schemas.runs(experiment))
        folder = results.folder(experiment)
        try:
            with watched(spark, experiment.name, count, parts, tell):
                found.write.mode("append").option("compression", "zstd").parquet(str(folder.resolve()))
        except KeyboardInterrupt:
            note(*results.made(experiment, run_id))
            raise
        except (*ERRORS, ConnectionError) as error:
            note(*results.made(experiment, run_id))
            raise Aborted(
                f"{experiment.name}: Spark gave up ({said(error)}); what was done is kept: run it again"
            ) from error
        finally:
            _forgive(todo)
    runs = results.runs(spark, experiment).join(wanted.select("key"), "key", "left_semi")
    twice = doubled(runs).count()
    if twice:
        raise Aborted(f"{twice} runs of {experiment.name} are there more than once; --no-resume makes all of them anew")
    cost = costs(runs).collect()[0]
    new = count - cost.failed
    seconds = note(new, cost.failed) if count else time.monotonic() - begun
    return Outcome(experiment.planned(scale), new, cost.failed, cost.error or "", seconds)


def _forgive(frame: DataFrame) -> None:
    """Give the cache back, if there still is a JVM to give it to."""
    try:
        frame.unpersist()
    except (Py4JError, ConnectionError):
        return


def said(error: Exception) -> str:
    """The line of a Spark error that says something: py4j's own first one only tells where it was called."""
    lines = [line.strip(" :") for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith("An error occurred while calling")]
    return next(iter(telling or lines), type(error).__name__)
