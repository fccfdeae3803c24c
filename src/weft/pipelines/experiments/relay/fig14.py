"""relay-fig14: the average size of routing tables over a node's topics (RELAY §6.4, figure 14)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.relay import entries
from weft.pipelines.experiments.relay.drawing import curve
from weft.pipelines.experiments.relay.entries import PROPOSED, SCRIBE
from weft.pipelines.experiments.relay.laws import straightness
from weft.pipelines.experiments.summaries import Mean
from weft.pipelines.experiments.table import Missing

EACH = (2, 4, 6, 8, 10)
NODES: Mapping[Scale, int] = {Scale.SMALL: 5_000, Scale.PAPER: 100_000, Scale.HUGE: 300_000}
SOURCE = "RELAY §6.4, fig. 14"
STRAIGHT = 0.99
"""R² of what is called linear."""
ALL, UNIQUE = "entries", "nodes_known"
SERIES = ((PROPOSED, ALL), (SCRIBE, ALL), (PROPOSED, UNIQUE), (SCRIBE, UNIQUE))


def _grid(scale: Scale) -> Sequence[Point]:
    return points(nodes=(NODES[scale],), topics=(1_000,), each=tuple(reversed(EACH)))


def sizes(tables: Tables, method: str, column: str) -> np.ndarray[Any, Any]:
    """Over the number of topics."""
    rows = tables["sizes"].where(method=method).ordered("each")
    if len(rows) != len(EACH):
        raise Missing(method)
    return rows[column]


def _ratio(column: str, extreme: Callable[[np.ndarray[Any, Any]], Any]) -> Callable[[Tables], float]:
    return lambda tables: float(extreme(sizes(tables, PROPOSED, column) / sizes(tables, SCRIBE, column)))


def _linear(method: str, column: str, what: str) -> Claim:
    return Claim(
        what=f"{method}, {what}: R² of a straight line",
        source=SOURCE,
        paper="they change linearly with the number of topics",
        ours=lambda tables: straightness(EACH, sizes(tables, method, column)),
        holds=lambda found: found >= STRAIGHT,
    )


def _draw(figure: Any, tables: Tables) -> None:
    axes = figure.subplots()
    for method, column in SERIES:
        redundancy = "" if column == ALL else " w/o redundancy"
        curve(axes, tables["sizes"].where(method=method), "each", column, f"{method}{redundancy}")
    axes.set_xticks(EACH)
    axes.set_xlabel("topics that a node publishes on or subscribes to")
    axes.set_ylabel("entries in a node's routing tables, mean")
    axes.set_ylim(bottom=0)
    axes.legend()


EXPERIMENT = Experiment(
    name="relay-fig14",
    paper="RELAY",
    title="Average size of routing tables over the number of topics",
    says="The proposed method's tables are larger than Scribe's, with and without redundancy, and grow linearly "
    "with a node's topics as Scribe's do.",
    setting="100,000 nodes, the first half publishes, the other half subscribes, each on 2 … 10 different topics "
    "of 1,000, uniformly. Entries: left and right neighbours at each level of each key, entries for one's own "
    "keys included, what would go round the end of a list left out (the paper's lists have ends). Scribe: the "
    "same over one key a node, the children of every topic, and at a publisher the root of each topic (RELAY "
    "§5.4). Without redundancy: different other nodes. 5 overlays.",
    grid=_grid,
    repeats={Scale.SMALL: 1, Scale.PAPER: 5, Scale.HUGE: 2},
    model=entries.averages,
    columns=entries.AVERAGES,
    summaries={"sizes": Mean(by=("nodes", "topics", "each", "method"), of=tuple(entries.AVERAGES)[1:])},
    per_task=1,
    memory_mb=lambda point: 230.0 + int(point["nodes"]) * int(point["each"]) / 2_500,
    claims=(
        Claim(
            what="Proposed over Scribe, the least over numbers of topics",
            source=SOURCE,
            paper="the absolute values of the proposed method are larger",
            ours=_ratio(ALL, np.min),
            holds=lambda least: least > 1,
        ),
        Claim(
            what="the same without redundancy",
            source=SOURCE,
            paper="the absolute values of the proposed method are larger",
            ours=_ratio(UNIQUE, np.min),
            holds=lambda least: least > 1,
        ),
        _linear(PROPOSED, ALL, "all entries"),
        _linear(SCRIBE, ALL, "all entries"),
        _linear(PROPOSED, UNIQUE, "without redundancy"),
        _linear(SCRIBE, UNIQUE, "without redundancy"),
        Claim(
            what="Proposed over Scribe, the most over numbers of topics",
            source="RELAY §5.4",
            paper="slightly large cost, but not extremely inferior",
            ours=_ratio(ALL, np.max),
            holds=lambda most: most < 10,
            why="Extremely: by a digit.",
        ),
        Claim(
            what="Proposed, 10 topics: entries for a node's own other keys, of all",
            source="RELAY §6.4",
            paper=None,
            ours=lambda tables: 100 * (1 - sizes(tables, PROPOSED, "foreign")[-1] / sizes(tables, PROPOSED, ALL)[-1]),
            unit="%",
            why="The paper does not say whether those count; it would change the curve by so much.",
        ),
        Claim(
            what="Proposed, 10 topics: entries more if the lists were rings",
            source="RELAY §5.1",
            paper=None,
            ours=lambda tables: float((sizes(tables, PROPOSED, "rings") - sizes(tables, PROPOSED, ALL))[-1]),
            why="Our overlay closes each level to a ring; the paper's lists have ends.",
        ),
        Claim(
            what="Scribe, 10 topics: entries for topics, without the Skip Graph below",
            source="RELAY §5.4",
            paper=None,
            ours=lambda tables: float(sizes(tables, SCRIBE, "topics_part")[-1]),
            why="Children and roots. A child is always a left neighbour in the Skip Graph, so without redundancy "
            "only roots add.",
        ),
    ),
    plots={
        "RELAY figure 14. Average size of routing tables; w/o redundancy: different physical nodes. Mean and 95 % "
        "interval of the overlays.": _draw
    },
)
