"""beyond-cluster-first: saps-fig8 to saps-fig10 with the strategy that enters each cluster once (overlay §5)."""

from collections.abc import Sequence
from typing import Any

from weft.pipelines.experiments.beyond import entrances
from weft.pipelines.experiments.beyond.entrances import CLUSTER_FIRST, CLUSTER_FIRST_RANDOM, DIRECT
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.saps import fig10
from weft.pipelines.experiments.saps.costs import CLUSTERS, OVERLAYS, SUBSCRIBERS, memory_mb, ratios
from weft.pipelines.experiments.saps.crossings import LINE, LOCAL, OFM, RANDOM_IDS, TREE
from weft.pipelines.experiments.saps.drawing import costs, finish_costs
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Table

FEW = fig10.SUBSCRIBERS
METHODS = (LOCAL, CLUSTER_FIRST, DIRECT, OFM)
ON_LINES = (RANDOM_IDS, CLUSTER_FIRST_RANDOM, *METHODS)
QUESTION = "ADR 0004"
NO_FIGURE = "The question is ours."


def _grid(scale: Scale) -> Sequence[Point]:
    sweep = points(topology=(LINE, TREE), clusters=(CLUSTERS,), subscribers=SUBSCRIBERS[scale])
    return [*sweep, *(point for point in fig10.EXPERIMENT.grid(scale) if point not in sweep)]


def _swept(tables: Tables, topology: str) -> Table:
    """Over the number of subscribers."""
    return tables["costs"].where(topology=topology, clusters=CLUSTERS)


def _over_clusters(tables: Tables) -> Table:
    return tables["costs"].where(topology=TREE, subscribers=FEW)


def _entrances(tables: Tables) -> float:
    """The mean farthest from 1 in any single overlay."""
    rows = tables["costs"].where(method=CLUSTER_FIRST)
    return max(float(rows["entrances_max"].max()), 2.0 - float(rows["entrances_min"].min()))


def _largest(tables: Tables, topology: str, column: str, one: str, other: str) -> float:
    return max(ratios(_swept(tables, topology), column, one, other))


def _few(tables: Tables, column: str, one: str, other: str) -> float:
    rows = _swept(tables, TREE).where(subscribers=FEW)
    return rows.one(column, method=one) / rows.one(column, method=other)


def _draw_sweep(topology: str, methods: Sequence[str], figure: Any, tables: Tables) -> None:
    costs(figure, _swept(tables, topology), "subscribers", methods, methods)
    finish_costs(figure, "subscribers", "hops", log_y=True)


def _draw_line(figure: Any, tables: Tables) -> None:
    _draw_sweep(LINE, ON_LINES, figure, tables)


def _draw_tree(figure: Any, tables: Tables) -> None:
    _draw_sweep(TREE, METHODS, figure, tables)


def _draw_clusters(figure: Any, tables: Tables) -> None:
    costs(figure, _over_clusters(tables), "clusters", METHODS, METHODS)
    finish_costs(figure, "clusters", "hops", base=2)


EXPERIMENT = Experiment(
    name="beyond-cluster-first",
    paper="beyond",
    title="Entering each cluster once: between ALM-LA and OFM",
    says="How near does an overlay come to k − 1 unicasts, and to OFM, if a piece of the range that is handed to another "
    "cluster is aligned to cluster borders?",
    setting="The overlays of saps-fig8, saps-fig9 and saps-fig10, run by run, with `cluster-first` in place of `binary`. "
    "“k − 1 unicasts” are by the publisher, one to each other cluster that has a subscriber. OFM has its loopback packet.",
    grid=_grid,
    repeats=OVERLAYS,
    model=entrances.model,
    columns=entrances.COLUMNS,
    summaries={
        "costs": Mean(by=("topology", "clusters", "subscribers", "method"), of=("traffic", "delay", "entrances")),
    },
    claims=(
        Claim(
            what="messages into each remote cluster that has a subscriber, in the overlay where it is worst",
            source=QUESTION,
            paper="each remote cluster is entered exactly once",
            ours=_entrances,
            holds=lambda entered: entered == 1,
            why="So the traffic in the tree is that of k − 1 unicasts, whatever the number of subscribers.",
        ),
        Claim(
            what="traffic over ALM-LA's in the tree at 100 subscribers",
            source=QUESTION,
            paper=None,
            ours=lambda tables: _few(tables, "traffic", CLUSTER_FIRST, LOCAL),
            why=NO_FIGURE,
        ),
        Claim(
            what="traffic over OFM's in the tree at 100 subscribers",
            source=QUESTION,
            paper=None,
            ours=lambda tables: _few(tables, "traffic", CLUSTER_FIRST, OFM),
            why="A unicast crosses two links for each cluster, a switch copies to one.",
        ),
        Claim(
            what="largest delay over ALM-LA's in the tree at 100 subscribers",
            source=QUESTION,
            paper=None,
            ours=lambda tables: _few(tables, "delay", CLUSTER_FIRST, LOCAL),
            why=NO_FIGURE,
        ),
        Claim(
            what="largest delay over OFM's in the tree at 100 subscribers",
            source=QUESTION,
            paper=None,
            ours=lambda tables: _few(tables, "delay", CLUSTER_FIRST, OFM),
            why="Clusters hand the message on to each other; OFM and k − 1 unicasts reach each in 2 hops.",
        ),
        *(
            Claim(
                what=f"{column} over ALM-LA's {where}, where it is worst",
                source=QUESTION,
                paper=None,
                ours=lambda tables, column=column, topology=topology, one=one, other=other: _largest(  # type: ignore[misc]
                    tables, topology, column, one, other
                ),
                why="Below 1: never worse than `binary` along the sweep.",
            )
            for where, topology, one, other in (
                ("in the tree", TREE, CLUSTER_FIRST, LOCAL),
                ("on the line, sorted ids", LINE, CLUSTER_FIRST, LOCAL),
                ("on the line, random ids", LINE, CLUSTER_FIRST_RANDOM, RANDOM_IDS),
            )
            for column in ("traffic", "delay")
        ),
    ),
    plots={
        "A line of 16 clusters: traffic between clusters (left) and largest delay (right), mean and 95 % interval.": _draw_line,
        "A tree of 16 clusters, likewise.": _draw_tree,
        "A tree of 4 to 128 clusters with 100 subscribers, likewise.": _draw_clusters,
    },
    per_task=100,
    memory_mb=memory_mb,
)
