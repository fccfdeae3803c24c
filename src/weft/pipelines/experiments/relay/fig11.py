"""relay-fig11: the distribution of path lengths in pattern α (RELAY §6.2, figure 11)."""

from collections.abc import Callable, Sequence
from typing import Any

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables
from weft.pipelines.experiments.relay import fig10, paths
from weft.pipelines.experiments.relay.drawing import steps
from weft.pipelines.experiments.relay.laws import apart, quantile
from weft.pipelines.experiments.relay.paths import PROPOSED, SCRIBE
from weft.pipelines.experiments.summaries import Cdf
from weft.pipelines.experiments.table import Missing, Table

SOURCE = "RELAY §6.2, fig. 11"
CLOSE = 0.1
"""“No significant difference between the two curves”: nowhere more than a tenth of the figure's height apart."""


def _grid(scale: Scale) -> Sequence[Point]:
    if scale is Scale.SMALL:
        return [{"nodes": nodes, "pattern": "alpha", "overlays": 1} for nodes in (10_000, 1_000)]
    return [point for point in fig10.grid(scale) if point["pattern"] == "alpha"]


def _curve(tables: Tables, nodes: int, method: str) -> Table:
    rows = tables["lengths"].where(nodes=nodes, method=method).ordered("value")
    if not len(rows):
        raise Missing(f"{method} with {nodes} nodes")
    return rows


def distance(nodes: int) -> Callable[[Tables], float]:
    """Between the two curves."""

    def found(tables: Tables) -> float:
        one, other = _curve(tables, nodes, PROPOSED), _curve(tables, nodes, SCRIBE)
        return apart(one["value"], one["share"], other["value"], other["share"])

    return found


def tail(nodes: int, q: float = 0.99) -> Callable[[Tables], float]:
    """The proposed method's quantile over Scribe's."""

    def found(tables: Tables) -> float:
        one, other = _curve(tables, nodes, PROPOSED), _curve(tables, nodes, SCRIBE)
        return quantile(one["value"], one["share"], q) / quantile(other["value"], other["share"], q)

    return found


def _draw(figure: Any, tables: Tables) -> None:
    table = tables["lengths"]
    sizes = sorted(set(table["nodes"].tolist()))
    for axes, nodes in zip(figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0], sizes, strict=True):
        for method in (PROPOSED, SCRIBE):
            steps(axes, table.where(nodes=nodes, method=method), method)
        axes.set_xlim(0, 40)
        axes.set_xlabel(f"path length [hops]\n{nodes:,} nodes")
    figure.axes[0].set_ylabel("share of ways that are no longer")
    figure.axes[0].legend(loc="lower right")


def _close(nodes: int, why: str) -> Claim:
    return Claim(
        what=f"Largest distance between the two distributions at {nodes:,} nodes",
        source=SOURCE,
        paper="no significant difference between the two curves",
        ours=distance(nodes),
        holds=lambda distance: distance <= CLOSE,
        why=why,
    )


EXPERIMENT = Experiment(
    name="relay-fig11",
    paper="RELAY",
    title="Distribution of path lengths in pattern α",
    says="Pattern α is where the two methods' paths are most alike; there is no significant difference between "
    "the two curves, so the proposed method has no serious undesirable effect on the distribution.",
    setting="Pattern α, 10 publishers and 990 subscribers a topic, as in relay-fig10. The text does not say with "
    "how many nodes, so all three sizes are compared. Alike: nowhere more than a tenth apart.",
    grid=_grid,
    repeats=fig10.EXPERIMENT.repeats,
    model=paths.distribution,
    columns=paths.HISTOGRAM,
    summaries={"lengths": Cdf(by=("nodes", "method"), of="hops", weight="ways")},
    per_task=15,
    memory_mb=fig10.memory_mb,
    claims=(
        _close(10_000, "The paper's axis ends at 40 hops, as our ways do at 10,000 nodes, by either method."),
        _close(
            100_000,
            "The proposed method's curve is the better one by nearly four hops, as its paths do not grow with the nodes; at "
            "10,000 nodes the two coincide. What the paper fears, a worse distribution, is in neither.",
        ),
        Claim(
            what="99 % of ways: proposed over Scribe at 100,000 nodes",
            source=SOURCE,
            paper="no serious undesirable effect on the distribution of path length",
            ours=tail(100_000),
            holds=lambda ratio: ratio <= 1,
        ),
        Claim(
            what="the same at 1,000 nodes",
            source=SOURCE,
            paper=None,
            ours=tail(1_000),
            why="One topic is the whole overlay: the proposed method's tree is then a little deeper than Scribe's.",
        ),
    ),
    plots={"RELAY figure 11. Cumulative distribution of path lengths in pattern α, by number of nodes.": _draw},
)
