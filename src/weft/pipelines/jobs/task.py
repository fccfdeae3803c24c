"""What a Spark task does: runs in, one RecordBatch for each out, as it ends.

A run that raises is a row with the error in it; the others go on. A worker that is killed takes its task with it, and Spark
runs that again elsewhere.
"""

import json
import resource
import socket
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from weft.pipelines.experiments.catalogue import named
from weft.pipelines.experiments.experiment import Experiment, Point, Rows
from weft.pipelines.schemas import SCHEMA_VERSION, runs_arrow

ERROR_CHARACTERS_MAX = 2_000
_REFS = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Work:
    """Sent to the executors: the name, not the experiment, so that they run their own code of it."""

    name: str
    run_id: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        experiment = self.experiment()
        schema = runs_arrow(experiment)
        for batch in batches:
            for planned in batch.to_pylist():
                yield self._run(experiment, schema, planned)

    def experiment(self) -> Experiment:
        return named(self.name)

    def _run(self, experiment: Experiment, schema: pa.Schema, planned: dict[str, Any]) -> pa.RecordBatch:
        point: Point = json.loads(planned["point"])
        rows, error = None, None
        _forget_peak()
        begun = time.process_time()
        try:
            rows = _nested(experiment, experiment.model(point, planned["seed"]), schema)
        except Exception as failure:  # noqa: BLE001 - whatever a model does wrong is the run's result
            last = traceback.extract_tb(failure.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            error = f"{type(failure).__name__}: {failure} ({where})"[:ERROR_CHARACTERS_MAX]
        columns: dict[str, Any] = {
            "key": planned["key"],
            **point,
            "seed": planned["seed"],
            "error": error,
            "cpu_s": time.process_time() - begun,
            "peak_mb": _peak_mb(),
            "executor": _executor(),
            "run_id": self.run_id,
            "schema_version": SCHEMA_VERSION,
        }
        nested = pa.nulls(1, schema.field("rows").type) if rows is None else rows
        arrays = [nested if field.name == "rows" else pa.array([columns[field.name]], field.type) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _nested(experiment: Experiment, rows: Rows, schema: pa.Schema) -> pa.Array:
    """All rows of a run as one list of structs."""
    count = experiment.check(rows)
    row = schema.field("rows").type.value_type
    columns = [pa.array(rows[field.name], field.type) for field in row]
    return pa.ListArray.from_arrays(
        pa.array([0, count], pa.int32()), pa.StructArray.from_arrays(columns, fields=list(row))
    )


def _executor() -> str:
    """Which executor this is: a standalone worker gives each a folder of its own, named by its number."""
    here = Path.cwd()
    return f"{socket.gethostname()}/{here.name}" if here.parent.name.startswith("app-") else socket.gethostname()


def _forget_peak() -> None:
    """Let the kernel count the most memory from now on; where it cannot, peaks are those of the process."""
    try:
        _REFS.write_text("5", encoding="ascii")
    except OSError:
        return


def _peak_mb() -> float:
    try:
        for line in _STATUS.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
