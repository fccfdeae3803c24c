"""The network that a topology makes: delays add up, links with a bandwidth are queued for, and everything is counted.

Store and forward: a message is sent onto a link when the link is free in that direction, takes size ÷ bandwidth to go onto
it, and is at the other end a delay later. Only then does it queue for the next one, so such a way is walked link by link;
a way without bandwidths is one addition. Sizes are computed only if bytes are counted or a bandwidth needs them.

Invariant: the counters hold every link that a message entered, at the moment it did so.
"""

from collections import Counter
from typing import NamedTuple

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.sim.des.encoding import size_of
from weft.sim.des.network import Passage, Transit
from weft.sim.des.topology import Topology


class Traffic(NamedTuple):
    """What crossed a link in one direction; ``bytes`` is 0 unless bytes are counted."""

    messages: int
    bytes: int


class _Way:
    """The way of a pair of nodes, and what has used it."""

    __slots__ = ("arcs", "bytes", "delay_s", "links", "messages")

    def __init__(self, delay_ns: int, arcs: tuple[int, ...]) -> None:
        self.arcs = arcs
        self.links = len(arcs)
        self.delay_s = delay_ns / 1e9
        self.messages = 0
        self.bytes = 0


class Physical:
    """``count_bytes`` is implied by a bandwidth."""

    def __init__(self, topology: Topology, count_bytes: bool = False) -> None:
        self.topology = topology
        self._ways: dict[tuple[NodeId, NodeId], _Way] = {}
        self._rates = [
            None if link.bandwidth_mbps is None else link.bandwidth_mbps * 1e6 / 8 for link in topology.links
        ]
        self._delays = [link.delay_ns / 1e9 for link in topology.links]
        self._queues = any(rate is not None for rate in self._rates)
        self._sizes = count_bytes or self._queues
        self._busy: dict[int, float] = {}
        self._entered: dict[int, tuple[int, int]] = {}

    def begin(self, seed: int) -> None:
        """A topology needs no randomness; a new simulation finds the links free and the counters at 0."""
        self._ways.clear()
        self._busy.clear()
        self._entered.clear()

    def depart(self, now: float, source: NodeId, to: NodeId, message: Message) -> Passage:
        way = self._ways.get((source, to))
        if way is None:
            way = self._ways[source, to] = _Way(*self.topology.way(source, to))
        if not self._sizes:
            way.messages += 1
            return now + way.delay_s, way.links, None
        size = size_of(message)
        if self._queues and way.arcs:
            return self.onward(now, Transit(way.arcs, 0, size))
        way.messages += 1
        way.bytes += size
        return now + way.delay_s, way.links, None

    def onward(self, now: float, transit: Transit) -> Passage:
        arcs, at, size = transit
        arc = arcs[at]
        messages, total = self._entered.get(arc, (0, 0))
        self._entered[arc] = messages + 1, total + size
        rate = self._rates[arc // 2]
        if rate is not None:
            now = max(now, self._busy.get(arc, 0.0)) + size / rate
            self._busy[arc] = now
        now += self._delays[arc // 2]
        at += 1
        return now, at, None if at == len(arcs) else Transit(arcs, at, size)

    def traffic(self) -> dict[tuple[str, str], Traffic]:
        """What crossed each link, by (from, to); links that nothing crossed are left out."""
        messages: Counter[int] = Counter()
        total: Counter[int] = Counter()
        for way in self._ways.values():
            for arc in way.arcs:
                messages[arc] += way.messages
                total[arc] += way.bytes
        for arc, (count, size) in self._entered.items():
            messages[arc] += count
            total[arc] += size
        return {
            self.topology.ends(arc): Traffic(messages[arc], total[arc]) for arc in sorted(messages) if messages[arc]
        }
