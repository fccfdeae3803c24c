"""Brokers in the event simulator that join, leave, crash and are cut off as a list of steps says, under the ring's invariants.

``Churn`` applies what Hypothesis draws. I3 and I5 are checked after every event, I1 and I2 too as long as nobody has failed.
Broker 1 founds the ring and stays; the others come and go.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from weft.core.ids import NodeId
from weft.core.machine import Event
from weft.overlay.api import Joined, JoinFailed, Left, Ref
from weft.overlay.keys import Key, number_key
from weft.overlay.peer import Peer
from weft.overlay.ring.messages import Seq
from weft.overlay.settings import Settings
from weft.sim.des.engine import Simulation
from weft.sim.des.faults import FaultPlan, Partition
from weft.sim.des.injection import Injector
from weft.sim.des.network import Uniform
from weft.sim.des.trace import Level, Trace
from weft.sim.invariants import Broken, RingCheck, no_violations

QUICK = Settings(
    ping_interval_s=1.0,
    ping_timeout_s=0.5,
    request_timeout_s=0.5,
    retry_wait_s=0.1,
    hop_timeout_s=0.3,
    shun_s=2.0,
    lost_interval_s=2.0,
    update_interval_s=1.0,
)
"""The defaults, some ten times as fast."""

FOUNDER = NodeId(1)
QUIET_S = 5.0
"""So long nothing must change: several pings."""


class Step(NamedTuple):
    """``verb`` at ``broker`` with key ``number``, after ``wait_s``."""

    verb: str
    broker: int
    number: int
    wait_s: float


class Churn:
    """``brokers`` machines; ``apply`` steps, then ``settle``."""

    def __init__(
        self, kind: type[Peer], brokers: int, seed: int = 0, settings: Settings = QUICK, jitter_s: float = 0.05
    ) -> None:
        self.kind = kind
        self.seed = seed
        self.settings = settings
        self.faults = Injector(FaultPlan(seed))
        self.simulation = Simulation(seed, Uniform(0.005, jitter_s), self.faults, Trace(Level.DIGEST))
        self.check = RingCheck()
        self.unfailed = True
        self.cut_until = 0.0
        self.runs = dict.fromkeys(range(1, brokers + 1), 0)
        self.wanted: dict[Key, None] = {}
        self.simulation.observers.append(self._observe)
        self.simulation.on_deliver = self._heard
        for broker in self.runs:
            self.simulation.add(NodeId(broker), kind(NodeId(broker), settings, seed))
        self._join(1, 0)

    @property
    def peers(self) -> dict[NodeId, Peer]:
        return self.simulation.machines  # type: ignore[return-value]

    def _observe(self, simulation: Simulation) -> None:
        if simulation.node is not None:
            self.check.always(self.peers, simulation.node)
            if self.unfailed:
                self.check.unfailed(self.peers.values(), simulation.in_flight)

    def _heard(self, now: float, node: NodeId, event: Event, out: object) -> None:
        if isinstance(event, JoinFailed):
            self.wanted.pop(event.key, None)
        elif isinstance(event, Left) and event.key in self.wanted:
            raise Broken(f"{event.key} left, but nobody told it to")
        elif isinstance(event, Joined) and event.key not in self.peers[node].keys():
            raise Broken(f"{event.key} joined, but is not there")

    # what may be done

    def apply(self, steps: Sequence[Step]) -> "Churn":
        for step in steps:
            self.run(step.wait_s)
            getattr(self, f"_{step.verb}")(step.broker, step.number)
        return self

    def run(self, seconds: float) -> None:
        self.simulation.run(until=self.simulation.now + seconds)

    def _join(self, broker: int, number: int) -> None:
        key, node = number_key(number, NodeId(broker)), NodeId(broker)
        peer = self.peers.get(node)
        if peer is not None and not peer.is_member(key):
            self.wanted[key] = None
            introducer = None if node == FOUNDER else FOUNDER
            self.simulation.do(node, lambda peer, now, out: peer.join(now, key, introducer, out))

    def _leave(self, broker: int, number: int) -> None:
        key, node = number_key(number, NodeId(broker)), NodeId(broker)
        peer = self.peers.get(node)
        if peer is not None and key in self.wanted and peer.is_member(key) and (node, number) != (FOUNDER, 0):
            del self.wanted[key]
            self.simulation.do(node, lambda peer, now, out: peer.leave(now, key, out))

    def _crash(self, broker: int, number: int) -> None:
        node = NodeId(broker)
        if node in self.peers and node != FOUNDER:
            self.unfailed = False
            self.simulation.crash(node)
            self.wanted = {key: None for key in self.wanted if key.broker != node}

    def _restart(self, broker: int, number: int) -> None:
        self._crash(broker, number)
        node = NodeId(broker)
        if node not in self.peers:
            self.runs[broker] += 1
            self.simulation.restart(node, self.kind(node, self.settings, self.seed, self.runs[broker]))
            self._join(broker, number)

    def _cut(self, broker: int, number: int) -> None:
        """Nothing passes between ``broker`` and those after it, and the others, for some seconds."""
        self.unfailed = False
        ones = tuple(node for node in self.peers if broker <= node)
        others = tuple(node for node in self.peers if node < broker)
        now = self.simulation.now
        until = now + 1.0 + 2 * number
        self.cut_until = max(self.cut_until, until)
        for source, to in ((ones, others), (others, ones)):
            self.faults.schedule(Partition(at=now, until=until, source=source, to=to))

    # what must be true

    def whole(self) -> None:
        """Raises unless the ring is whole and holds just those that it should."""
        self.check.at_rest(self.peers.values())
        held = {key for peer in self.peers.values() for key in peer.keys()}
        if held != set(self.wanted):
            raise Broken(f"in the ring {sorted(held)}, wanted {sorted(self.wanted)}")

    def settle(self, limit_s: float, *also: Callable[[], None]) -> float:
        """Until the ring is whole and stays as it is, and what ``also`` checks holds too; how long that took."""
        self.run(max(0.0, self.cut_until - self.simulation.now))
        start = self.simulation.now
        before = None
        while before is None or before != self._state():
            before = self._state()
            self.run(QUIET_S)
            try:
                self.whole()
                for holds in also:
                    holds()
            except Broken:
                before = None
                if self.simulation.now - start > limit_s:
                    raise
        no_violations(self.peers.values())
        return self.simulation.now - start

    def _state(self) -> dict[Ref, tuple[Ref, Ref, Seq]]:
        links = self.check.links(self.peers.values()).values()
        return {link.me: (link.left, link.right, link.left_seq) for link in links}
