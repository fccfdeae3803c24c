"""Real Skip Graph machines in the event simulator, and their tables held to ``static_levels``."""

from collections import Counter
from collections.abc import Sequence

from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.overlay.api import Event, Found
from weft.overlay.keys import Key, number_key
from weft.overlay.ring.messages import Status
from weft.overlay.settings import Settings
from weft.overlay.skipgraph.geometry import static_levels
from weft.overlay.skipgraph.machine import SkipGraph
from weft.sim.des.engine import Simulation
from weft.sim.des.faults import FaultPlan, Partition
from weft.sim.des.injection import Injector
from weft.sim.des.network import Uniform
from weft.sim.des.trace import Level, Trace

BARE = Settings(ping_interval_s=None, walk_interval_s=None, lost_interval_s=None)
"""No upkeep: the bare protocol, whose messages can be counted."""

QUICK = Settings(
    ping_interval_s=1.0,
    ping_timeout_s=0.4,
    request_timeout_s=0.4,
    walk_timeout_s=0.4,
    hop_timeout_s=0.3,
    retry_wait_s=0.1,
    shun_s=2.0,
    lost_interval_s=2.0,
    walk_interval_s=6.0,
)
"""The defaults, five times as fast."""


class Rings:
    """``nodes`` brokers, ``keys`` keys each, drawn from ``seed``; ``keys`` may also be given as they are."""

    def __init__(
        self,
        nodes: int,
        keys: int | Sequence[Key] = 1,
        *,
        seed: int = 0,
        settings: Settings = QUICK,
        vectors: Sequence[int] | None = None,
        jitter_s: float = 0.01,
        trace: Level = Level.OFF,
    ) -> None:
        self.rng = Rng(seed, 1)
        self.settings = settings
        self.faults = Injector(FaultPlan(seed))
        self.simulation = Simulation(seed, Uniform(0.005, jitter_s), self.faults, Trace(trace))
        for node in range(1, nodes + 1):
            vector = None if vectors is None else vectors[node - 1]
            self.simulation.add(NodeId(node), SkipGraph(NodeId(node), settings, seed, vector=vector))
        if isinstance(keys, int):
            drawn = [self.key(node) for node in range(1, nodes + 1) for _ in range(keys)]
            self.rng.shuffle(drawn)
            self.keys = list(dict.fromkeys(drawn))
        else:
            self.keys = list(keys)

    def key(self, node: int) -> Key:
        return number_key(self.rng.below(10**9), NodeId(node))

    @property
    def peers(self) -> dict[NodeId, SkipGraph]:
        return self.simulation.machines  # type: ignore[return-value]

    def join(self, key: Key, at: float | None = None) -> None:
        first = self.keys[0]
        via = None if key == first else first.broker
        self.simulation.do(key.broker, lambda m, now, out: m.join(now, key, via, out), at)

    def join_all(self, gap_s: float) -> "Rings":
        """One after the other; a gap of 0 is a storm."""
        for place, key in enumerate(self.keys):
            self.join(key, self.simulation.now + gap_s * place + (0.1 if place and not gap_s else 0.0))
        self.run(gap_s * len(self.keys) + 1.0)
        return self

    def leave(self, key: Key, at: float | None = None) -> None:
        self.simulation.do(key.broker, lambda m, now, out: m.leave(now, key, out), at)

    def run(self, seconds: float) -> None:
        self.simulation.run(until=self.simulation.now + seconds)

    def cut(self, ones: Sequence[NodeId], seconds: float) -> None:
        """Nothing passes between ``ones`` and the others, for a while."""
        others = [node for node in self.peers if node not in ones]
        for source, to in ((ones, others), (others, ones)):
            begin, end = self.simulation.now, self.simulation.now + seconds
            self.faults.schedule(Partition(at=begin, until=end, source=tuple(source), to=tuple(to)))
        self.run(seconds)

    # Looking

    def wrong(self) -> list[str]:
        """Where the tables are not what the keys and vectors make them; empty when converged."""
        links = {place: link for peer in self.peers.values() for place, link in peer.ring.links.items()}
        wanted = static_levels((key, self.peers[key.broker].vector) for level, key in links if level == 0)
        faults = [f"{place} is {link.status}" for place, link in links.items() if link.status is not Status.IN]
        for key, table in wanted.items():
            for level, (left, right) in enumerate(table):
                link = links.pop((level, key), None)
                if link is None:
                    faults.append(f"{key} has no level {level}")
                elif (link.left.key, link.right.key) != (left, right):
                    faults.append(f"{key} at {level}: {link.left.key} {link.right.key}, wanted {left} {right}")
        return faults + [f"{key} should not be at level {level}" for level, key in links]

    def settle(self, limit_s: float) -> float:
        """Run until converged; how long that took."""
        start = self.simulation.now
        while faults := self.wrong():
            assert self.simulation.now - start < limit_s, faults
            self.run(1.0)
        return self.simulation.now - start

    def events(self, kind: type[Event]) -> list[Event]:
        return [event for _, _, event in self.simulation.upward if isinstance(event, kind)]

    def lookups(self, count: int) -> list[Found]:
        """``count`` lookups of random places from random brokers, one at a time."""
        before = len(self.events(Found))
        for _ in range(count):
            key = number_key(self.rng.below(10**9), NodeId(1))
            node = self.rng.choice(self.keys).broker
            self.simulation.do(node, lambda m, now, out, key=key: m.lookup(now, key, out))
            self.run(1.0)
        return [event for event in self.events(Found)[before:] if isinstance(event, Found)]

    def counts(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for peer in self.peers.values():
            total.update(peer.local.counts)
        return total
