"""How large the routing tables are, with and without redundancy (RELAY §6.4).

Proposed: a multi-key Skip Graph, a key for each topic of a node. Scribe: a Skip Graph with one key a node, and for each topic
the children of each forwarder; a publisher keeps the root of each of its topics (§5.4). With redundancy every entry counts;
without, every different physical node.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.relay.topics import (
    DEALING,
    PUBLISHES,
    SUBSCRIBES,
    Keys,
    Skips,
    drawn,
    targets,
)
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Ints, Longs
from weft.sim.vector.scribe import tree
from weft.sim.vector.skipgraph import seeded
from weft.sim.vector.storage import Kept, kept

PROPOSED, SCRIBE = "proposed", "Scribe"
AVERAGES = {
    "method": str,
    "entries": float,
    "foreign": float,
    "nodes_known": float,
    "rings": float,
    "topics_part": float,
}
"""``foreign``: without entries for one's own other keys. ``rings``: entries if the lists' ends are joined. ``topics_part``:
what Scribe keeps for topics alone."""

SIZES = {"method": str, "node_topics": int, "entries": int, "foreign": int, "normalised": float}


def averages(point: Point, seed: int) -> Rows:
    """Half of the nodes publish on ``each`` topics, the other half subscribe to as many (figure 14)."""
    nodes, topics, each = int(point["nodes"]), int(point["topics"]), int(point["each"])
    node = np.repeat(np.arange(nodes), each)
    topic = drawn(Draws(seed, int(DEALING)), nodes, topics, each).ravel()
    role = np.where(node < nodes // 2, PUBLISHES, SUBSCRIBES)
    keys = Keys.of(nodes, topics, topic, role, node)
    rows = [_average(PROPOSED, *_proposed(keys, seed), 0.0)]
    own, total, rings = _scribe(keys, topics, seed)
    rows.append(_average(SCRIBE, total, rings, float((total.entries - own.entries).mean())))
    return {name: [row[at] for row in rows] for at, name in enumerate(AVERAGES)}


def sizes(point: Point, seed: int) -> Rows:
    """Node i subscribes to i + 1 of as many topics as there are nodes (figure 15); a row for each node."""
    nodes = int(point["nodes"])
    draws = Draws(seed, int(DEALING))
    topic = np.concatenate([draws.shuffled(nodes)[: each + 1] for each in range(nodes)]).astype(np.int64)
    node = np.repeat(np.arange(nodes), np.arange(1, nodes + 1))
    keys = Keys.of(nodes, nodes, topic, np.full(topic.size, SUBSCRIBES), node)
    found = [(PROPOSED, _proposed(keys, seed)[0]), (SCRIBE, _scribe(keys, nodes, seed)[1])]
    return {
        "method": np.repeat([method for method, _ in found], nodes),
        "node_topics": np.tile(np.arange(1, nodes + 1), 2),
        "entries": np.concatenate([each.entries for _, each in found]),
        "foreign": np.concatenate([each.foreign for _, each in found]),
        "normalised": np.concatenate([normalised(each.entries) for _, each in found]),
    }


def normalised(sizes: Longs) -> npt.NDArray[np.float64]:
    """RELAY §6.3: the least becomes 0, the greatest 1."""
    span = max(1, int(np.ptp(sizes)))
    return np.asarray((sizes - sizes.min()) / span, np.float64)


def _proposed(keys: Keys, seed: int) -> tuple[Kept, float]:
    graph = seeded(keys.layout, seed)
    return kept(graph), float(kept(graph, lists=False).entries.mean())


def _scribe(keys: Keys, topics: int, seed: int) -> tuple[Kept, Kept, float]:
    """The Skip Graph alone, all together, and all together in rings."""
    skips = Skips.of(keys.layout.brokers, seed)
    pairs = list(_kept_for_topics(keys, skips, topics, seed))
    keepers = np.concatenate([keeper for keeper, _ in pairs]).astype(np.int32)
    others = np.concatenate([other for _, other in pairs]).astype(np.int32)
    own, total = kept(skips.graph), kept(skips.graph, keepers=keepers, others=others)
    rings = kept(skips.graph, lists=False).entries.mean() + (total.entries - own.entries).mean()
    return own, total, float(rings)


def _kept_for_topics(keys: Keys, skips: Skips, topics: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """(who keeps, whom): forwarders their children, publishers the root."""
    over = skips.substrate
    for topic, target in enumerate(targets(seed, topics, over.net.digits)):
        found = tree(over, target, keys.subscribers(topic))
        yield found.parents, found.nodes
        publishers = keys.publishers(topic)
        yield publishers, np.full(publishers.size, found.root, np.int32)


def _average(
    method: str, found: Kept, rings: float, topics_part: float
) -> tuple[str, float, float, float, float, float]:
    own, foreign, brokers = (float(each.mean()) for each in found)
    return method, own, foreign, brokers, rings, topics_part
