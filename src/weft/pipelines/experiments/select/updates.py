"""SELECT §4.7: how large the messages are that keep finger tables, level by level, with aggregated values and without.

The ring of §4.3, converged: 16 clusters and three topics make 48 labels, one for each {topic}|{cluster}; a broker's own node
has none (table 1: "null"). The messages are those of our machines, in the simulator's encoding; what the paper's messages
consist of besides labels and values it does not say. One sweep sends each level's query and reply once from each node.
"""

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.limits import LEFT_NEIGHBOURS_MAX
from weft.overlay.api import Ref
from weft.overlay.keys import ALM, Key
from weft.overlay.suzaku.geometry import covered_levels, top_level
from weft.overlay.suzaku.messages import Update, UpdateAck
from weft.pipelines.experiments.experiment import Point, Rows
from weft.sim.des.encoding import size_of

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


class Values:
    """What converged tables say of a ring in which all are available: labels and sums of any stretch of nodes."""

    def __init__(self, keys: list[Key]) -> None:
        self._size = len(keys)
        labels = [label(key) for key in keys] * 2
        self._borders = [at for at in range(2 * self._size) if at == 0 or labels[at] != labels[at - 1]]
        self._labels = labels

    def of(self, begin: int, count: int) -> dict[str, float]:
        """Nodes ``begin`` … ``begin + count − 1``, round the ring."""
        begin %= self._size
        end, found = begin + count, dict[str, float]()
        at = begin
        while at < end:
            following = bisect_left(self._borders, at + 1)
            until = min(end, self._borders[following] if following < len(self._borders) else 2 * self._size)
            name = self._labels[at]
            if name is not None:
                found[name] = found.get(name, 0.0) + until - at
            at = until
        return found


def exchange(
    refs: list[Ref], values: Values, asker: int, level: int, carried: bool
) -> tuple[tuple[Update, UpdateAck], tuple[int, int]]:
    """The query and the reply of one refresh, and how many label-value pairs each carries."""
    size = len(refs)
    asked = (asker + (1 << level)) % size
    lent = values.of(asker, 1 << covered_levels(level, forward=False)) if carried else None
    told = values.of(asked, 1 << covered_levels(level, forward=True)) if carried else None
    backups = tuple(refs[(asked - step) % size] for step in range(1, LEFT_NEIGHBOURS_MAX + 1))
    query = Update(refs[asked], refs[asker], level, True, 1, lent)
    reply = UpdateAck(refs[asker], refs[asked], 1, told, refs[(asked + (1 << level)) % size], backups)
    return (query, reply), (len(lent or ()), len(told or ()))


def sizes(point: Point, seed: int) -> Rows:
    """A row for each message and level: mean, least and most bytes over all nodes, and mean label-value pairs."""
    del seed  # nothing is drawn
    brokers, members, carried = int(point["brokers"]), int(point["members"]), str(point["carried"])
    if carried not in CARRIED:
        raise Misuse(f"unknown values {carried}: one of {', '.join(CARRIED)}")
    keys = ring(brokers, members)
    refs, values = [Ref(key, key.broker, 1) for key in keys], Values(keys)
    top = {"all": len(keys), "used": (members - 1).bit_length(), "none": -1}[carried]
    rows: list[tuple[str, int, float, float, float, float]] = []
    for level in range(top_level(len(keys)) + 1):
        found = [exchange(refs, values, asker, level, level <= top) for asker in range(len(refs))]
        for which, message in enumerate(("query", "reply")):
            taken: npt.NDArray[np.int64] = np.array([size_of(messages[which]) for messages, _ in found])
            pairs = float(np.mean([counts[which] for _, counts in found]))
            rows.append((message, level, float(taken.mean()), float(taken.min()), float(taken.max()), pairs))
    return dict(zip(("message", "level", "mean", "least", "most", "pairs"), zip(*rows, strict=True), strict=True))
