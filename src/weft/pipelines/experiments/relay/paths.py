"""How long the ways from each publisher to each subscriber of its topic are (RELAY §6.2), by the proposed method and by Scribe.

Every node is in one topic, and all topics have the same size. Proposed: `binary` over a Skip Graph of the topics' keys. Scribe:
over a Skip Graph of as many nodes; a publisher knows the root and sends it one message, unless it is the root. The same
membership vectors serve both. ``from the root`` leaves that one message out.
"""

from collections.abc import Iterator

import numpy as np

from weft.core.limits import TTL_HOPS
from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.relay.topics import DEALING, Skips, dealt, targets
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Longs, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.scribe import tree
from weft.sim.vector.skipgraph import SkipGraph

PROPOSED, SCRIBE, FROM_ROOT = "proposed", "Scribe", "Scribe from the root"

PATTERNS = {
    "alpha": (10, 990),
    "beta": (500, 500),
    "gamma": (990, 10),
    "delta": (1, 9),
    "epsilon": (5, 5),
    "zeta": (9, 1),
}
"""Table 2: publishers and subscribers of a topic."""

LENGTHS = 4 * TTL_HOPS
"""No way is so long: a node's way to Scribe's root is about log2 N, and in the last ring a walk."""

ALL = 1 << 30
OVERLAYS_MAX = 1_000
"""In one run."""

MEANS = {"method": str, "hops": float, "longest": int}
HISTOGRAM = {"method": str, "hops": int, "ways": int}


def means(point: Point, seed: int) -> Rows:
    """The mean over all publishers and their subscribers, and the longest of all ways."""
    found = list(_histograms(point, seed))
    hops = np.arange(LENGTHS)
    return {
        "method": [method for method, _ in found],
        "hops": [float((hops * ways).sum() / ways.sum()) for _, ways in found],
        "longest": [int(np.flatnonzero(ways)[-1]) for _, ways in found],
    }


def distribution(point: Point, seed: int) -> Rows:
    """How many ways have each length."""
    found = [(method, ways, np.flatnonzero(ways)) for method, ways in _histograms(point, seed)]
    return {
        "method": [method for method, _, lengths in found for _ in lengths],
        "hops": np.concatenate([lengths for _, _, lengths in found]),
        "ways": np.concatenate([ways[lengths] for _, ways, lengths in found]),
    }


def _histograms(point: Point, seed: int) -> Iterator[tuple[str, Longs]]:
    """Over ``overlays`` overlays: a small one has few topics, and one topic's ways have much in common."""
    nodes, overlays = int(point["nodes"]), int(point["overlays"])
    publishers, subscribers = PATTERNS[str(point["pattern"])]
    found: dict[str, Longs] = {}
    for overlay in range(overlays):
        own = seed * OVERLAYS_MAX + overlay
        skips = Skips.of(nodes, own)
        for method, ways in (
            (PROPOSED, proposed(skips.graph, publishers, subscribers)),
            *scribe(skips, publishers, subscribers, own),
        ):
            found[method] = found.get(method, 0) + ways
    yield from found.items()


def proposed(graph: SkipGraph, publishers: int, subscribers: int, topics: int = ALL, senders: int = ALL) -> Longs:
    """Ways by length. Of the topics that fill the overlay every n-th is looked at, and of its publishers likewise."""
    size, ways = publishers + subscribers, np.zeros(LENGTHS, np.int64)
    count = graph.layout.size // size
    for topic in range(0, count, max(1, count // topics)):
        low = topic * size
        span = Span(low + publishers, low + size)
        for sender in range(low, low + publishers, max(1, publishers // senders)):
            found = multicast(graph, sender, span, "binary")
            assert not found.lost, "a way longer than any message goes"
            ways += np.bincount(found.depths, minlength=LENGTHS)
    return ways


def scribe(
    skips: Skips, publishers: int, subscribers: int, seed: int, topics: int = ALL
) -> Iterator[tuple[str, Longs]]:
    """Ways by length, with and without the message to the root."""
    over, size = skips.substrate, publishers + subscribers
    members = dealt(Draws(seed, int(DEALING)), over.size, size)[:topics]
    ways, below = np.zeros(LENGTHS, np.int64), np.zeros(LENGTHS, np.int64)
    for target, topic in zip(targets(seed, len(members), over.net.digits), members, strict=True):
        found = tree(over, target, topic[publishers:])
        reached = np.bincount(found.reached, minlength=LENGTHS)
        roots = int(np.count_nonzero(topic[:publishers] == found.root))
        below += publishers * reached
        ways += roots * reached
        ways[1:] += (publishers - roots) * reached[:-1]
    yield SCRIBE, ways
    yield FROM_ROOT, below
