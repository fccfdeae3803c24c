"""relay-fig12-13: does what a node forwards follow from what it sends or receives? (RELAY §6.3, figures 12 and 13, table 3)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.pipelines.experiments.claims import Claim
from weft.pipelines.experiments.experiment import Experiment, Point, Scale, Tables, points
from weft.pipelines.experiments.relay import loads
from weft.pipelines.experiments.relay.laws import interval_99
from weft.pipelines.experiments.relay.loads import PROPOSED, PUBLISHER, SCRIBE, SUBSCRIBER
from weft.pipelines.experiments.summaries import Cdf, Correlation, Mean
from weft.pipelines.experiments.table import Missing, Table

TOPICS, SUBSCRIBERS = 100, 1_000
TABLE_3 = {
    (PROPOSED, SUBSCRIBER): (0.5426, 0.5540),
    (SCRIBE, PUBLISHER): (-0.1290, 0.3742),
    (SCRIBE, SUBSCRIBER): (-0.0126, 0.0037),
}
"""99 % confidence intervals."""
HALF_WIDTH = 0.0057 / 0.5483
"""Half of the published interval: what a correlation over 100,000 nodes may be off by."""
SOURCE_12, SOURCE_13 = "RELAY table 3, fig. 12", "RELAY table 3, fig. 13"


def _grid(scale: Scale) -> Sequence[Point]:
    return points(topics=(TOPICS,), subscribers=(100 if scale is Scale.SMALL else SUBSCRIBERS,))


def _correlations(tables: Tables, method: str, role: str) -> Table:
    """One for each overlay, of the paper's size."""
    found = tables["correlations"].where(subscribers=SUBSCRIBERS, method=method, role=role)
    if not len(found):
        raise Missing("the paper's size was not run")
    return found


def r(tables: Tables, method: str, role: str) -> float:
    """The mean over overlays."""
    return float(_correlations(tables, method, role)["r"].mean())


def _bound(tables: Tables, side: int) -> float:
    found = _correlations(tables, PROPOSED, SUBSCRIBER)
    return interval_99(float(found["r"].mean()), float(found["n"][0]))[side]


def _excess(tables: Tables, role: str) -> float:
    """|r| over half of its 99 % interval: up to 1, nothing is shown to be correlated."""
    found = _correlations(tables, SCRIBE, role)
    zero = interval_99(0.0, float(found["n"][0]))[1]
    return abs(float(found["r"].mean())) / zero


def _inside(method: str, role: str, source: str, published: str) -> Claim:
    low, high = TABLE_3[method, role]
    return Claim(
        what=f"{method}, {role}s: coefficient of correlation, mean over overlays",
        source=source,
        paper=f"{published}; {low} ≤ ρ ≤ {high}",
        ours=lambda tables: r(tables, method, role),
        holds=lambda found: low <= found <= high,
        why="Judged by the published 99 % interval, as the coefficient of one overlay is chance.",
    )


def _lines(tables: Tables) -> float:
    table = tables["ratios"]
    if not len(table):
        raise Missing("no subscribers")
    return float(len(table))


def _worst(tables: Tables, method: str, column: str = "ratio") -> float:
    subscribers = SUBSCRIBERS if method == SCRIBE else tables["overlays"]["subscribers"].tolist()
    found = tables["overlays"].where(subscribers=subscribers, method=method, role=SUBSCRIBER)[f"{column}_max"]
    if not len(found):
        raise Missing(method)
    return float(found.max())


def _overlays_over_1000(tables: Tables) -> float:
    found = tables["overlays"].where(subscribers=SUBSCRIBERS, method=SCRIBE, role=SUBSCRIBER)["ratio_max"]
    if not len(found):
        raise Missing(SCRIBE)
    return 100 * float((found > 1_000).mean())


def _draw(figure: Any, tables: Tables) -> None:
    axes = figure.subplots(2, 2)
    for across, role in enumerate((PUBLISHER, SUBSCRIBER)):
        for down, method in enumerate((PROPOSED, SCRIBE)):
            rows = tables["nodes"].where(method=method, role=role)
            limits = tables["overlays"].where(method=method, role=role, seed=0)
            here = axes[down][across]
            if len(rows) and len(limits):
                x, y = (_normalised(rows, limits, name) for name in ("own", "forwarded"))
                here.scatter(x, y, s=5, color=f"C{down}", label=method, rasterized=True)
                here.legend(loc="upper left")
        doing = "sent" if role == PUBLISHER else "received"
        axes[1][across].set_xlabel(f"{doing} by {role}s, normalised")
    figure.supylabel("forwarded, normalised", fontsize="medium")


def _normalised(rows: Table, limits: Table, name: str) -> np.ndarray[Any, Any]:
    """RELAY §6.3: the least of all nodes becomes 0, the greatest 1."""
    low, high = float(limits[f"{name}_min"][0]), float(limits[f"{name}_max"][0])
    return (rows[name] - low) / max(1.0, high - low)


