"""A driver of its own for tests/spark/test_cluster.py: a small experiment, and a job in which a task kills its worker.

    python cluster_job.py MASTER ENVIRONMENT FOLDER

To its output goes a JSON line for each row that FOLDER/rows holds in the end. FOLDER/killed says what was killed,
FOLDER/results has the experiment's runs.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's own documentation has it

from weft.pipelines.experiments.catalogue import named
from weft.pipelines.experiments.experiment import Scale
from weft.pipelines.jobs.results import Results
from weft.pipelines.jobs.session import session
from weft.pipelines.jobs.sweep import sweep

EXPERIMENT = "beyond-planner"
ROWS = 24
FATAL = 12
"""By then both workers have done something; and something is left to do."""
ROW_S = 0.1
SCHEMA = "id long, worker string, prefix string, weft string"


class Job:
    """For executors: each row says who computed it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import weft

        for batch in batches:
            for number in batch.column("id").to_pylist():
                until = time.process_time() + ROW_S
                while time.process_time() < until:
                    pass
                if number == FATAL:
                    self.kill()
                worker = Path.cwd().parents[1].name  # …/worker-0/app-…/1
                row = {"id": number, "worker": worker, "prefix": sys.prefix, "weft": str(Path(weft.__file__).parent)}
                yield pa.RecordBatch.from_pylist([row])

    def kill(self) -> None:
        """This task's executor and worker, once: worker → executor → Python's daemon → here."""
        executor = parent(os.getppid())
        try:
            with (self.folder / "killed").open("x") as killed:
                killed.write(f"{parent(executor)} {executor} {Path.cwd().parents[1].name}")
        except FileExistsError:
            return
        os.kill(parent(executor), signal.SIGKILL)
        os.kill(executor, signal.SIGKILL)


def parent(process: int) -> int:
    """Of another process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def main() -> None:
    master, environment, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    both = {  # nothing starts before both workers have an executor
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
        "spark.cores.max": "2",
        "spark.executor.memory": "512m",
    }
    spark = session(master, name="cluster-job", environment=environment, ui=False, more=both)
    rows = str(folder / "rows")
    try:
        results = Results(folder / "results")
        with results.writing():
            sweep(spark, named(EXPERIMENT), Scale.SMALL, results)
        numbers = spark.range(0, ROWS, 1, 2).repartitionById(ROWS, F.col("id").cast("int"))  # a task each
        numbers.mapInArrow(Job(folder), SCHEMA).write.parquet(rows)
        for row in spark.read.parquet(rows).collect():
            sys.stdout.write(json.dumps(row.asDict()) + "\n")
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
