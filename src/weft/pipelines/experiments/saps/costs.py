"""What figures 8 to 10 have in common: their sweep, their table of costs, and what is read off it."""

from collections.abc import Mapping, Sequence

from weft.pipelines.experiments.experiment import Point, Scale
from weft.pipelines.experiments.saps import crossings
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Missing, Table

CLUSTERS = 16
SUBSCRIBERS: Mapping[Scale, tuple[int, ...]] = {
    Scale.SMALL: (100, 1_000),
    Scale.PAPER: (100, 200, 500, 1_000, 2_000, 5_000, 10_000),
    Scale.HUGE: (100, 1_000, 10_000, 100_000, 1_000_000),
}
OVERLAYS = {Scale.SMALL: 10, Scale.PAPER: 100, Scale.HUGE: 20}
COSTS = Mean(
    by=("topology", "clusters", "subscribers", "method"),
    of=("traffic", "delay", "crossings", "hung_traffic", "hung_delay"),
)


def memory_mb(point: Point) -> float:
    """numpy, numba and the kernels; two towers of links per subscriber at a time, and what it takes to build them."""
    return 320.0 + 400.0 * int(point["subscribers"]) / 1_000_000


def ratios(table: Table, column: str, method: str, other: str) -> list[float]:
    """How many times as much ``method`` costs as ``other``, along the sweep."""
    mine, theirs = (table.where(method=each).ordered("clusters", "subscribers")[column] for each in (method, other))
    if not len(mine) or len(mine) != len(theirs):
        raise Missing(f"{method} and {other} were not run at the same points")
    return [float(ratio) for ratio in mine / theirs]


def worst_ofm(table: Table, column: str, others: Sequence[str]) -> float:
    """OFM against the best of the others, where it does worst."""
    return max(max(ratios(table, column, crossings.OFM, other)) for other in others)


def saved(ours: float, theirs: float) -> float:
    """In percent."""
    return 100.0 * (1.0 - ours / theirs)