EXPERIMENT = Experiment(
    name="relay-fig12-13",
    paper="RELAY",
    title="Correlation of sending or receiving with forwarding",
    says="With the proposed method both sending and receiving are clearly correlated with forwarding (1.0 and "
    ".5483), and a node forwards at most twice what it receives; with Scribe there is no correlation (.1310 and "
    "−.0045), and one node forwards more than 1,000 times what it receives.",
    setting="100 topics with one publisher and 1,000 subscribers each, 100,100 nodes; topic i's publisher sends i "
    "messages, 1 … 100. Forwarding includes the publisher's first hop; in Scribe that is its message to the root, "
    "whose address it knows. Coefficients are over all publishers and over all 100,000 subscribers, not "
    "normalised (RELAY footnote 6), 10 overlays.",
    grid=_grid,
    repeats={Scale.SMALL: 3, Scale.PAPER: 10, Scale.HUGE: 50},
    model=loads.model,
    columns=loads.COLUMNS,
    summaries={
        "correlations": Correlation(by=("subscribers", "method", "role", "seed"), x="own", y="forwarded"),
        "overlays": Mean(by=("subscribers", "method", "role", "seed"), of=("own", "forwarded", "ratio", "most")),
        "ratios": Cdf(by=("method",), of="ratio", where=f"method = '{PROPOSED}' AND role = '{SUBSCRIBER}'"),
        "nodes": Mean(by=("method", "role", "node"), of=("own", "forwarded"), where="shown AND seed = 0"),
    },
    per_task=3,
    memory_mb=lambda point: 450.0,
    claims=(
        Claim(
            what="proposed, publishers: coefficient of correlation, the least of the overlays",
            source=SOURCE_12,
            paper=1.0,
            within=1e-9,
            ours=lambda tables: float(_correlations(tables, PROPOSED, PUBLISHER)["r"].min()),
        ),
        _inside(SCRIBE, PUBLISHER, SOURCE_12, "0.1310"),
        Claim(
            what="proposed, subscribers: coefficient of correlation, mean over overlays",
            source=SOURCE_13,
            paper=0.5483,
            within=HALF_WIDTH,
            ours=lambda tables: r(tables, PROPOSED, SUBSCRIBER),
            why="It may be off by half of the published interval.",
        ),
        Claim(
            what="the same: 99 % interval, from",
            source=SOURCE_13,
            paper=0.5426,
            within=HALF_WIDTH,
            ours=lambda tables: _bound(tables, 0),
        ),
        Claim(
            what="the same: 99 % interval, to",
            source=SOURCE_13,
            paper=0.5540,
            within=HALF_WIDTH,
            ours=lambda tables: _bound(tables, 1),
        ),
        _inside(SCRIBE, SUBSCRIBER, SOURCE_13, "−0.0045"),
        Claim(
            what="Scribe, publishers: |r| over half of the 99 % interval around 0",
            source="RELAY §6.3",
            paper="there are no correlations",
            ours=lambda tables: _excess(tables, PUBLISHER),
            holds=lambda excess: excess <= 1,
        ),
        Claim(
            what="Scribe, subscribers: |r| over half of the 99 % interval around 0",
            source="RELAY §6.3",
            paper="there are no correlations",
            ours=lambda tables: _excess(tables, SUBSCRIBER),
            holds=lambda excess: excess <= 1,
        ),
        Claim(
            what="Proposed: lines on which subscribers lie, forwarded over received",
            source="RELAY §6.3, fig. 13",
            paper=3,
            within=0.0,
            ours=_lines,
        ),
        Claim(
            what="Proposed: forwards of one message by one node, the most",
            source="RELAY §6.3, footnote 5",
            paper="at most twice for each dissemination",
            ours=lambda tables: _worst(tables, PROPOSED, "most"),
            holds=lambda most: most <= 2,
        ),
        Claim(
            what="Proposed: forwarded over received, the most of all subscribers",
            source="RELAY §6.3",
            paper="at most twice the number of receiving count",
            ours=lambda tables: _worst(tables, PROPOSED),
            holds=lambda most: most <= 2,
        ),
        Claim(
            what="Scribe: forwarded over received, the most of all subscribers in any overlay",
            source="RELAY §6.3",
            paper="a node forwards more than 1,000 times what it receives",
            ours=lambda tables: _worst(tables, SCRIBE),
            holds=lambda most: most > 1_000,
            why="One node's bad luck: it receives once or twice and is near the root of topics that send often.",
        ),
        Claim(
            what="Overlays in which there is such a node",
            source="RELAY §6.3",
            paper=None,
            ours=_overlays_over_1000,
            unit="%",
            why="The paper tells of the one overlay it ran.",
        ),
    ),
    plots={
        "RELAY figures 12 (left, all publishers) and 13 (right, 1,000 random subscribers). Forwarding over sending and "
        "receiving in one overlay, proposed above, Scribe below.": _draw
    },
)
