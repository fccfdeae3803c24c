"""saps-fig13: queries to OFGate under EITHER and BOTH, by equations 1 and 2 and as counted (SAPS §4.2, figure 13)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.saps import turnover
from weft.pipelines.experiments.saps.drawing import HEIGHT_INCHES, LEGEND_INCHES, PANEL_INCHES, legend, panels
from weft.pipelines.experiments.saps.turnover import BOTH, EITHER, MIGRATING, PUBLISH_RATE, PUBLISHERS, SUBSCRIBERS
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Missing, Table
from weft.sim.vector.physical import ofgate_queries

RATES = {
    Scale.SMALL: (0.0, 1.0),
    Scale.PAPER: (0.0, 0.25, 0.5, 0.75, 1.0),
    Scale.HUGE: (0.0, 0.25, 0.5, 0.75, 1.0),
}
SECONDS = {Scale.SMALL: 5.0, Scale.PAPER: 10.0, Scale.HUGE: 100.0}
REPEATS = {Scale.SMALL: 2, Scale.PAPER: 5, Scale.HUGE: 10}
LIKELY = 3.5
"""Standard deviations of a count: chance alone goes beyond at the worst of 50 points in 1 of 40 such reports."""
SOURCE, EQUATIONS = "SAPS §4.2, fig. 13", "SAPS §4.2, eq. 1 and 2"

Floats = npt.NDArray[np.float64]


def _grid(scale: Scale) -> Sequence[Point]:
    return points(join_rate=RATES[scale], leave_rate=RATES[scale], seconds=(SECONDS[scale],))


def expected(table: Table, case: str) -> Floats:
    """Equation 1 or 2 for each row."""
    by_method = [
        ofgate_queries(
            publishers=PUBLISHERS,
            publish_rate=PUBLISH_RATE,
            subscribers=SUBSCRIBERS,
            leave_rate=float(leave),
            join_rate=float(join),
        )
        for join, leave in zip(table["join_rate"], table["leave_rate"], strict=True)
    ]
    return np.array(by_method)[:, 0 if case == EITHER else 1]


def _case(tables: Tables, case: str) -> Table:
    rows = tables["queries"].where(case=case).ordered("join_rate", "leave_rate")
    if not len(rows):
        raise Missing(f"{case} was not run")
    return rows


def _over(tables: Tables, case: str) -> float:
    """All that was counted over all that the equation says."""
    rows = _case(tables, case)
    return float(rows["queries"].sum() / expected(rows, case).sum())


def _deviations(tables: Tables, case: str) -> float:
    """The farthest from the equation, in standard deviations of a count as large as that is in all runs together.

    EITHER's publishes come at fixed intervals and do not vary.
    """
    rows = _case(tables, case)
    mean = expected(rows, case)
    random = expected(rows, case) - (PUBLISHERS * PUBLISH_RATE if case == EITHER else 0.0)
    seconds = rows["n"] * rows["seconds"]
    varying = random > 0
    apart = np.abs(rows["queries"] - mean)[varying] / np.sqrt(random / seconds)[varying]
    return float(apart.max())


def _least_gap(tables: Tables, other: str) -> float:
    """EITHER less the other, where that is least, in queries per second."""
    return float((_case(tables, EITHER)["queries"] - _case(tables, other)["queries"]).min())


def _at(tables: Tables, case: str, column: str, rate: float) -> float:
    return tables["queries"].one(column, case=case, join_rate=rate, leave_rate=rate)


def _draw(figure: Any, tables: Tables) -> None:
    figure.set_size_inches(2 * PANEL_INCHES, HEIGHT_INCHES + LEGEND_INCHES)
    axes = figure.subplots(1, 2, subplot_kw={"projection": "3d"})
    for where, case in zip(axes, (EITHER, BOTH), strict=True):
        rows = _case(tables, case)
        side = len(np.unique(rows["join_rate"]))
        x, y, z = (values.reshape(side, -1) for values in (rows["join_rate"], rows["leave_rate"], expected(rows, case)))
        where.plot_wireframe(x, y, z, linewidth=0.8, color="C0", label="equation (paper)")
        where.scatter(rows["join_rate"], rows["leave_rate"], rows["queries"], color="C1", s=12, label="counted")
        where.set_xlabel("joins per subscriber and s")
        where.set_ylabel("leaves per subscriber and s")
        where.set_zlim(0, 220)
        where.set_zlabel(f"{case}: queries per s")
        where.set_box_aspect(None, zoom=0.82)
    legend(figure)


def _draw_diagonal(figure: Any, tables: Tables) -> None:
    left, right = panels(figure)
    for number, case in enumerate((EITHER, BOTH, MIGRATING)):
        rows = _case(tables, case)
        rows = rows.where(join_rate=rows["join_rate"][rows["join_rate"] == rows["leave_rate"]])
        same = rows["join_rate"] == rows["leave_rate"]
        rate, colour = rows["join_rate"][same], f"C{number}"
        low, high = (np.abs(rows[f"queries_{end}"] - rows["queries"])[same] for end in ("low", "high"))
        left.errorbar(rate, rows["queries"][same], yerr=[low, high], fmt="o", markersize=4, color=colour, label=case)
        if case != MIGRATING:
            left.plot(rate, expected(rows, case)[same], linestyle="--", color=colour, label=f"{case}: equation (paper)")
        if case != BOTH:  # whoever is a member by OFM from the start, or comes to it: the publishers do the same
            right.plot(rate, 100 * rows["by_ofm"][same], marker="o", markersize=4, color=colour, label=case)
    for axes, label in ((left, "queries to OFGate per s"), (right, "publishes that use the OFM tree [%]")):
        axes.set_xlabel("joins, and leaves, per subscriber and s")
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    legend(figure, columns=2)


EXPERIMENT = Experiment(
    name="saps-fig13",
    paper="SAPS",
    title="Queries to OFGate under EITHER and BOTH, by equation and by count",
    says="EITHER always asks OFGate more often than BOTH, by the publishes and the joins: equation 1 has them, equation 2 has "
    "the leaves alone.",
    setting="100 subscribers, 10 publishers, 1 publish per second each; joins and leaves at 0 to 1 per subscriber and second. "
    "Counted: machines for OFGate, the switches, publishers and subscribers in the event simulator; joins and leaves are "
    "Poisson processes. The number of subscribers is held at 100, as the equations have it: for each that leaves or joins, a "
    "member of long standing comes or goes without a query. BOTH as equation 2 takes it: all subscribers are members by "
    "OFM. “Newcomers migrate” is BOTH as §3.2.2 tells it: by ALM first, into the tree when the first publisher, at each of its "
    "publishes, finds members by ALM and has the tree built again, and over to OFM 0.5 to 5 s after the first message by it. "
    "An update of the tree takes 10 ms.",
    grid=_grid,
    repeats=REPEATS,
    model=turnover.model,
    columns=turnover.COLUMNS,
    summaries={
        "queries": Mean(
            by=("case", "join_rate", "leave_rate", "seconds"),
            of=("publish", "join", "leave", "queries", "constructs", "by_ofm"),
        )
    },
    claims=(
        Claim(
            what="EITHER less BOTH in queries per second, by the equations, where they are nearest",
            source=EQUATIONS,
            paper="EITHER is always above BOTH",
            unit="queries/s",
            ours=lambda tables: float(
                (expected(_case(tables, EITHER), EITHER) - expected(_case(tables, BOTH), BOTH)).min()
            ),
            holds=lambda gap: gap > 0,
        ),
        Claim(
            what="EITHER less BOTH in queries per second, as counted, where they are nearest",
            source=SOURCE,
            paper="EITHER is always above BOTH",
            unit="queries/s",
            ours=lambda tables: _least_gap(tables, BOTH),
            holds=lambda gap: gap > 0,
        ),
        *(
            Claim(
                what=f"{case}: queries counted over those of equation {number}, all points together",
                source=EQUATIONS,
                paper=1,
                within=0.02,
                ours=lambda tables, case=case: _over(tables, case),  # type: ignore[misc]
            )
            for number, case in ((1, EITHER), (2, BOTH))
        ),
        *(
            Claim(
                what=f"{case}: the count farthest from equation {number}, in standard deviations of such a count",
                source=EQUATIONS,
                paper="the equation is the mean of the count",
                ours=lambda tables, case=case: _deviations(tables, case),  # type: ignore[misc]
                holds=lambda deviations: deviations < LIKELY,
            )
            for number, case in ((1, EITHER), (2, BOTH))
        ),
        Claim(
            what="BOTH as it runs: leaves reported at rate 1, over equation 2",
            source=EQUATIONS,
            paper=None,
            ours=lambda tables: _at(tables, MIGRATING, "leave", 1.0) / SUBSCRIBERS,
            why="Equation 2 is an upper bound: who leaves before it has migrated to OFM does not tell OFGate.",
        ),
        Claim(
            what="BOTH as it runs: constructions asked for at rate 1, which the equations leave out",
            source=EQUATIONS,
            paper=None,
            unit="queries/s",
            ours=lambda tables: _at(tables, MIGRATING, "constructs", 1.0),
            why="Here one publisher looks at each of its publishes; the paper leaves open when a publisher does.",
        ),
        *(
            Claim(
                what=f"{case}: publishes that could use the OFM tree at rate 1",
                source="SAPS §3.2.1",
                paper=None,
                unit="%",
                ours=lambda tables, case=case: 100 * _at(tables, case, "by_ofm", 1.0),  # type: ignore[misc]
                why="While the tree is updated, here for 10 ms, EITHER publishes by ALM: frequent joins and leaves reduce the "
                "availability of OFM, as §3.2.1 warns. BOTH does not wait.",
            )
            for case in (EITHER, MIGRATING)
        ),
    ),
    plots={
        "SAPS figure 13. Queries to OFGate per second over the rates of joining and leaving: equations and counts.": _draw,
        "Along the diagonal, joins as frequent as leaves: queries (left), and publishes that could use the OFM tree (right).": (
            _draw_diagonal
        ),
    },
    per_task=2,
    memory_mb=lambda point: 320.0 + 0.5 * float(point["seconds"]),
)
