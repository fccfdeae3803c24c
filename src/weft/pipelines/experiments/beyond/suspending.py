"""What a day costs with and without suspending, and with Scribe, when subscribers come and go (RELAY §5.3.3–5.3.6, §7).

Overlays do not depend on each other's topics, so a publication's messages depend on the topic's publishers and subscribers
alone (RELAY §6.2), and in Scribe on the number of nodes besides. They are measured for some numbers of subscribers on the
models, and read off between those; the day is then a sum over its pieces. Publishers publish at a constant rate; ``data`` is
for one publication a second and publisher, so that any interval is a division.

Suspending: on each change between none and some the rendezvous point tells all other publishers (§5.3.4), by one multicast
over their segment. While suspended each of those asks its neighbour now and then whether it is still so, and is answered
(§5.3.6 ii): two messages. Joining and leaving cost the same with suspending as without, and are not counted.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.beyond.trace import HOUR_S, Reals, Trace, generate
from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.relay.topics import CHOOSING, Skips, targets
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout, Longs, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.scribe import tree
from weft.sim.vector.skipgraph import seeded

SUSPENDING, ALWAYS, SCRIBE = "proposed", "proposed, not suspended", "Scribe"
CHECK_S = 60.0
"""How often a suspended publisher asks its neighbour; RELAY prints no number."""
BESIDE = 32
"""Nodes of other topics on either side of the one that is measured."""
GRAPHS, GRAPHS_LARGE = 24, 4
"""Overlays over which a publication is measured: with many subscribers it hardly varies."""
MANY = 100
SENDERS = 10
"""Publishers of each."""
ROOTS = 6
"""Trees over which Scribe's is measured."""
COUNTS = np.unique(np.concatenate((np.arange(9), np.geomspace(10, 20_000, 16).astype(np.int64))))
"""Numbers of subscribers for which a publication is measured."""
BANDS = (10, 100)
"""Ranks that end the bands of popularity; the third is the rest."""

COLUMNS = {
    "method": str,
    "hour": int,
    "band": int,
    "data": float,
    "signals": float,
    "checks": float,
    "idle": float,
    "subscribed": float,
    "hours": float,
}
"""``data``: messages at one publication a second and publisher. ``hours`` of all topics together, of which ``idle`` without
subscribers; ``subscribed``: hours of all subscribers together."""


class Prices(NamedTuple):
    """Messages of one publication, with each of ``counts`` subscribers."""

    counts: Longs
    proposed: Reals
    scribe: Reals
    signal: float
    """Messages by which the rendezvous point tells the others."""


def model(point: Point, seed: int) -> Rows:
    """A row for each method, hour and band of popularity."""
    topics, publishers = int(point["topics"]), int(point["publishers"])
    trace = generate(seed, topics, float(point["exponent"]), float(point["load"]))
    paid = prices(int(point["nodes"]), publishers, int(trace.present.max()), seed)
    band = np.searchsorted(BANDS, trace.topic, side="right")
    cell = trace.hour * (len(BANDS) + 1) + band
    columns = [_rows(method, cell, trace, paid, publishers, topics) for method in (SUSPENDING, ALWAYS, SCRIBE)]
    return {name: np.concatenate([np.asarray(rows[name]) for rows in columns]) for name in COLUMNS}


def prices(nodes: int, publishers: int, most: int, seed: int) -> Prices:
    """Measured up to ``most`` subscribers, and one step beyond."""
    counts = COUNTS[: int(np.searchsorted(COUNTS, most)) + 1]
    counts = np.minimum(counts, nodes - publishers)
    ours, signals = [], 0.0
    for count in counts.tolist():
        graphs = GRAPHS if count < MANY else GRAPHS_LARGE
        sent = [_published(publishers, count, seed * GRAPHS + which) for which in range(graphs)]
        ours.append(float(np.mean([each for each, _ in sent])))
        signals = float(np.mean([told for _, told in sent]))
    return Prices(counts, np.array(ours), _scribes(nodes, publishers, counts, seed), signals)


def _published(publishers: int, count: int, seed: int) -> tuple[float, float]:
    """Messages of a publication, and those of a signal, in one overlay."""
    ids = np.arange(1, 2 * BESIDE + publishers + count + 1)
    graph = seeded(Layout.plain(ids), seed)
    segment = Span(BESIDE + publishers, BESIDE + publishers + count)
    senders = range(BESIDE, BESIDE + publishers, max(1, publishers // SENDERS))
    sent = [multicast(graph, sender, segment, "binary").messages.shape[0] for sender in senders]
    told = multicast(graph, BESIDE + publishers - 1, Span(BESIDE, BESIDE + publishers), "binary")
    return float(np.mean(sent)), float(told.messages.shape[0])


def _scribes(nodes: int, publishers: int, counts: Longs, seed: int) -> Reals:
    """Edges of the tree, and one message to the root, which is hardly ever a publisher itself."""
    over = Skips.of(nodes, seed).substrate
    draws = Draws(seed, int(CHOOSING))
    edges = np.zeros(counts.size)
    for target in targets(seed, ROOTS, over.net.digits):
        members = draws.shuffled(nodes)
        edges += [tree(over, target, members[:count]).nodes.size for count in counts.tolist()]
    return np.asarray(edges / ROOTS + 1 - publishers / nodes / 2)


def _rows(method: str, cell: Longs, trace: Trace, paid: Prices, publishers: int, topics: int) -> Rows:
    cells = 24 * (len(BANDS) + 1)
    each = paid.scribe if method == SCRIBE else paid.proposed
    price = np.interp(trace.present, paid.counts, each)
    idle = trace.present == 0
    if method == SUSPENDING:
        price = np.where(idle, 0.0, price)
    switched = (idle & (trace.change < 0)) | ((trace.present == 1) & (trace.change > 0))
    signals = np.where(switched, paid.signal, 0.0)
    checks = np.where(idle, 2 * (publishers - 1) * trace.length / CHECK_S, 0.0)
    if method != SUSPENDING:
        signals, checks = np.zeros(cell.size), np.zeros(cell.size)
    members = np.diff((0, *(min(end, topics) for end in BANDS), topics))

    def summed(weights: npt.NDArray[np.float64]) -> Reals:
        return np.asarray(np.bincount(cell, weights, cells), np.float64)

    return {
        "method": np.full(cells, method),
        "hour": np.arange(cells) // (len(BANDS) + 1),
        "band": np.arange(cells) % (len(BANDS) + 1),
        "data": summed(price * trace.length * publishers),
        "signals": summed(signals),
        "checks": summed(checks),
        "idle": summed(idle * trace.length) / HOUR_S,
        "subscribed": summed(trace.present * trace.length) / HOUR_S,
        "hours": np.tile(members, 24).astype(np.float64),
    }
