"""Several experiments in one session: run and judged one after the other, or judged as they are."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from weft.core.errors import Misuse
from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.scale import Scale
from weft.pipelines.jobs import memory
from weft.pipelines.jobs.judging import judge
from weft.pipelines.jobs.progress import Told
from weft.pipelines.jobs.results import Results
from weft.pipelines.jobs.session import cores_of, reachable, session
from weft.pipelines.jobs.sweep import Outcome, sweep
from weft.pipelines.report.judged import Judged


@dataclass(frozen=True, slots=True)
class Options:
    master: str
    scale: Scale
    out: Path
    resume: bool = True
    environment: Path | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The session is up: where its pages are, if anywhere."""

    ui: str | None


@dataclass(frozen=True, slots=True)
class Ran:
    judged: Judged
    outcome: Outcome


def run(experiments: Sequence[Experiment], options: Options, tell: Callable[[Told], None]) -> Iterator[Started | Ran]:
    """Run what is missing of each, and judge it. All that can be refused is refused before Spark starts."""
    for experiment in experiments:
        memory.check(experiment, options.scale, cores_of(options.master) or 1)
    results = Results(options.out)
    with results.writing(), _session(options) as spark:
        yield Started(spark.sparkContext.uiWebUrl)
        for experiment in experiments:
            outcome = sweep(spark, experiment, options.scale, results, tell, resume=options.resume)
            yield Ran(judge(spark, experiment, options.scale, results), outcome)


def judged(experiments: Sequence[Experiment], options: Options) -> list[Judged]:
    """Those of which something is there."""
    results = Results(options.out)
    results.check()
    there = [experiment for experiment in experiments if results.has(experiment)]
    if not there:
        others = [each.name for each in experiments if results.others(each)]
        more = ", …" if len(others) > 1 else ""
        made = f"; {others[0]}{more} was run by another version of the code" if others else ""
        raise Misuse(f"no results in {options.out}{made}: `weft experiments all` makes them")
    with _session(options) as spark:
        found = [judge(spark, experiment, options.scale, results) for experiment in there]
    return [each for each in found if each.cost.runs]


@contextmanager
def _session(options: Options) -> Iterator[SparkSession]:
    if options.environment is not None and not options.environment.is_file():
        raise Misuse(f"--environment {options.environment}: no such file; scripts/spark-cluster --pack makes one")
    reachable(options.master)
    events = options.out / "events"
    made = session(options.master, name="weft experiments", events=events, environment=options.environment)
    try:
        yield made
    finally:
        made.stop()
