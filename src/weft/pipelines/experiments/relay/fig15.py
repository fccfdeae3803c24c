"""relay-fig15: the distribution of routing table sizes where nodes have 1 to 1,000 topics (RELAY §6.4, figure 15)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.relay import entries
from weft.pipelines.experiments.relay.drawing import steps
from weft.pipelines.experiments.relay.entries import PROPOSED, SCRIBE
from weft.pipelines.experiments.relay.laws import straightness
from weft.pipelines.experiments.summaries import Cdf, Correlation
from weft.pipelines.experiments.table import Missing, Table

NODES: Mapping[Scale, int] = {Scale.SMALL: 300, Scale.PAPER: 1_000, Scale.HUGE: 2_000}
REPEATS = {Scale.SMALL: 3, Scale.PAPER: 20, Scale.HUGE: 20}
SOURCE = "RELAY §6.4, fig. 15"
SHOWN = 0
"""The overlay that the picture shows, as the paper shows one."""


def _grid(scale: Scale) -> Sequence[Point]:
    return points(nodes=(NODES[scale],))


def straight(method: str) -> Callable[[Tables], float]:
    """R² of the straight line through each overlay's distribution; the mean over overlays."""

    def found(tables: Tables) -> float:
        rows = tables["sizes"].where(method=method)
        if not len(rows):
            raise Missing(method)
        each: list[tuple[Any, Table]] = list(rows.split("seed"))
        return float(np.mean([straightness(one["value"], one["share"]) for _, one in each]))

    return found


def _unexplained(tables: Tables) -> float:
    return (1 - straight(PROPOSED)(tables)) / (1 - straight(SCRIBE)(tables))


def _middle(method: str) -> Callable[[Tables], float]:
    """The part of nodes whose normalised size is up to a half; the mean over overlays."""

    def found(tables: Tables) -> float:
        rows = tables["sizes"].where(method=method)
        if not len(rows):
            raise Missing(method)
        return float(np.mean([one["share"][one["value"] <= 0.5].max(initial=0.0) for _, one in rows.split("seed")]))

    return found


def _r(tables: Tables, method: str) -> float:
    found = tables["topics"].where(method=method)["r"]
    if not len(found):
        raise Missing(method)
    return float(found[0])


def _draw(figure: Any, tables: Tables) -> None:
    axes = figure.subplots()
    for method in (PROPOSED, SCRIBE):
        steps(axes, tables["sizes"].where(method=method, seed=SHOWN), method)
    axes.plot([0, 1], [0, 1], linestyle=":", color="grey", label="in proportion")
    axes.set_xlabel("entries in a node's routing tables, normalised")
    axes.set_ylabel("share of nodes that have no more")
    axes.legend()


EXPERIMENT = Experiment(
    name="relay-fig15",
    paper="RELAY",
    title="Distribution of routing table sizes",
    says="The percentage of nodes rises linearly with the normalised size in the proposed method, where a node's "
    "storage follows from its own topics, and not in Scribe, where storage is shared among nodes.",
    setting="1,000 nodes, all subscribers; node i subscribes to i of 1,000 topics. Entries are counted as in "
    "relay-fig14, with redundancy, and normalised so that the least becomes 0 and the greatest 1. Linear: R² of "
    "the straight line through the distribution; 20 overlays, the picture shows one.",
    grid=_grid,
    repeats=REPEATS,
    model=entries.sizes,
    columns=entries.SIZES,
    summaries={
        "sizes": Cdf(by=("method", "seed"), of="normalised"),
        "topics": Correlation(by=("method",), x="node_topics", y="entries"),
        "foreign": Correlation(by=("method",), x="node_topics", y="foreign"),
    },
    per_task=4,
    memory_mb=lambda point: 230.0 + (int(point["nodes"]) / 1_000) ** 2 * 170,
    claims=(
        Claim(
            what="What a straight line leaves unexplained of the distribution: proposed over Scribe",
            source=SOURCE,
            paper="linearly increased compared to Scribe",
            ours=_unexplained,
            holds=lambda ratio: ratio < 1,
        ),
        Claim(
            what="Proposed: R² of a straight line",
            source=SOURCE,
            paper="linearly increased",
            ours=straight(PROPOSED),
            holds=lambda found: found >= 0.95,
            why="A node's size is its topics times its height, and heights differ by chance: the few highest "
            "towers stretch the axis, and the line bends near its top.",
        ),
        Claim(
            what="Scribe: R² of a straight line",
            source=SOURCE,
            paper=None,
            ours=straight(SCRIBE),
            why="The curve is lost.",
        ),
        Claim(
            what="Proposed: nodes with at most half of the greatest size",
            source=SOURCE,
            paper=None,
            ours=_middle(PROPOSED),
            why="The curve is lost.",
        ),
        Claim(
            what="Scribe: nodes with at most half of the greatest size",
            source=SOURCE,
            paper=None,
            ours=_middle(SCRIBE),
            why="The curve is lost.",
        ),
        Claim(
            what="Proposed: correlation of a node's topics with its table's size",
            source="RELAY §6.4",
            paper="the storage cost of a node is sensitive to the number of topics to which the node subscribes",
            ours=lambda tables: _r(tables, PROPOSED),
            holds=lambda found: found > 0.9,
        ),
        Claim(
            what="Scribe's correlation less the proposed method's",
            source="RELAY §6.4",
            paper="in Scribe the storage cost is shared among nodes; it is difficult to predict",
            ours=lambda tables: _r(tables, SCRIBE) - _r(tables, PROPOSED),
            holds=lambda difference: difference < 0,
        ),
    ),
    plots={"RELAY figure 15. Cumulative distribution of normalised table sizes in one overlay.": _draw},
)
