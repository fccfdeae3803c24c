"""The pictures of beyond-churn: each has Suzaku on the left and Skip Graph on the right, one colour per run, or per kind."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.pipelines.experiments.experiment import Tables
from weft.pipelines.experiments.table import Table
from weft.sim.churn.asking import WAYS
from weft.sim.churn.purposes import PURPOSES

TITLES = {"suzaku": "Suzaku", "skipgraph": "Skip Graph"}


def _runs(table: Table) -> Iterator[tuple[str, Table]]:
    """Crashes by lifetime, then leaves; named for a legend."""
    for departure in ("crash", "leave"):
        for lifetime_s, rows in table.where(departure=departure).split("lifetime_s"):
            yield f"{departure}, {lifetime_s / 60:g} min", rows


def _beside(figure: Any, table: Table, draw: Callable[[Any, Table], None], label: str, shared: bool = True) -> None:
    axes = figure.subplots(1, 2, sharey=shared)
    for ax, (overlay, title) in zip(axes, TITLES.items(), strict=True):
        draw(ax, table.where(overlay=overlay))
        ax.annotate(title, (0.03, 1.02), xycoords="axes fraction", fontsize="small")
    axes[0].set_ylabel(label)
    named = max((ax.get_legend_handles_labels() for ax in axes), key=lambda found: len(found[1]))
    figure.legend(*named, loc="outside lower center", ncols=4)


def _bars(ax: Any, runs: list[str], series: dict[str, list[float]], stacked: bool) -> None:
    """Groups of bars, a group for each run; or one bar each, in layers."""
    at, width = np.arange(len(runs)), 0.7 if stacked else 0.8 / max(1, len(series))
    bottom = np.zeros(len(runs))
    for number, (name, heights) in enumerate(series.items()):
        if stacked:
            ax.bar(at, heights, width, bottom, label=name)
            bottom += np.array(heights)
        else:
            ax.bar(at + (number - (len(series) - 1) / 2) * width, heights, width, label=name)
    ax.set_xticks(at, runs, rotation=25, ha="right", fontsize="small")


def _share(rows: Table) -> float:
    """Of those who stayed, in percent."""
    got, stayed = (float(rows.where(measure=measure)["value"].sum()) for measure in ("got", "stayed"))
    return 100.0 * got / stayed if stayed else 0.0


def delivery(figure: Any, tables: Tables) -> None:
    def draw(ax: Any, table: Table) -> None:
        runs = list(_runs(table))
        shares = {way: [_share(rows.where(kind=way)) for _, rows in runs] for way in WAYS}
        _bars(ax, [name for name, _ in runs], shares, stacked=False)
        ax.set_ylim(0, 105)

    _beside(figure, tables["delivery"], draw, "members throughout that got it (%)")


def holes(figure: Any, tables: Tables) -> None:
    def draw(ax: Any, table: Table) -> None:
        for name, rows in _runs(table):
            line = rows.ordered("value")
            ax.step(line["value"], 100.0 * line["share"], where="post", label=name)
        ax.set_xlabel("time until mended (s)")
        ax.set_xlim(left=0)

    _beside(figure, tables["holes"], draw, "holes (%)")


def rightness(figure: Any, tables: Tables) -> None:
    def draw(ax: Any, table: Table) -> None:
        for number, (name, rows) in enumerate(_runs(table)):
            for measure, kind, style in (("tables", "live", "-"), ("pointers", "right", ":")):
                line = rows.where(measure=measure, kind=kind).ordered("at")
                ax.plot(
                    line["at"], 100.0 * line["value"], style, color=f"C{number}", label=name if style == "-" else None
                )
        ax.set_xlabel("time (s)")

    _beside(
        figure, tables["time"], draw, "entries that lead to a live broker (—),\nright pointers that are right (···) (%)"
    )


def levels(figure: Any, tables: Tables) -> None:
    def draw(ax: Any, table: Table) -> None:
        for number, (name, rows) in enumerate(_runs(table)):
            held, live = (rows.where(kind=kind).ordered("at") for kind in ("held", "live"))
            defined, right = (rows.where(kind=kind).ordered("at") for kind in ("defined", "right"))
            ax.plot(
                held["at"], 100.0 * live["value"] / np.maximum(1.0, held["value"]), "-", color=f"C{number}", label=name
            )
            exact = 100.0 * right["value"] / np.maximum(1.0, defined["value"])
            ax.plot(defined["at"], exact, "--", color=f"C{number}")
        ax.set_xlabel("level")

    _beside(figure, tables["levels"], draw, "entries that are live (—),\nexactly as defined (- -) (%)")


def _costs(measure: str) -> Callable[[Any, Table], None]:
    def draw(ax: Any, table: Table) -> None:
        runs = list(_runs(table.where(measure=measure)))
        kinds = [kind for kind in PURPOSES if len(table.where(kind=kind))]
        layers = {kind: [float(rows.where(kind=kind)["value"].sum()) for _, rows in runs] for kind in kinds}
        _bars(ax, [name for name, _ in runs], layers, stacked=True)

    return draw


def messages(figure: Any, tables: Tables) -> None:
    _beside(figure, tables["cost"], _costs("messages"), "messages per member and second", shared=False)


def sizes(figure: Any, tables: Tables) -> None:
    _beside(figure, tables["cost"], _costs("bytes"), "bytes per member and second", shared=False)


def prices(figure: Any, tables: Tables) -> None:
    def draw(ax: Any, table: Table) -> None:
        runs = list(_runs(table))
        heights = {way: [float(rows.where(kind=way)["value"].sum()) for _, rows in runs] for way in WAYS}
        _bars(ax, [name for name, _ in runs], heights, stacked=False)

    _beside(figure, tables["cost"].where(measure="per delivery"), draw, "messages per delivery")


PLOTS: dict[str, Callable[[Any, Tables], None]] = {
    "Share of those who were members throughout a multicast that it reached, by how it was sent": delivery,
    "Messages for each delivery of a multicast": prices,
    "How long the ring has a hole where a member was": holes,
    "How right tables and ring are, from a ring that starts whole": rightness,
    "How right the tables are at each level while it is measured": levels,
    "What is sent besides multicasts, by what it is for": messages,
    "The same in bytes": sizes,
}
