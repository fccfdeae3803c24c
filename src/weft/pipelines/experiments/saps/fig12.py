"""saps-fig12: flow entries and group buckets that a topic's tree takes, over the switches (SAPS §4.1.2, figure 12)."""

from collections.abc import Sequence
from typing import Any

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.saps import occupancy
from weft.pipelines.experiments.saps.crossings import LINE, TREE
from weft.pipelines.experiments.saps.drawing import curve, finish, legend, panels
from weft.pipelines.experiments.saps.occupancy import UNIFORM
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Missing

CLUSTERS, MANY_CLUSTERS = 16, 128
ZIPF = 1.0
"""Zipf's own: the paper names the distribution and no exponent."""
OTHER_EXPONENTS = (0.5, 1.5, 2.0)
SUBSCRIBERS = {
    Scale.SMALL: (100, 1_000, 10_000, 20_000),
    Scale.PAPER: (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
    Scale.HUGE: (100, 1_000, 10_000, 100_000, 1_000_000),
}
REPEATS = {Scale.SMALL: 10, Scale.PAPER: 100, Scale.HUGE: 100}
ALL = 0.995
"""What rounds to all: at 100 subscribers one of 16 clusters is empty in 2.5 % of the placements."""
ALL_SWITCHES = "all switches"
SOURCE = "SAPS §4.1.2, fig. 12"


def _grid(scale: Scale) -> Sequence[Point]:
    sizes = SUBSCRIBERS[scale]
    return [
        *points(topology=(LINE,), exponent=(UNIFORM,), clusters=(CLUSTERS, MANY_CLUSTERS), subscribers=sizes),
        *points(
            topology=(TREE,),
            exponent=(UNIFORM, ZIPF, *OTHER_EXPONENTS),
            clusters=(CLUSTERS, MANY_CLUSTERS),
            subscribers=sizes,
        ),
    ]


def _at(tables: Tables, column: str, subscribers: int, exponents: Sequence[float], clusters: int = CLUSTERS) -> float:
    """The least mean among the chosen curves."""
    rows = tables["ratios"].where(clusters=clusters, subscribers=subscribers, exponent=exponents)
    if not len(rows):
        raise Missing("not run")
    return float(rows[column].min())


def _first_above(tables: Tables, exponents: Sequence[float]) -> float:
    """The least number of subscribers in the sweep at which buckets exceed switches."""
    rows = tables["ratios"].where(clusters=CLUSTERS, exponent=exponents)
    above = rows["subscribers"][rows["buckets"] > 1]
    if not len(above):
        raise Missing("never above")
    return float(above.min())


def _draw(figure: Any, tables: Tables) -> None:
    left, right = panels(figure)
    table = tables["ratios"].where(clusters=CLUSTERS)
    for axes, column in ((left, "entries"), (right, "buckets")):
        curve(axes, table.where(topology=LINE, exponent=UNIFORM), "subscribers", column, "line, uniform", 0)
        curve(axes, table.where(topology=TREE, exponent=UNIFORM), "subscribers", column, "tree, uniform", 1)
        curve(axes, table.where(topology=TREE, exponent=ZIPF), "subscribers", column, f"tree, Zipf {ZIPF:g}", 2)
        axes.axhline(1.0, linestyle=":", color="grey")
    finish(left, "subscribers", "flow entries / switches")
    finish(right, "subscribers", "group buckets at host ports / switches", log_y=True)
    legend(figure)


def _draw_exponents(figure: Any, tables: Tables) -> None:
    for axes, clusters in zip(panels(figure), (CLUSTERS, MANY_CLUSTERS), strict=True):
        table = tables["ratios"].where(topology=TREE, clusters=clusters)
        for number, (exponent, rows) in enumerate(table.split("exponent")):
            curve(axes, rows, "subscribers", "entries", f"Zipf {exponent:g}" if exponent else "uniform", number)
        axes.axhline(1.0, linestyle=":", color="grey")
        finish(axes, f"subscribers ({clusters} clusters)", "flow entries / switches")
    legend(figure, columns=5)


def _draw_installed(figure: Any, tables: Tables) -> None:
    (axes,) = panels(figure, 1)
    table = tables["ratios"].where(topology=TREE, clusters=CLUSTERS, exponent=UNIFORM)
    labels = ("entries (paper)", "entries, loopback too", "buckets (paper)", "buckets, towards switches too")
    for number, (column, label) in enumerate(
        zip(("entries", "all_entries", "buckets", "all_buckets"), labels, strict=True)
    ):
        curve(axes, table, "subscribers", column, label, number)
    finish(axes, "subscribers", "per switch", log_y=True)
    legend(figure, columns=2)


EXPERIMENT = Experiment(
    name="saps-fig12",
    paper="SAPS",
    title="Flow entries and group buckets of one topic's tree, over the switches",
    says="100 subscribers placed uniformly, or 1,000 by Zipf in the tree, put a flow entry on every switch; buckets are on all "
    "edge switches with 100 subscribers, and more than one per switch beyond 10,000.",
    setting="16 clusters, as in figures 8 and 9, each behind an edge switch; a root above them in the tree; at most 1,000 "
    "subscribers a host, so a bucket per 1,000. A switch has one entry per topic. The paper does not say the exponent of its "
    "Zipf distribution: 1 here, and others, and 128 clusters, to see what the statements depend on.",
    grid=_grid,
    repeats=REPEATS,
    model=occupancy.model,
    columns=occupancy.COLUMNS,
    summaries={"ratios": Mean(by=("topology", "exponent", "clusters", "subscribers"), of=tuple(occupancy.COLUMNS))},
    claims=(
        Claim(
            what="switches with a flow entry at 100 subscribers, uniform, line and tree",
            source=SOURCE,
            paper=ALL_SWITCHES,
            ours=lambda tables: _at(tables, "entries", 100, (UNIFORM,)),
            holds=lambda share: share >= ALL,
        ),
        Claim(
            what="switches with a flow entry at 1,000 subscribers, Zipf, tree",
            source=SOURCE,
            paper=ALL_SWITCHES,
            ours=lambda tables: _at(tables, "entries", 1_000, (ZIPF,)),
            holds=lambda share: share >= ALL,
            why="Exponent 1; the rows below have others.",
        ),
        *(
            Claim(
                what=f"the same with exponent {exponent:g}",
                source=SOURCE,
                paper=None,
                ours=lambda tables, exponent=exponent: _at(tables, "entries", 1_000, (exponent,)),  # type: ignore[misc]
                why="The exponent is not in the paper.",
            )
            for exponent in OTHER_EXPONENTS
        ),
        Claim(
            what="the same with exponent 1 and 128 clusters",
            source=SOURCE,
            paper=None,
            ours=lambda tables: _at(tables, "entries", 1_000, (ZIPF,), MANY_CLUSTERS),
            why="The statement depends on the number of clusters too; 16 is that of figures 8 and 9.",
        ),
        Claim(
            what="edge switches with a bucket at 100 subscribers, uniform",
            source=SOURCE,
            paper="all edge switches",
            ours=lambda tables: _at(tables, "edges", 100, (UNIFORM,)),
            holds=lambda share: share >= ALL,
        ),
        Claim(
            what="least number of subscribers in the sweep with more buckets than switches, uniform",
            source=SOURCE,
            paper="more than 10,000",
            ours=lambda tables: _first_above(tables, (UNIFORM,)),
            holds=lambda subscribers: subscribers > 10_000,
        ),
        Claim(
            what="the same, Zipf",
            source=SOURCE,
            paper=None,
            ours=lambda tables: _first_above(tables, (ZIPF,)),
            why="The sentence does not say of which placement it speaks. By Zipf the largest cluster needs a second host, "
            "and so a second bucket, long before the average one does.",
        ),
        Claim(
            what="flow entries per switch at 100 subscribers, uniform, with those for loopback packets",
            source="SAPS §3.1.2",
            paper=None,
            ours=lambda tables: _at(tables, "all_entries", 100, (UNIFORM,)),
            why="Figure 12 leaves out the entries that send the loopback packet back, one for each host port (§3.1.2).",
        ),
    ),
    plots={
        "SAPS figure 12. Flow entries (left) and group buckets (right) over the number of switches, 16 clusters.": _draw,
        "Flow entries over switches in the tree, for other exponents and other numbers of clusters.": _draw_exponents,
        "The paper's counts beside what has to be installed, tree of 16 clusters, uniform placement.": _draw_installed,
    },
    per_task=1_000,
    memory_mb=lambda point: 320.0 + 60.0 * int(point["subscribers"]) / 1_000_000,
)
