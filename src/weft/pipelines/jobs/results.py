"""Where results lie, and what may be done with them: one folder, one writer, one format.

    OUT/weft.json                              the format
    OUT/runs/experiment=NAME/version=HASH/     Parquet, a row a run (``schemas.py``)
    OUT/sweeps.jsonl                           a line for each time that an experiment was run
    OUT/events/                                Spark's history

A run is written once, whole, by the task that ran it. What another version of the code has written stays and is not looked at.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from weft.core.errors import Misuse
from weft.pipelines import schemas
from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.version import version_of

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Sweep:
    """One time that an experiment was run, to its end or until Spark gave up; ``runs`` are those that it made."""

    experiment: str
    version: str
    run_id: str
    scale: str
    master: str
    cores: int
    runs: int
    failed: int
    seconds: float


class Results:
    def __init__(self, out: Path) -> None:
        self.out = out

    def check(self) -> None:
        """Raise Misuse unless the folder is ours to read."""
        if set(str(self.out)) & set("[]{}*?"):
            raise Misuse(f"--out {self.out}: Spark takes [ ] {{ }} * ? for patterns; choose a name without them")
        mark = self.out / "weft.json"
        if not mark.exists():
            if self.out.is_dir() and any(self.out.iterdir()):
                raise Misuse(f"{self.out} holds something else than results; choose another folder with --out")
            return
        try:
            found = json.loads(mark.read_text(encoding="utf-8")).get("format")
        except ValueError:
            found = None
        if found != FORMAT:
            raise Misuse(
                f"{self.out} has results of format {found}, this weft writes {FORMAT}; choose another folder with --out"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The folder, made if need be, and nobody else's until the end."""
        self.check()
        self.out.mkdir(parents=True, exist_ok=True)
        with (self.out / ".lock").open("w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Misuse(
                    f"somebody else is writing to {self.out}; wait, or choose another folder with --out"
                ) from error
            mark = self.out / "weft.json"
            if not mark.exists():
                staged = mark.with_suffix(".new")
                with staged.open("w", encoding="utf-8") as file:
                    file.write(json.dumps({"format": FORMAT}) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                staged.replace(mark)
            yield

    def folder(self, experiment: Experiment) -> Path:
        return self.out / "runs" / f"experiment={experiment.name}" / f"version={version_of(experiment)}"

    def others(self, experiment: Experiment) -> list[str]:
        """Versions that are there and are not ours."""
        ours = self.folder(experiment)
        return sorted(
            each.name.removeprefix("version=") for each in ours.parent.glob("version=*") if each.name != ours.name
        )

    def has(self, experiment: Experiment) -> bool:
        """Is any run of our version there?"""
        return any(self.folder(experiment).glob("*.parquet"))

    def runs(self, spark: SparkSession, experiment: Experiment) -> DataFrame:
        """All runs of our version; none is an empty frame."""
        schema = schemas.runs(experiment)
        if not self.has(experiment):
            return spark.createDataFrame([], schema)
        return spark.read.schema(schema).parquet(str(self.folder(experiment).resolve()))

    def drop(self, experiment: Experiment) -> None:
        """Forget the runs of our version, so that they are run anew."""
        folder = self.folder(experiment)
        for file in sorted(folder.rglob("*"), reverse=True):
            if file.is_dir():
                file.rmdir()
            else:
                file.unlink()

    def made(self, experiment: Experiment, run_id: str) -> tuple[int, int]:
        """How many runs a sweep has made, and how many failed; read without Spark, which may be gone."""
        new = failed = 0
        for file in self.folder(experiment).glob("*.parquet"):
            found = parquet.read_table(file, columns=["run_id", "error"], partitioning=None)
            errors = [row["error"] for row in found.to_pylist() if row["run_id"] == run_id]
            new += errors.count(None)
            failed += len(errors) - errors.count(None)
        return new, failed

    def note(self, sweep: Sweep) -> None:
        path = self.out / "sweeps.jsonl"
        cut = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as lines:
            lines.write("\n" * bool(cut) + json.dumps(asdict(sweep)) + "\n")
            lines.flush()
            os.fsync(lines.fileno())

    def sweeps(self, experiment: Experiment) -> list[Sweep]:
        """Those of our version, oldest first; a line that a crash has cut is passed over."""
        path, version = self.out / "sweeps.jsonl", version_of(experiment)
        found = []
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                sweep = Sweep(**json.loads(line))
            except (ValueError, TypeError):
                continue
            if sweep.experiment == experiment.name and sweep.version == version:
                found.append(sweep)
        return found
