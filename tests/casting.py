"""Real machines on whole rings, their multicasts, and the models of the same rings: what ``tests/cross`` compares."""

from collections.abc import Sequence

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.api import Query, Received
from weft.overlay.keys import ALM, Key, KeyRange
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.overlay.spread.messages import Scatter
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Network
from weft.sim.vector.layout import Layout
from weft.sim.vector.multicast import Tree
from weft.sim.vector.skipgraph import SkipGraph, seeded
from weft.sim.vector.suzaku import Suzaku
from weft.sim.whole import whole_skipgraph, whole_suzaku

STILL = Settings(ping_interval_s=None, update_interval_s=None, lost_interval_s=None, walk_interval_s=None)


def drawn_keys(rng: Rng, brokers: int, keys_each: int, sites: int, topics: int = 3) -> list[Key]:
    """Each broker stands at one of ``sites`` and holds up to ``keys_each`` keys over ``topics`` topics and two ranks."""
    places = [(f"t{topic}", rank) for topic in range(topics) for rank in (-1, 0)]
    keys = []
    for broker in range(1, brokers + 1):
        site = rng.below(sites)
        cluster = () if site == 0 else (f"c{site}",)
        for topic, rank in rng.sample(places, 1 + rng.below(keys_each)):
            keys.append(Key("L", topic, ALM, rank, cluster, broker * 7))
    return sorted(keys)


class Ring:
    """Machines of ``overlay`` that hold ``keys``, and their model."""

    def __init__(self, overlay: str, keys: Sequence[Key], seed: int, network: Network | None = None) -> None:
        self.keys = sorted(keys)
        held: dict[NodeId, list[Key]] = {}
        for key in self.keys:
            held.setdefault(key.broker, []).append(key)
        whole = whole_suzaku if overlay == "suzaku" else whole_skipgraph
        self.simulation = Simulation(seed, network)
        self.sent: list[tuple[int, int, Scatter]] = []
        self.peers: dict[NodeId, Peer] = dict(whole(held, STILL, seed))
        for node, peer in self.peers.items():
            self.simulation.add(node, Watched(peer, self.sent))
        layout = Layout.of(self.keys)
        self.numbers = {int(node): number for number, node in enumerate(layout.ids)}
        self.model: SkipGraph | Suzaku = Suzaku(layout) if overlay == "suzaku" else seeded(layout, seed)

    def cast(self, sender: int, wanted: KeyRange, strategy: str) -> tuple[list[tuple[int, int, int]], dict[Key, int]]:
        """The machines' multicast: (source, target, hops) of each message, broker by number, and the hops to each key."""
        self.sent.clear()
        before = len(self.simulation.upward)
        query = Query(wanted, "", strategy=strategy)
        self.simulation.do(NodeId(sender), lambda peer, now, out: peer.multicast(now, query, out))
        self.simulation.run_idle(timers=False)
        edges = [(self.numbers[source], self.numbers[to], scatter.hops) for source, to, scatter in self.sent]
        events = [event for _, _, event in self.simulation.upward[before:] if isinstance(event, Received)]
        reached = {event.key: event.hops for event in events}
        assert len(reached) == len(events), "delivered twice"
        return sorted(edges), reached


class Watched:
    """A machine that tells of each Scatter it receives."""

    def __init__(self, peer: Peer, sent: list[tuple[int, int, Scatter]]) -> None:
        self.peer = peer
        self.sent = sent

    @property
    def deadline(self) -> float | None:
        return self.peer.deadline

    def receive(self, now, source, message, out) -> None:
        if isinstance(message, Scatter):
            self.sent.append((source, self.peer.local.node, message))
        self.peer.receive(now, source, message, out)

    def timeout(self, now, out) -> None:
        self.peer.timeout(now, out)

    def multicast(self, now, query, out) -> int:
        return self.peer.multicast(now, query, out)


def edges(tree: Tree) -> list[tuple[int, int, int]]:
    """The model's messages, as ``Ring.cast`` gives them."""
    return sorted((int(source), int(target), int(hops)) for source, target, hops, _ in tree.messages)
