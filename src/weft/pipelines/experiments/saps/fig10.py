"""saps-fig10: the tree with 4 to 128 clusters and 100 subscribers (SAPS §4.1.1, figure 10)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.saps import crossings
from weft.pipelines.experiments.saps.costs import COSTS, OVERLAYS, memory_mb, ratios, worst_ofm
from weft.pipelines.experiments.saps.drawing import costs, finish_costs
from weft.pipelines.experiments.saps.fig9 import METHODS
from weft.pipelines.experiments.table import Missing, Table

SUBSCRIBERS = 100
CLUSTERS = {
    Scale.SMALL: (4, 16, 128),
    Scale.PAPER: (4, 8, 16, 32, 64, 128),
    Scale.HUGE: (4, 8, 16, 32, 64, 128, 256, 512, 1_024),
}
FULL = 0.99
"""Of the clusters hold a subscriber: as good as all."""
SOURCE = "SAPS §4.1.1, fig. 10"


def _grid(scale: Scale) -> Sequence[Point]:
    return points(topology=(crossings.TREE,), clusters=CLUSTERS[scale], subscribers=(SUBSCRIBERS,))


def occupied(clusters: float) -> float:
    """The part of the clusters that is expected to hold one of the subscribers."""
    return 1.0 - (1.0 - 1.0 / clusters) ** SUBSCRIBERS


def _per_cluster(table: Table, full: bool) -> list[float]:
    """OFM's messages, without the loopback, per cluster: where each cluster has a subscriber, or where not."""
    rows = table.where(method=crossings.OFM_SILENT).ordered("clusters")
    chosen = [
        traffic / clusters
        for traffic, clusters in zip(rows["traffic"], rows["clusters"], strict=True)
        if (occupied(clusters) >= FULL) == full
    ]
    if not chosen:
        raise Missing("no such number of clusters was run")
    return chosen


def _alike(tables: Tables) -> list[float]:
    """ALM-LA's traffic over ALM's, by rising number of clusters."""
    return ratios(tables["costs"], "traffic", crossings.LOCAL, crossings.ALM)


def _of_all(tables: Tables, method: str) -> float:
    """At most clusters: its messages over 2 for every subscriber but one, which is the Skip Graph with no two in a cluster."""
    rows = tables["costs"].where(method=method).ordered("clusters")
    return float(rows["traffic"][-1]) / (2 * (SUBSCRIBERS - 1))


def _draw(figure: Any, tables: Tables) -> None:
    left, _ = costs(figure, tables["costs"], "clusters", METHODS, METHODS[:-1])
    left.axhline(2 * (SUBSCRIBERS - 1), linestyle=":", color="grey", label="every hop between clusters")
    finish_costs(figure, "clusters", "hops", base=2)


EXPERIMENT = Experiment(
    name="saps-fig10",
    paper="SAPS",
    title="A tree of 4 to 128 clusters, 100 subscribers",
    says="While all clusters have a subscriber, OFM sends a message per cluster; with more clusters, fewer than that. Its "
    "largest delay is always 2 hops. ALM and ALM-LA both approach the Skip Graph's own performance as clusters become many.",
    setting="As saps-fig9, with 100 subscribers. As many clusters as are expected to be at least 99 % occupied count as all "
    "having a subscriber (up to 16).",
    grid=_grid,
    repeats=OVERLAYS,
    model=crossings.model,
    columns=crossings.COLUMNS,
    summaries={"costs": COSTS},
    claims=(
        Claim(
            what="OFM's messages per cluster where every cluster has a subscriber, farthest from 1",
            source=SOURCE,
            paper=1,
            within=0.01,
            ours=lambda tables: max(_per_cluster(tables["costs"], full=True), key=lambda share: abs(share - 1)),
            why="Without the loopback. Tolerance: up to 1 % of the clusters may have none.",
        ),
        Claim(
            what="OFM's messages per cluster where some have no subscriber, at most",
            source=SOURCE,
            paper="fewer than the clusters",
            ours=lambda tables: max(_per_cluster(tables["costs"], full=False)),
            holds=lambda share: share < 1,
        ),
        Claim(
            what="largest delay of OFM in any overlay",
            source=SOURCE,
            paper="always 2 hops",
            ours=lambda tables: float(tables["costs"].where(method=crossings.OFM)["delay_max"].max()),
            holds=lambda hops: hops == 2,
        ),
        Claim(
            what="ALM-LA's traffic over ALM's: least rise from one number of clusters to the next",
            source=SOURCE,
            paper="the two approach each other",
            ours=lambda tables: float(np.diff(_alike(tables)).min()),
            holds=lambda rise: rise > 0,
        ),
        Claim(
            what="ALM-LA's traffic over ALM's at most clusters",
            source=SOURCE,
            paper=None,
            ours=lambda tables: _alike(tables)[-1],
            why="The curves are lost.",
        ),
        Claim(
            what="ALM's traffic at most clusters, of a Skip Graph's whose every hop leaves the cluster",
            source=SOURCE,
            paper="most hops are between clusters",
            ours=lambda tables: _of_all(tables, crossings.ALM),
            holds=lambda share: share > 0.5,
        ),
        Claim(
            what="the same of ALM-LA",
            source=SOURCE,
            paper="most hops are between clusters",
            ours=lambda tables: _of_all(tables, crossings.LOCAL),
            holds=lambda share: share > 0.5,
        ),
        Claim(
            what="OFM against the best of the others in traffic, at its worst",
            source=SOURCE,
            paper="OFM is still better in large scale",
            ours=lambda tables: worst_ofm(tables["costs"], "traffic", (crossings.ALM, crossings.LOCAL)),
            holds=lambda worst: worst < 1,
        ),
    ),
    plots={
        "SAPS figure 10. A tree of 4 to 128 clusters with 100 subscribers: traffic between clusters (left) and largest delay "
        "(right) of one publish, mean and 95 % interval over overlays.": _draw
    },
    per_task=100,
    memory_mb=memory_mb,
)
