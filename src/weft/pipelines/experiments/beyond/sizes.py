"""RELAY's figure 10 in overlays of millions: one Skip Graph, and of each pattern's topics some hundreds (RELAY §6.2).

The topics fill the overlay as they do at 100,000 nodes; every n-th of them is looked at, and of its publishers likewise, as the
mean needs no more. ``graph_bytes`` is what the links of all levels take, which is most of what such a run needs.
"""

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.relay import paths
from weft.pipelines.experiments.relay.topics import Skips
from weft.sim.vector.layout import Longs

TOPICS_MAX = {10: 4_000, 1_000: 400}
"""Looked at, by the size of a topic."""
SENDERS_MAX = 25
"""Publishers of a topic that are looked at."""

COLUMNS = {
    "method": str,
    "pattern": str,
    "hops": float,
    "longest": int,
    "ways": int,
    "levels": float,
    "graph_bytes": float,
}


def model(point: Point, seed: int) -> Rows:
    """A row for each pattern and method; levels and bytes are a node's, of the Skip Graph."""
    nodes = int(point["nodes"])
    skips = Skips.of(nodes, seed)
    found = []
    for pattern, (publishers, subscribers) in paths.PATTERNS.items():
        topics = TOPICS_MAX[publishers + subscribers]
        ours = paths.proposed(skips.graph, publishers, subscribers, topics, SENDERS_MAX)
        found.append((paths.PROPOSED, pattern, ours))
        for method, ways in paths.scribe(skips, publishers, subscribers, seed, topics):
            found.append((method, pattern, ways))
    return {
        "method": [method for method, _, _ in found],
        "pattern": [pattern for _, pattern, _ in found],
        "hops": [mean(ways) for _, _, ways in found],
        "longest": [int(np.flatnonzero(ways)[-1]) for _, _, ways in found],
        "ways": [int(ways.sum()) for _, _, ways in found],
        "levels": [skips.graph.links.size / 2 / nodes] * len(found),
        "graph_bytes": [skips.graph.nbytes / nodes] * len(found),
    }


def mean(ways: Longs) -> float:
    """Of ways by length."""
    return float((np.arange(ways.size) * ways).sum() / ways.sum())
