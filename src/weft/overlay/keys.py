"""Keys and their order: ``(shape, literals, segment, rank, cluster, broker)``, compared part by part.

shape     a topic filter with its literals blanked (``L/+/L/#``); a concrete topic is the shape of literals only
literals  the literal levels joined by U+0000, which is below every character of a topic: the order is level-wise
segment   one role on one topic: ``pub < alm < ofm < share:<group>`` (RELAY §5.3.1, MIGRATE §5.1, one boundary rule)
rank      0 for who joins; a node renamed into a neighbour's segment takes a rank that keeps its place
cluster   a locality path, compared component by component, the shorter prefix first
broker    the node id: makes keys unique

The overlays use the order and nothing else; ``spread`` also looks at clusters. Circular order lives here because every
layer above needs it: the ring has no beginning, but a range does, and wrap-around is never part of a range.
"""

from typing import NamedTuple

from weft.core.errors import Misuse
from weft.core.ids import NODE_ID_MAX, NodeId

TOPIC_BYTES_MAX = 65_535
CLUSTER_DEPTH_MAX = 8
RANK_LIMIT = 1 << 62

LEVEL_SEPARATOR = "\x00"
_AFTER_ANY = "\U0010ffff"


class Segment(NamedTuple):
    """A role; ``group`` is the name of a shared subscription's group, else empty."""

    order: int
    group: str = ""


PUB = Segment(0)
ALM = Segment(1)
OFM = Segment(2)


def share(group: str) -> Segment:
    """The segment of shared subscription ``group``."""
    return Segment(3, group)


class Key(NamedTuple):
    """A virtual node's place in the one order of the overlay."""

    shape: str
    literals: str
    segment: Segment
    rank: int
    cluster: tuple[str, ...]
    broker: NodeId

    @property
    def locality(self) -> tuple[str, str, Segment, int, tuple[str, ...]]:
        """What the neighbours in one cluster have in common: ``spread``'s unit of travel between sites."""
        return self[:5]


def check_key(key: Key) -> Key:
    """``key`` itself, or ``Misuse`` if it cannot be a virtual node's key."""
    if len(key.literals.encode()) > TOPIC_BYTES_MAX or len(key.shape) > TOPIC_BYTES_MAX:
        raise Misuse(f"topic longer than {TOPIC_BYTES_MAX} bytes")
    if len(key.cluster) > CLUSTER_DEPTH_MAX:
        raise Misuse(f"cluster path deeper than {CLUSTER_DEPTH_MAX}: {'/'.join(key.cluster)}")
    if not 0 < key.broker <= NODE_ID_MAX:
        raise Misuse(f"broker id {key.broker} is not in 1…{NODE_ID_MAX}")
    if not -RANK_LIMIT < key.rank < RANK_LIMIT:
        raise Misuse(f"rank {key.rank} is out of bounds")
    return key


def filter_parts(topic_filter: str) -> tuple[str, str]:
    """``(shape, literals)`` of an MQTT topic or filter, already validated as such.

    A ``$``-topic has a root of its own, which ``+`` and ``#`` never match [MQTT-4.7.2-1]: its shape starts with ``$``.
    Trailing empty levels count: ``a/`` is not ``a``.
    """
    levels = topic_filter.split("/")
    wild = ("+", "#")
    shape = "/".join(level if level in wild else "L" for level in levels)
    literals = LEVEL_SEPARATOR.join(level for level in levels if level not in wild)
    return ("$" + shape if topic_filter.startswith("$") else shape), literals


def topic_key(topic_filter: str, segment: Segment, broker: NodeId, cluster: tuple[str, ...] = (), rank: int = 0) -> Key:
    """The key under which ``broker`` holds ``segment`` of ``topic_filter``."""
    shape, literals = filter_parts(topic_filter)
    return check_key(Key(shape, literals, segment, rank, cluster, broker))


def number_key(number: int, broker: NodeId, cluster: tuple[str, ...] = ()) -> Key:
    """A key that sorts as ``number`` does: for simulations that are not about topics."""
    return Key("L", f"{number:012d}", ALM, 0, cluster, broker)


class KeyRange(NamedTuple):
    """The keys ``low <= key < high``; empty if ``low >= high``. Never wraps."""

    low: Key
    high: Key

    def __contains__(self, key: object) -> bool:
        return self.low <= key < self.high  # type: ignore[operator]

    @property
    def is_empty(self) -> bool:
        return self.low >= self.high


_NO_BROKER = NodeId(-1)

EVERYTHING = KeyRange(
    Key("", "", PUB, -RANK_LIMIT, (), _NO_BROKER),
    Key(_AFTER_ANY, "", PUB, -RANK_LIMIT, (), _NO_BROKER),
)


def after(key: Key) -> Key:
    """The least bound above ``key``: ``KeyRange(key, after(key))`` holds ``key`` alone."""
    return key._replace(broker=NodeId(key.broker + 1))


def before(key: Key) -> Key:
    """The greatest bound below ``key`` that no other broker's key can lie above: where to look for its predecessor."""
    return key._replace(broker=NodeId(key.broker - 1))


def segment_range(shape: str, literals: str, segment: Segment) -> KeyRange:
    """All members of one segment of one topic."""
    low = Key(shape, literals, segment, -RANK_LIMIT, (), _NO_BROKER)
    return KeyRange(low, low._replace(rank=RANK_LIMIT))


def locality_range(key: Key) -> KeyRange:
    """All keys that share ``key``'s topic, segment, rank and cluster."""
    low = key._replace(broker=_NO_BROKER)
    return KeyRange(low, low._replace(cluster=(*key.cluster, "")))


def between(low: Key, key: Key, high: Key) -> bool:
    """Is ``key`` strictly inside the arc that runs upwards from ``low`` to ``high``? (``low == high``: the whole circle.)"""
    if low < high:
        return low < key < high
    return key > low or key < high
