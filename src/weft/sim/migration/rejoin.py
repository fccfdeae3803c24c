"""Migration by rejoin on real overlay machines (MIGRATE §6.1), and hops on the switches' links for each publish.

For experiments, before the product migrates by itself. Each member joins the other segment, and all leave the old one when all
have begun to join: the three intervals of MIGRATE's figure 8.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.core.rand import Rng
from weft.overlay.api import Query
from weft.overlay.keys import Key, KeyRange
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.overlay.spread.messages import Scatter
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Network, Passage, Transit
from weft.sim.des.physical import Physical
from weft.sim.des.topology import Topology
from weft.sim.whole import whole_skipgraph, whole_suzaku

STILL = Settings(ping_interval_s=None, update_interval_s=None, lost_interval_s=None, walk_interval_s=None)
"""Nothing periodic: what is sent belongs to a join, a leave or a publish. Tables stay as joins and leaves make them."""

_WHOLE: dict[str, Callable[..., Mapping[NodeId, Peer]]] = {"suzaku": whole_suzaku, "skipgraph": whole_skipgraph}


class Intervals(NamedTuple):
    """Between the members' joins, from the last join's start to the first leave's, and between the leaves."""

    join_s: float
    suspend_s: float
    leave_s: float

    def lasting(self, members: int) -> float:
        """From the first join's start to the last leave's."""
        return (members - 1) * (self.join_s + self.leave_s) + self.suspend_s


class Move(NamedTuple):
    """A broker's key and the one that it is to have instead."""

    old: Key
    new: Key


def whole(overlay: str, keys: Sequence[Key], network: Network, seed: int, upkeep: bool = False) -> Simulation:
    """Machines of ``overlay`` in a ring that starts converged, one key each; ``upkeep``: with all that is periodic."""
    settings = Settings() if upkeep else STILL
    simulation = Simulation(seed, network)
    for node, peer in _WHOLE[overlay]({key.broker: [key] for key in keys}, settings, seed).items():
        simulation.add(node, peer)
    return simulation


def rejoin(simulation: Simulation, moves: Sequence[Move], intervals: Intervals, start: float) -> None:
    """All of ``moves``, in that order; a joining key is introduced by its broker's own old one."""
    leaving = start + (len(moves) - 1) * intervals.join_s + intervals.suspend_s
    for number, move in enumerate(moves):
        join(simulation, move.new, start + number * intervals.join_s)
        leave(simulation, move.old, leaving + number * intervals.leave_s)


def join(simulation: Simulation, key: Key, at: float) -> None:
    simulation.do(key.broker, lambda peer, now, out: peer.join(now, key, None, out), at=at)  # type: ignore[attr-defined]


def leave(simulation: Simulation, key: Key, at: float) -> None:
    simulation.do(key.broker, lambda peer, now, out: peer.leave(now, key, out), at=at)  # type: ignore[attr-defined]


def publish(simulation: Simulation, sender: NodeId, wanted: KeyRange, name: Any, strategy: str, at: float) -> None:
    """Multicast ``name`` to ``wanted``; ``Counting.hops[name]`` is what that costs."""
    query = Query(wanted, name, strategy=strategy)
    simulation.do(sender, lambda peer, now, out: peer.multicast(now, query, out), at=at)  # type: ignore[attr-defined]


class Counting:
    """``topology``'s links, which take no time; each message takes ``latency_s``, half as much to half as much again.

    The latency is that of whoever handles a message: hosts and their software, not links.
    """

    def __init__(self, topology: Topology, latency_s: float) -> None:
        self.hops: Counter[Any] = Counter()
        """Links that multicasts crossed, by name."""
        self._below = Physical(topology)
        self._latency_s = latency_s
        self._rng = Rng(0)

    def begin(self, seed: int) -> None:
        self._below.begin(seed)
        self._rng = Rng(seed, 3)

    def depart(self, now: float, source: NodeId, to: NodeId, message: Message) -> Passage:
        at, links, _ = self._below.depart(now, source, to, message)
        if isinstance(message, Scatter):
            self.hops[message.asked.payload] += links
        return at + self._latency_s * self._rng.uniform(0.5, 1.5), links, None

    def onward(self, now: float, transit: Transit) -> Passage:
        return self._below.onward(now, transit)
