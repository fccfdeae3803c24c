"""What an experiment is. Nothing here or in an experiment's module knows Spark: ``jobs`` runs what is described here.

A *run* is one point of the grid with one seed; its rows are a pure function of the two. Everything else (which runs are
there already, tasks, Parquet, summaries, verdicts, pictures) is the same for all experiments.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from weft.core.errors import Misuse
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.scale import Scale
from weft.pipelines.experiments.summaries import Summary
from weft.pipelines.experiments.table import Table

__all__ = ["Experiment", "Point", "Rows", "Scale", "Tables", "Value", "points"]

Value = int | float | str | bool
Point = Mapping[str, Value]
"""The parameters of a run; all points of a grid have the same names and types."""

Rows = Mapping[str, npt.NDArray[Any] | Sequence[Value]]
"""Columns of equal length: what a run found."""

Tables = Mapping[str, Table]
"""Summaries by name, as claims and plots read them."""

MEMORY_MB = 350.0
"""A worker with numpy, numba and a model of no size to speak of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    name: str
    paper: str
    """SAPS, RELAY, MIGRATE, SELECT, SHG; or ``beyond``."""
    title: str
    says: str
    """What the paper reports; beyond the papers, the question."""
    setting: str
    """How it is run here, and which reading was taken where the paper leaves one open."""
    grid: Callable[[Scale], Sequence[Point]]
    repeats: Mapping[Scale, int]
    """Seeds 0 … repeats − 1 for each point."""
    model: Callable[[Point, int], Rows]
    """(point, seed) → rows. Results are kept under a hash of its module and of all of weft that this imports."""
    columns: Mapping[str, type]
    """Of the rows: int, float, str or bool."""
    summaries: Mapping[str, Summary]
    claims: Sequence[Claim] = ()
    plots: Mapping[str, Callable[[Any, Tables], None]] = field(default_factory=dict)
    """Each draws on an empty matplotlib Figure; the key is the caption, the file is named by its number."""
    per_task: int = 1
    """Runs that a Spark task does one after the other: at least a second of work is worth a task."""
    memory_mb: Callable[[Point], float] = lambda point: MEMORY_MB
    """The most that one run needs, so that a scale that does not fit is refused before it starts."""

    @property
    def parameters(self) -> dict[str, type]:
        """Names and types of the points."""
        return {name: type(value) for name, value in self.grid(Scale.SMALL)[0].items()}

    def planned(self, scale: Scale) -> int:
        """How many runs there are."""
        return len(self.grid(scale)) * self.repeats[scale]

    def check(self, rows: Rows) -> int:
        """How many rows; raises Misuse if they are not what ``columns`` says."""
        if set(rows) != set(self.columns):
            raise Misuse(f"{self.name}: columns {sorted(rows)}, not {sorted(self.columns)}")
        lengths = {len(column) for column in rows.values()}
        if len(lengths) != 1:
            raise Misuse(f"{self.name}: columns of lengths {sorted(lengths)}")
        return lengths.pop()


def points(**axes: Sequence[Value]) -> list[dict[str, Value]]:
    """Every combination, the last axis turning fastest."""
    found: list[dict[str, Value]] = [{}]
    for name, values in axes.items():
        found = [{**point, name: value} for point in found for value in values]
    return found
