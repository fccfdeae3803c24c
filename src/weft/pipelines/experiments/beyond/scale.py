"""beyond-scale: RELAY's figure 10 at 1,000,000 and 10,000,000 nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.beyond import sizes
from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Scale, Tables, points
from weft.pipelines.experiments.relay.drawing import GREEK, curve
from weft.pipelines.experiments.relay.fig10 import SAME, SMALL_TOPICS
from weft.pipelines.experiments.relay.paths import PATTERNS, PROPOSED, SCRIBE
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Missing

NODES: Mapping[Scale, tuple[int, ...]] = {
    Scale.SMALL: (10_000, 2_000),
    Scale.PAPER: (10_000_000, 1_000_000, 100_000),
    Scale.HUGE: (30_000_000, 10_000_000, 1_000_000, 100_000),
}
SOURCE = "RELAY §6.2, fig. 10"
MB_A_NODE = 0.0003
"""Links, what it takes to make them, and Scribe's room."""


def _sizes(tables: Tables) -> list[int]:
    found = sorted(set(tables["lengths"]["nodes"].tolist()))
    if len(found) < 2:
        raise Missing("one size of overlay alone")
    return found


def _lengths(
    tables: Tables, method: str, nodes: int, patterns: Sequence[str] = tuple(PATTERNS)
) -> np.ndarray[Any, Any]:
    return np.array([tables["lengths"].one("hops", method=method, nodes=nodes, pattern=each) for each in patterns])


def _change(tables: Tables) -> float:
    """Of the proposed method's path from the fewest nodes to the most; the greatest over patterns."""
    fewest, *_, most = _sizes(tables)
    return float(np.abs(_lengths(tables, PROPOSED, most) / _lengths(tables, PROPOSED, fewest) - 1).max())


def _a_doubling(tables: Tables) -> float:
    """Hops that Scribe's path grows by when the nodes double, the mean over patterns."""
    fewest, *_, most = _sizes(tables)
    grown = _lengths(tables, SCRIBE, most) - _lengths(tables, SCRIBE, fewest)
    return float(grown.mean() / np.log2(most / fewest))


def _saved(tables: Tables) -> float:
    """Of the path, for δ, ε and ζ at the most nodes, the least."""
    most = _sizes(tables)[-1]
    ratio = _lengths(tables, PROPOSED, most, SMALL_TOPICS) / _lengths(tables, SCRIBE, most, SMALL_TOPICS)
    return 100 * (1 - float(ratio.max()))


def _at_most(column: str) -> Callable[[Tables], float]:
    """Of a node, at the most nodes."""
    return lambda tables: float(tables["lengths"].where(nodes=_sizes(tables)[-1])[column].max())


def _draw(figure: Any, tables: Tables) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, method, title in ((left, PROPOSED, "proposed"), (right, SCRIBE, "Scribe")):
        for pattern in PATTERNS:
            curve(axes, tables["lengths"].where(method=method, pattern=pattern), "nodes", "hops", GREEK[pattern])
        axes.set_xscale("log")
        axes.set_xlabel(f"nodes, {title}")
    left.set_ylim(bottom=0)
    left.set_ylabel("mean path length [hops]")
    right.legend(title="pattern", ncols=2, loc="lower right")


EXPERIMENT = Experiment(
    name="beyond-scale",
    paper="beyond",
    title="RELAY's path lengths in overlays of millions",
    says="RELAY stops at 100,000 nodes. Does the proposed method's path still not depend on their number at "
    "10,000,000, and how much time and memory does that take?",
    setting="relay-fig10 with all nodes in topics as there; up to 4,000 of the topics with 10 members and 400 of "
    "those with 1,000 are looked at, and up to 25 publishers of each. 2 overlays. Time and memory of a run stand "
    "with the runs.",
    grid=lambda scale: points(nodes=NODES[scale]),
    repeats={Scale.SMALL: 2, Scale.PAPER: 2, Scale.HUGE: 1},
    model=sizes.model,
    columns=sizes.COLUMNS,
    summaries={
        "lengths": Mean(by=("nodes", "pattern", "method"), of=("hops", "longest", "ways", "levels", "graph_bytes"))
    },
    per_task=1,
    memory_mb=lambda point: 260.0 + int(point["nodes"]) * MB_A_NODE,
    claims=(
        Claim(
            what="Proposed: change of the path from the fewest nodes to the most, the greatest over patterns",
            source=SOURCE,
            paper="not affected by the total number of nodes",
            ours=_change,
            holds=lambda change: change < SAME,
        ),
        Claim(
            what="Path saved against Scribe with the most nodes, δ, ε, ζ, the least",
            source="RELAY abstract",
            paper="more than 75 %",
            ours=_saved,
            holds=lambda percent: percent > 75,
            unit="%",
        ),
        Claim(
            what="Scribe: hops more when the nodes double",
            source="RELAY §5.4, table 1",
            paper=None,
            ours=_a_doubling,
            unit="hops",
            why="O(log N); a digit of the id costs a hop on average.",
        ),
        Claim(
            what="Levels of a node with the most nodes",
            source="RELAY §5.1",
            paper=None,
            ours=_at_most("levels"),
            why="O(log N).",
        ),
        Claim(
            what="Memory of the Skip Graph a node, with the most nodes",
            source="own",
            paper=None,
            ours=_at_most("graph_bytes"),
            unit="bytes",
            why="A question of ours.",
        ),
    ),
    plots={"Mean path length from publishers to subscribers in overlays of up to 10,000,000 nodes.": _draw},
)
