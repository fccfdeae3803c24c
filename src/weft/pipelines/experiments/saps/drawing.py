"""Curves with bands, as figures 8 to 10 have them: one curve per method, the mean over overlays and its 95 % interval.

Panels stand in a row with one legend below them, so that no curve is hidden.
"""

from collections.abc import Sequence
from typing import Any

from weft.pipelines.experiments.table import Table

BAND = 0.2
PANEL_INCHES, HEIGHT_INCHES, LEGEND_INCHES = 3.8, 3.2, 0.6


def panels(figure: Any, count: int = 2) -> list[Any]:
    """Axes side by side."""
    figure.set_size_inches(PANEL_INCHES * count, HEIGHT_INCHES + LEGEND_INCHES)
    return list(figure.subplots(1, count, squeeze=False)[0])


def legend(figure: Any, columns: int = 3) -> None:
    """One for all panels: each label once, in the order of the first panel that has it."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)


def curves(axes: Any, table: Table, x: str, y: str, by: str, names: Sequence[str]) -> None:
    """``axes`` gets a curve of ``y`` over ``x`` for each of ``names`` in column ``by``; each has its colour in every panel."""
    for number, name in enumerate(names):
        curve(axes, table.where(**{by: name}), x, y, name, number)


def curve(axes: Any, table: Table, x: str, y: str, label: str, number: int) -> None:
    rows = table.ordered(x)
    if len(rows):
        axes.plot(rows[x], rows[y], marker="o", markersize=3, color=f"C{number}", label=label)
        axes.fill_between(rows[x], rows[f"{y}_low"], rows[f"{y}_high"], color=f"C{number}", alpha=BAND, linewidth=0)


def costs(figure: Any, table: Table, x: str, traffic: Sequence[str], delay: Sequence[str]) -> tuple[Any, Any]:
    """Two panels over ``x``: the traffic of some methods, and the largest delay of some."""
    left, right = panels(figure)
    curves(left, table, x, "traffic", "method", traffic)
    curves(right, table, x, "delay", "method", delay)
    return left, right


def finish_costs(figure: Any, x: str, step: str, *, base: int = 10, log_y: bool = False) -> None:
    """Labels, scales and the legend of these two; the delay is counted in ``step``."""
    left, right = figure.axes
    finish(left, x, "messages between clusters per publish", base=base, log_y=log_y)
    finish(right, x, f"largest delay [{step} between clusters]", base=base, log_y=log_y)
    legend(figure)


def published(axes: Any, x: float, y: float, text: str) -> None:
    """A number that the paper prints, as a mark of its own."""
    axes.plot([x], [y], marker="*", markersize=9, linestyle="none", color="black", label=text)


def finish(axes: Any, x: str, y: str, *, base: int = 10, log_y: bool = False) -> None:
    """Labels and scales; ``x`` is on a logarithmic scale of that base."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_xscale("log", base=base)
    if base == 2:
        axes.xaxis.set_major_formatter("{x:g}")
    if log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
