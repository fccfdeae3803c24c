"""SELECT §4.7: how large the messages are that keep finger tables, level by level, with aggregated values and without.

The ring of §4.3, converged: 16 clusters and three topics make 48 labels, one for each {topic}|{cluster}; a broker's own node
has none (table 1: "null"). The messages are those of our machines, in the simulator's encoding; what the paper's messages
consist of besides labels and values it does not say. One sweep sends each level's query and reply once from each node.
"""

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.overlay.api import Ref
from weft.overlay.keys import ALM, Key
from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.des.encoding import size_of
from weft.sim.vector.layout import Layout
from weft.sim.vector.suzaku import Suzaku
from weft.sim.vector.updates import Values, exchange

TOPICS = ("c1", "c2", "c3")
CARRIED = ("all", "used", "none")
"""Values of all levels; of those that a query over the range can use (up to log2 Nr, §4.7); of none."""


def ring(brokers: int, members: int) -> list[Key]:
    """§4.3 in key order: the brokers' own nodes, then topic by topic, cluster by cluster."""
    if brokers % members:
        raise Misuse(f"{brokers} brokers are not clusters of {members}")
    keys = []
    for number in range(brokers):
        cluster, broker = (f"Edge{number // members}",), NodeId(number + 1)
        keys.append(Key("L", "B", ALM, 0, (), broker))
        keys += [Key("L", topic, ALM, 0, cluster, broker) for topic in TOPICS]
    return sorted(keys)


def label(key: Key) -> str | None:
    """{topic}|{cluster}; a broker's own node has no components."""
    return f"{key.literals}|{key.cluster[0]}" if key.cluster else None


def sizes(point: Point, seed: int) -> Rows:
    """A row for each message and level: mean, least and most bytes over all nodes, and mean label-value pairs."""
    del seed  # nothing is drawn
    brokers, members, carried = int(point["brokers"]), int(point["members"]), str(point["carried"])
    if carried not in CARRIED:
        raise Misuse(f"unknown values {carried}: one of {', '.join(CARRIED)}")
    keys = ring(brokers, members)
    refs, values = [Ref(key, key.broker, 1) for key in keys], Values([label(key) for key in keys])
    top = {"all": len(keys), "used": (members - 1).bit_length(), "none": -1}[carried]
    rows: list[tuple[str, int, float, float, float, float]] = []
    for level in range(Suzaku(Layout.of(keys)).top + 1):
        found = [exchange(refs, values, asker, level, level <= top) for asker in range(len(refs))]
        for which, message in enumerate(("query", "reply")):
            taken: npt.NDArray[np.int64] = np.array([size_of(messages[which]) for messages, _ in found])
            pairs = float(np.mean([counts[which] for _, counts in found]))
            rows.append((message, level, float(taken.mean()), float(taken.min()), float(taken.max()), pairs))
    return dict(zip(("message", "level", "mean", "least", "most", "pairs"), zip(*rows, strict=True), strict=True))
