"""Messages on the overlay when each publisher of one topic publishes once, as its subscribers go away (RELAY §6.1).

The nodes beside the topic have a key of another topic each. Who unsubscribes takes its key out of the Skip Graph, or leaves
Scribe's tree; the others stay as they are. Without subscribers the rendezvous point has told the publishers to be silent
(§5.3.4): that one multicast over their segment is counted apart, and so is what they would send if nobody told them.
"""

from collections.abc import Iterator

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.relay.topics import DEALING, Skips, dealt, targets
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.scribe import tree
from weft.sim.vector.skipgraph import SkipGraph, seeded

PROPOSED, SCRIBE = "proposed", "Scribe"
UNSUSPENDED, SEEKING = "proposed, not suspended", "Scribe, root not known"

COLUMNS = {"method": str, "subscribers": int, "messages": int, "signals": int}
SUBSCRIBERS = (1_000, 100, 10, 0)

Row = tuple[str, int, int, int]


def model(point: Point, seed: int) -> Rows:
    """A row for each method and each number of subscribers that are left."""
    nodes, publishers = int(point["nodes"]), int(point["publishers"])
    rows = [*proposed(nodes, publishers, seed), *scribe(nodes, publishers, seed)]
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def proposed(nodes: int, publishers: int, seed: int) -> Iterator[Row]:
    """The topic stands in the middle of the others'."""
    most = SUBSCRIBERS[0]
    low = (nodes - publishers - most) // 2
    for left in SUBSCRIBERS:
        ids = np.arange(1, nodes + 1)
        stays = (ids <= low + publishers + left) | (ids > low + publishers + most)
        graph = seeded(Layout.plain(ids[stays]), seed)
        segment = Span(low + publishers, low + publishers + left)
        sent = sum(multicast(graph, low + at, segment, "binary").messages.shape[0] for at in range(publishers))
        point = low + publishers - 1
        told = multicast(graph, point, Span(low, low + publishers), "binary").messages.shape[0]
        silent = not sees_subscribers(graph, point, segment)
        yield PROPOSED, left, 0 if silent else sent, told if silent else 0
        yield UNSUSPENDED, left, sent, 0


def sees_subscribers(graph: SkipGraph, point: int, segment: Span) -> bool:
    """RELAY §5.3.3: the rendezvous point looks at its right neighbour at level 0, and at nothing else."""
    _, right = graph.levels(point)[0]
    return segment.low <= right < segment.high


def scribe(nodes: int, publishers: int, seed: int) -> Iterator[Row]:
    """Each publisher sends to the root, and the root's tree hands on."""
    over = Skips.of(nodes, seed).substrate
    members = dealt(Draws(seed, int(DEALING)), nodes, publishers + SUBSCRIBERS[0])[0]
    target = targets(seed, 1, over.net.digits)[0]
    for left in SUBSCRIBERS:
        found = tree(over, target, members[publishers : publishers + left])
        root = found.root if left else over.seek(target, int(members[0])).root
        each = found.nodes.size
        relayed = int(np.count_nonzero(members[:publishers] != root))
        yield SCRIBE, left, publishers * each + relayed, 0
        sought = sum(over.seek(target, int(publisher)).hops for publisher in members[:publishers])
        yield SEEKING, left, publishers * each + sought, 0
