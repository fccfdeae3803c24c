"""A point of beyond-churn as a run in the event simulator."""

from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.churn.turnover import Terms, Turnover

COLUMNS = {"measure": str, "kind": str, "at": float, "value": float}


def terms_of(point: Point) -> Terms:
    """The parameters of a point are the terms of its run, by name."""
    kinds = Terms.__annotations__
    return Terms(**{name: kinds[name](value) for name, value in point.items()})


def churned(point: Point, seed: int) -> Rows:
    """What was measured, a row each."""
    columns = zip(*Turnover(terms_of(point), seed).run().rows, strict=True)
    return dict(zip(COLUMNS, (list(column) for column in columns), strict=True))
