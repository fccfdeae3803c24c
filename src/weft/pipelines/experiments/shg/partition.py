"""Figures 2 and 3 of SHG as a model: what ``weft.sim.corners`` counts, as one row."""

from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim import corners

COLUMNS: dict[str, type] = {
    "corners": int,
    "partitions": int,
    "partition_size": int,
    "dominating": int,
    "dominating_each": int,
    "sub_partitions": int,
    "sub_partition_size": int,
    "farthest": int,
    "as_defined": int,
    "handed_least": int,
    "handed_most": int,
    "received_least": int,
    "received_most": int,
    "strangers": int,
    "abroad": int,
    "across": float,
    "subscribing": int,
    "publishing": float,
    "alike": float,
}


def counted(point: Point, seed: int) -> Rows:
    """Nothing is drawn: every corner publishes, and who subscribes is given."""
    found = corners.counted(int(point["dimension"]), int(point["k"]), str(point["variant"]))
    return {name: [found[name]] for name in COLUMNS}
