"""An experiment's runs in memory, summarised without Spark: enough to try its claims and plots on."""

import math
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.scale import Scale
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Table


def tried(experiment: Experiment, scale: Scale = Scale.SMALL, repeats: int | None = None) -> dict[str, Table]:
    """The summaries of all runs at ``scale``, each a ``Mean``; as many ``repeats`` as it says, if None."""
    rows: list[dict[str, Any]] = []
    for point in experiment.grid(scale):
        for seed in range(repeats or experiment.repeats[scale]):
            found = experiment.model(point, seed)
            experiment.check(found)
            rows += [{**point, **dict(zip(found, values, strict=True))} for values in zip(*found.values(), strict=True)]
    return {name: _means(summary, rows) for name, summary in experiment.summaries.items()}


def _means(summary: Any, rows: list[dict[str, Any]]) -> Table:
    assert isinstance(summary, Mean), "other summaries are tried through Spark"
    assert not summary.where, "the same"

    def key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in summary.by)

    found: list[dict[str, Any]] = []
    for values, group in groupby(sorted(rows, key=key), key=key):
        members = list(group)
        made: dict[str, Any] = {**dict(zip(summary.by, values, strict=True)), "n": len(members)}
        for name in summary.of:
            column = np.array([row[name] for row in members], float)
            half = 2 * column.std(ddof=1) / math.sqrt(column.size) if column.size > 1 else math.nan
            mean = column.mean()
            ends = {"low": mean - half, "high": mean + half, "min": column.min(), "max": column.max()}
            made |= {name: mean, **{f"{name}_{end}": value for end, value in ends.items()}}
        found.append(made)
    return Table({name: [row[name] for row in found] for name in found[0]})


def drawn(experiment: Experiment, tables: dict[str, Table]) -> list[Any]:
    """Every plot, drawn; the figures."""
    from matplotlib.figure import Figure

    figures = []
    for draw in experiment.plots.values():
        figures.append(Figure())
        draw(figures[-1], tables)
        assert all(axes.get_xlabel() for axes in figures[-1].axes)
    return figures
