"""MIGRATE's measuring set-up, which all of its experiments share: eight switches in a line, a broker on each (figure 4).

Members a … h stand at switches 1 … 8; a publishes. Their places in key order are drawn: PeerIDs are random (§5.2).
"""

from dataclasses import dataclass

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.keys import ALM, OFM, Key, KeyRange, Segment, segment_range, topic_key
from weft.sim.des import shapes
from weft.sim.migration.rejoin import Counting
from weft.sim.vector.physical import Line, Ofm

MEMBERS = 8
TOPIC = "topic"
LATENCY_MS = 20.0
"""Stated, for whoever handles a message. A Suzaku join among these members is 18 to 20 messages one after the other, and the
shortest interval between joins at which nothing timed out was 350 ms (§6.1): 18 to 19 ms a message, in round figures."""

SETTLED_S = 60.0
"""All is over by then, refused leaves that are tried again included."""

PUBLISHER = 0
"""Where a stands: the first switch of the line."""


@dataclass(frozen=True, slots=True)
class Setup:
    """``places[i]`` is where the i-th member in key order stands; its broker is number i + 1."""

    places: tuple[int, ...]

    @classmethod
    def drawn(cls, seed: int) -> "Setup":
        places = list(range(MEMBERS))
        Rng(seed, 1).shuffle(places)
        return cls(tuple(places))

    @property
    def publisher(self) -> int:
        """a's place in key order."""
        return self.places.index(PUBLISHER)

    def broker(self, place: int) -> NodeId:
        """Whose broker stands at ``place``."""
        return NodeId(self.places.index(place) + 1)

    def keys(self, segment: Segment = ALM) -> list[Key]:
        return [topic_key(TOPIC, segment, NodeId(number)) for number in range(1, MEMBERS + 1)]

    def network(self, latency_ms: float) -> Counting:
        topology = shapes.line(MEMBERS, delay_ms=0.0)
        for number, place in enumerate(self.places, 1):
            topology.place(NodeId(number), f"s{place + 1}")
        return Counting(topology, latency_ms / 1_000)

    @property
    def fabric(self) -> Line:
        return Line(MEMBERS)

    def ofm(self) -> Ofm:
        """The tree that reaches every member."""
        return self.fabric.ofm([1] * MEMBERS, PUBLISHER)


def members_of(segment: Segment) -> KeyRange:
    """All members of one segment of the topic."""
    return segment_range(*topic_key(TOPIC, segment, NodeId(1))[:2], segment)


ALM_RANGE, OFM_RANGE = members_of(ALM), members_of(OFM)


def query_hops(gate: int) -> int:
    """M_Q with OFGate behind switch number ``gate`` from 0: the question and its answer."""
    return 2 * abs(gate - PUBLISHER)
