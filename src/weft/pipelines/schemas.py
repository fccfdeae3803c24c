"""The table that runs are kept in: one row a run, its rows nested in it, so that a run is there whole or not at all.

``rows`` is null where the run failed, and ``error`` says why.
"""

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from weft.pipelines.experiments.experiment import Experiment

SCHEMA_VERSION = 1

_ARROW = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}

PLANNED = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("point", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
    ]
)
"""What is to be run: the point as JSON."""


def runs_arrow(experiment: Experiment) -> pa.Schema:
    row = pa.struct([pa.field(name, _ARROW[kind]) for name, kind in experiment.columns.items()])
    return pa.schema(
        [
            pa.field("key", pa.string(), nullable=False),
            *(pa.field(name, _ARROW[kind], nullable=False) for name, kind in experiment.parameters.items()),
            pa.field("seed", pa.int64(), nullable=False),
            pa.field("rows", pa.list_(row)),
            pa.field("error", pa.string()),
            pa.field("cpu_s", pa.float64(), nullable=False),
            pa.field("peak_mb", pa.float64(), nullable=False),
            pa.field("executor", pa.string(), nullable=False),
            pa.field("run_id", pa.string(), nullable=False),
            pa.field("schema_version", pa.int64(), nullable=False),
        ]
    )


def runs(experiment: Experiment) -> StructType:
    return from_arrow_schema(runs_arrow(experiment))


def planned() -> StructType:
    return from_arrow_schema(PLANNED)
