"""A driver of its own that throws slow coins into a folder, for tests that kill what it runs on.

    python coin_driver.py OUT

It says the JVM's pid once that is up, and at the end how many runs are new or why Spark gave up.
"""

import sys
from pathlib import Path

from pyspark.cloudpickle import register_pickle_by_value

import coins
from weft.pipelines.experiments.experiment import Scale, points
from weft.pipelines.jobs.results import Results
from weft.pipelines.jobs.session import session
from weft.pipelines.jobs.sweep import Aborted, sweep
from weft.pipelines.jobs.task import Work

RUNS = 16
SLOW = coins.made(
    name="slow",
    grid=lambda scale: points(coin=("fair",), throws=(4_000_000,)),
    repeats=dict.fromkeys(Scale, RUNS),
    per_task=1,
)


class Slow(Work):
    def experiment(self):
        return SLOW


def say(word: str, more: object) -> None:
    sys.stdout.write(f"{word} {more}\n")
    sys.stdout.flush()


def main() -> int:
    register_pickle_by_value(coins)
    results = Results(Path(sys.argv[1]))
    with results.writing():
        spark = session("local[2]", name="coins", ui=False)
        say("jvm", spark.sparkContext._gateway.proc.pid)
        try:
            say("new", sweep(spark, SLOW, Scale.SMALL, results, work=Slow).new)
        except Aborted as error:
            say("aborted", error)
            return 1
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
