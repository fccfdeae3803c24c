"""Results to verdicts: the tables of an experiment, and what its runs have cost."""

import math
from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's own documentation has it

from weft.pipelines.experiments.experiment import Experiment, Scale
from weft.pipelines.experiments.table import Table
from weft.pipelines.jobs.results import Results, Sweep
from weft.pipelines.jobs.sweep import planned
from weft.pipelines.report.judged import Cost, Judged
from weft.pipelines.transforms.rows import costs, made, rows
from weft.pipelines.transforms.statistics import summarise


def table(found: pa.Table) -> Table:
    """An interval of one run is null, and then NaN."""
    floats = {name for name in found.column_names if pa.types.is_floating(found.schema.field(name).type)}
    return Table(
        {name: found[name].to_numpy() if name in floats else found[name].to_pylist() for name in found.column_names}
    )


def clocked(there: Mapping[str, int], sweeps: Sequence[Sweep]) -> float:
    """Seconds that runs took by the clock: of each sweep, by its ``run_id``, the part that made those that are ``there``.

    Not a number if a sweep that made some was killed before it was noted.
    """
    noted = {sweep.run_id: sweep for sweep in sweeps if sweep.runs}
    if not there.keys() <= noted.keys():
        return math.nan
    return sum(noted[run_id].seconds * min(1.0, runs / noted[run_id].runs) for run_id, runs in there.items())


def judge(spark: SparkSession, experiment: Experiment, scale: Scale, results: Results) -> Judged:
    """What is there of ``scale``; only what is aggregated leaves Spark."""
    wanted = planned(spark, experiment, scale).select("key")
    runs = results.runs(spark, experiment).join(F.broadcast(wanted), "key", "left_semi").cache()
    found = rows(runs)
    try:
        tables = {
            name: table(found.transform(summarise(summary)).toArrow()) for name, summary in experiment.summaries.items()
        }
        cost = costs(runs).collect()[0]
        there = {row["run_id"]: row["count"] for row in made(runs).collect()}
    finally:
        runs.unpersist()
    sweeps = results.sweeps(experiment)
    return Judged(
        experiment,
        scale,
        tables,
        Cost(
            planned=experiment.planned(scale),
            runs=cost.runs,
            failed=cost.failed,
            error=cost.error or "",
            cpu_s=cost.cpu_s,
            peak_mb=cost.peak_mb,
            seconds=clocked(there, sweeps),
            cores=max((sweep.cores for sweep in sweeps if sweep.run_id in there), default=0),
        ),
    )
