"""What a node forwards beside what it sends or receives itself (RELAY §6.3): one publisher and 1,000 subscribers a topic.

Topic i's publisher publishes i + 1 times. A message goes the same way each time, so a tree is walked once and counted as often
as it is used. ``shown``: all publishers, and a random 1,000 of the subscribers, as the figures have them.
"""

import numpy as np

from weft.pipelines.experiments.experiment import Point, Rows
from weft.pipelines.experiments.relay.topics import CHOOSING, DEALING, Skips, dealt, targets
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Ints, Longs, Span
from weft.sim.vector.multicast import multicast
from weft.sim.vector.scribe import tree

PROPOSED, SCRIBE = "proposed", "Scribe"
PUBLISHER, SUBSCRIBER = "publisher", "subscriber"
SHOWN = 1_000

COLUMNS = {
    "method": str,
    "role": str,
    "node": int,
    "own": int,
    "forwarded": int,
    "ratio": float,
    "most": int,
    "shown": bool,
}
"""``own``: messages sent by a publisher, received by a subscriber; ``ratio``: forwarded over own. ``most``: forwards of one
message, of whatever topic."""


def model(point: Point, seed: int) -> Rows:
    """A row for each node and method."""
    topics, subscribers = int(point["topics"]), int(point["subscribers"])
    skips = Skips.of(topics * (1 + subscribers), seed)
    ordered = np.arange(skips.graph.layout.size, dtype=np.int32).reshape(topics, 1 + subscribers)
    scattered = dealt(Draws(seed, int(DEALING)), ordered.size, 1 + subscribers)
    both = [_rows(PROPOSED, ordered, *proposed(skips, ordered), seed)]
    both.append(_rows(SCRIBE, scattered, *scribe(skips, scattered, seed), seed))
    return {name: np.concatenate([np.asarray(rows[name]) for rows in both]) for name in COLUMNS}


def proposed(skips: Skips, members: Ints) -> tuple[Longs, Longs]:
    """What each node forwards in all, and of one message; a topic's publisher stands left of its subscribers."""
    forwarded = np.zeros(members.size, np.int64)
    most = np.zeros(members.size, np.int64)
    for times, topic in enumerate(members, start=1):
        low, high = int(topic[0]), int(topic[-1]) + 1
        once = multicast(skips.graph, low, Span(low + 1, high), "binary").forwards()
        forwarded += times * once
        most = np.maximum(most, once)
    return forwarded, most


def scribe(skips: Skips, members: Ints, seed: int) -> tuple[Longs, Longs]:
    """The same over the trees of as many roots; a publisher's message to the root is one it forwards."""
    over = skips.substrate
    forwarded = np.zeros(members.size, np.int64)
    most = np.zeros(members.size, np.int64)
    for times, (target, topic) in enumerate(
        zip(targets(seed, len(members), over.net.digits), members, strict=True), start=1
    ):
        found = tree(over, target, topic[1:])
        once = found.forwards(np.zeros(members.size, np.int64))
        once[topic[0]] += topic[0] != found.root
        forwarded += times * once
        most = np.maximum(most, once)
    return forwarded, most


def _rows(method: str, members: Ints, forwarded: Longs, most: Longs, seed: int) -> Rows:
    topics, size = members.shape
    shown = np.zeros(topics * (size - 1), np.bool_)
    shown[Draws(seed, int(CHOOSING)).shuffled(shown.size)[:SHOWN]] = True
    nodes = np.concatenate((members[:, 0], members[:, 1:].ravel()))
    times = np.arange(1, topics + 1)
    own = np.concatenate((times, np.repeat(times, size - 1)))
    return {
        "method": np.full(nodes.size, method),
        "role": np.repeat([PUBLISHER, SUBSCRIBER], [topics, topics * (size - 1)]),
        "node": nodes.astype(np.int64),
        "own": own,
        "forwarded": forwarded[nodes],
        "ratio": forwarded[nodes] / own,
        "most": most[nodes],
        "shown": np.concatenate((np.ones(topics, np.bool_), shown)),
    }
