"""What RELAY's figures have in common: curves with their 95 % interval, and the patterns' Greek names."""

from collections.abc import Mapping
from typing import Any

from weft.pipelines.experiments.table import Table

BAND = 0.2
GREEK: Mapping[str, str] = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ"}


def curve(axes: Any, table: Table, x: str, y: str, label: str, **style: Any) -> None:
    """One curve, its points in order, and a band where there are repetitions."""
    rows = table.ordered(x)
    if not len(rows):
        return
    axes.plot(rows[x], rows[y], label=label, **({"marker": "o"} | style))
    axes.fill_between(rows[x], rows[f"{y}_low"].astype(float), rows[f"{y}_high"].astype(float), alpha=BAND)


def published(axes: Any, y: float, text: str) -> Any:
    """A level that the paper prints; the line, for a legend of its own."""
    return axes.axhline(y, linestyle="--", color="black", linewidth=1, label=f"paper: {text}")


def steps(axes: Any, table: Table, label: str) -> None:
    """A cumulative distribution."""
    rows = table.ordered("value")
    if len(rows):
        axes.step(rows["value"], rows["share"], where="post", label=label)
