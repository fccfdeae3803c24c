"""How far a sweep is, from Spark's own status tracker: tasks that have ended, and so runs; told about twice a second."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

INTERVAL_S = 0.5


class Told(NamedTuple):
    """``done`` of ``total`` runs are there after ``seconds``."""

    name: str
    done: int
    total: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.done / self.seconds if self.seconds > 0 else 0.0


@contextmanager
def watched(spark: SparkSession, name: str, runs: int, tasks: int, tell: Callable[[Told], None]) -> Iterator[None]:
    """While the block runs, ``tell`` hears how far its job is."""
    context = spark.sparkContext
    context.setJobGroup(name, f"weft {name}: {runs} runs in {tasks} tasks", interruptOnCancel=True)
    begun, ended = time.monotonic(), threading.Event()

    def look() -> None:
        tracker = context.statusTracker()
        most = 0
        while not ended.wait(INTERVAL_S):
            with suppress(Py4JError, ConnectionError, OSError):
                for job in tracker.getJobIdsForGroup(name):
                    info = tracker.getJobInfo(job)
                    for stage in info.stageIds if info else ():
                        found = tracker.getStageInfo(stage)
                        if found and found.numTasks == tasks:
                            most = max(most, found.numCompletedTasks)
            tell(Told(name, min(runs, most * -(-runs // tasks)), runs, time.monotonic() - begun))

    watcher = threading.Thread(target=look, name="progress", daemon=True)
    watcher.start()
    try:
        yield
        tell(Told(name, runs, runs, time.monotonic() - begun))
    finally:
        ended.set()
        watcher.join()
        with suppress(Py4JError, ConnectionError, OSError):
            context.setLocalProperty("spark.jobGroup.id", "")
