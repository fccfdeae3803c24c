"""One seeded schedule: brokers join, leave, ask and multicast while everything goes wrong; then it must all come right.

A schedule is a function of its seed and a few bounds, so a failure is replayed by typing its seed. While faults last, only
what must always hold is checked (I3, I5; nobody outside a range is reached; no key is reached twice). When they have stopped
the ring must be whole, and the tables converged, within ``settle_s``; then every strategy must reach exactly the keys of random
ranges and count them right, every lookup must find its place, and the overlay must be quiet.
"""

from collections import Counter
from typing import Any

import msgspec

from weft.core.ids import NodeId
from weft.core.machine import Event, Outbox
from weft.core.rand import Rng
from weft.overlay.api import Answered, Condition, Found, Joined, JoinFailed, Left, Query, Received, Ref, Selected
from weft.overlay.keys import EVERYTHING, Key, KeyRange, after, number_key
from weft.overlay.peer import Peer
from weft.overlay.settings import Settings
from weft.sim.convergence import converged, hops_allowed
from weft.sim.des.engine import Simulation
from weft.sim.des.faults import Bounds as Harm
from weft.sim.des.faults import Crash, CrashRestart, FaultPlan
from weft.sim.des.injection import Injector
from weft.sim.des.network import Uniform
from weft.sim.des.trace import Level, Trace
from weft.sim.invariants import Broken, RingCheck, no_violations
from weft.sim.overlays import make

SETTINGS = Settings(
    ping_interval_s=1.0,
    ping_timeout_s=0.5,
    request_timeout_s=0.5,
    retry_wait_s=0.1,
    hop_timeout_s=0.3,
    shun_s=2.0,
    lost_interval_s=2.0,
    update_interval_s=1.0,
    query_timeout_s=8.0,
    walk_timeout_s=0.5,
)
"""The defaults, some ten times as fast: what matters is their order, and a schedule should not cost minutes."""

FREE = Condition("free", ">=", 1.0)
"""What Anycast looks for: SELECT's components that are available."""

SELECTIONS = ("many", "few", "close", "random")
STRATEGIES = ("binary", "split", "cluster-first", "delegate")
CALM = ("Duplicate", "JoinStorm")
"""Faults that make nobody take anybody for dead: with these only, a complete answer has everybody who was there throughout."""
STEP_S = 1.0
UNFAILED_NODES_MAX = 16
"""I1 and I2 look at every link after every event: only where that is cheap."""
QUIET_S = 5.0
QUIET_MAX = 14.0
"""Messages per link and second, most, of an overlay at rest: with one ping, one update, a notification, and their answers, each
second, and as many again for each further level of a Skip Graph."""


class Bounds(msgspec.Struct, frozen=True):
    """What schedules are drawn from."""

    overlays: tuple[str, ...] = ("suzaku", "skipgraph")
    nodes_max: int = 8
    keys_max: int = 3
    faults: tuple[str, ...] = FaultPlan.KINDS
    down_share: float = 0.25
    """At most this share of the brokers (rounded down) crashes, for good or for a while."""
    horizon_s: float = 12.0
    settle_s: float = 120.0


class Outcome(msgspec.Struct, frozen=True):
    """What a schedule that kept every rule came to."""

    seed: int
    overlay: str
    nodes: int
    links: int
    events: int
    messages: int
    faults: tuple[str, ...]
    healed_after_s: float
    converged_after_s: float
    queries: int
    trace_hash: str


class Schedule:
    """Draws everything from ``seed``, runs it, checks it. ``run`` raises ``Broken`` where a rule does not hold."""

    def __init__(self, seed: int, bounds: Bounds | None = None, level: Level = Level.OFF) -> None:
        self.bounds = bounds or Bounds()
        self.seed = seed
        self.rng = rng = Rng(seed, 7)
        self.overlay = rng.choice(self.bounds.overlays)
        self.nodes = [NodeId(n + 1) for n in range(2 + rng.below(max(1, self.bounds.nodes_max - 1)))]
        self.clusters = 1 + rng.below(4)
        self.plan = self._plan()
        injector = Injector(self.plan, make=self._life, rejoin=self._rejoin, storm=self._join_all)
        network = Uniform(0.005, rng.choice((0.0, 0.01, 0.1)))
        self.simulation = Simulation(seed, network, injector, Trace(level))
        self.simulation.on_deliver = self._heard
        self.simulation.observers.append(self._observe)
        self.keys = {node: self._keys(node) for node in self.nodes}
        self.wanted: dict[NodeId, dict[Key, None]] = {node: {} for node in self.nodes}
        self.reached: dict[int, Counter[Key]] = {}
        self.ranges: dict[int, KeyRange] = {}
        self.answers: dict[tuple[NodeId, int], Answered] = {}
        self.found: dict[tuple[NodeId, int], Found] = {}
        self.selected: dict[tuple[NodeId, int], Selected] = {}
        self._lives: set[tuple[int, Ref]] = set()
        self._asked: dict[tuple[NodeId, int], tuple[int, list[Ref]]] = {}
        self._calm = all(type(fault).__name__ in CALM for fault in self.plan.faults)
        self._check = RingCheck()
        self._unfailed = not self.plan.faults and len(self.nodes) <= UNFAILED_NODES_MAX

    # Drawing

    def _plan(self) -> FaultPlan:
        kinds = tuple(kind for kind in self.bounds.faults if self.rng.below(2))
        if not kinds:
            return FaultPlan(self.seed)
        harm = Harm(down_share_max=self.bounds.down_share)
        joiners = self.nodes[len(self.nodes) // 2 + 1 :]
        plan = FaultPlan.random(self.seed, self.nodes, self.bounds.horizon_s, kinds, harm, joiners)
        first = self.nodes[0]  # the seed broker: who joins must find somebody
        kept = (f for f in plan.faults if not (isinstance(f, Crash | CrashRestart) and f.node == first))
        return FaultPlan(plan.seed, tuple(kept))

    def _keys(self, node: NodeId) -> list[Key]:
        count = 1 + self.rng.below(self.bounds.keys_max)
        cluster = (f"c{self.rng.below(self.clusters)}",)
        return [number_key(number, node, cluster) for number in self.rng.sample(range(50), count)]

    def _life(self, node: NodeId, run: int) -> Peer:
        return make(self.overlay, node, SETTINGS, self.seed, run)

    # What brokers are told

    def _introducer(self, machine: Peer) -> NodeId | None:
        ready = [node for node, peer in self.peers.items() if peer is not machine and peer.keys()]
        return self.rng.choice(ready) if ready else None

    def _join_all(self, machine: Any, now: float, out: Outbox) -> None:
        for key in self.keys[machine.local.node]:
            self._join(machine, now, key, out)

    def _join(self, machine: Peer, now: float, key: Key, out: Outbox) -> None:
        node = machine.local.node
        if key in self.wanted[node]:
            return
        introducer = self._introducer(machine)
        if introducer is None and not machine.keys() and node != self.nodes[0]:
            return  # nobody to ask, and one ring is enough
        if machine.is_member(key):
            return  # still on its way out
        self.wanted[node][key] = None
        machine.join(now, key, introducer, out)
        machine.aggregate(now, key, {"free": float(self.rng.below(2))}, out)

    def _rejoin(self, machine: Any, now: float, out: Outbox) -> None:
        self.wanted[machine.local.node].clear()
        self._join_all(machine, now, out)

    def _leave_one(self, machine: Any, now: float, out: Outbox) -> None:
        node = machine.local.node
        if len(self.wanted[node]) > (node == self.nodes[0]):
            key = self.rng.choice(list(self.wanted[node]))
            if machine.is_member(key):
                del self.wanted[node][key]
                machine.leave(now, key, out)

    def _multicast(self, machine: Peer, now: float, out: Outbox, strategy: str, span: KeyRange) -> int:
        number = len(self.ranges) + 1
        self.ranges[number] = span
        self.reached[number] = Counter()
        query = Query(span, number, "count", strategy, reliable=True)
        there = [
            ref for peer in self.peers.values() for ref in peer.contacts.own if ref.key in span and self._known(ref)
        ]
        request = machine.multicast(now, query, out)
        self._asked[machine.local.node, request] = (number, there)
        return request

    def _span(self) -> KeyRange:
        """A random range: all, some, one key, or nothing at all."""
        every = sorted(key for keys in self.keys.values() for key in keys)
        kind = self.rng.below(8)
        if kind == 0:
            return EVERYTHING
        low = self.rng.choice(every)
        if kind == 1:
            return KeyRange(low, after(low))
        if kind == 2:
            return KeyRange(low, low)
        high = self.rng.choice(every)
        return KeyRange(min(low, high), after(max(low, high)) if kind < 6 else max(low, high))

    # What brokers say

    def _heard(self, now: float, node: NodeId, event: Event, out: Outbox) -> None:
        if isinstance(event, Received):
            if event.key not in self.ranges[event.payload]:
                raise Broken(f"query {event.payload} reached {event.key}, outside its range")
            self._once(event.payload, self.peers[node].ring.links[0, event.key].me)
            self.reached[event.payload][event.key] += 1
            if event.token is not None:
                self.peers[node].reply(now, event.token, 1, out)
        elif isinstance(event, Answered):
            self.answers[node, event.request] = event
            if self._calm and not event.missing:
                self._everybody(node, event.request)
        elif isinstance(event, Selected):
            self.selected[node, event.request] = event
        elif isinstance(event, Found):
            self.found[node, event.request] = event
        elif isinstance(event, JoinFailed):
            self.wanted[node].pop(event.key, None)
        elif isinstance(event, Left) and event.key in self.wanted[node]:
            raise Broken(f"{event.key} left, but nobody told it to")
        elif isinstance(event, Joined) and event.key not in self.peers[node].keys():
            raise Broken(f"{event.key} joined, but is not there")

    def _known(self, ref: Ref) -> bool:
        """Has ``ref``'s right neighbour heard of it? Until then its insertion is still on its way (DDLL's SetL)."""
        link = self.peers[ref.node].ring.links[0, ref.key]
        right = self.peers.get(link.right.node)
        there = right.ring.find(link.right, 0) if right is not None else None
        return there is not None and there.left == ref

    def _everybody(self, node: NodeId, request: int) -> None:
        """Who was in the ring when the query was asked, known to both sides, and still is, has been reached (overlay §11)."""
        if (node, request) not in self._asked:
            return  # an empty range is answered before it is asked
        number, there = self._asked[node, request]
        for ref in there:
            if self.peers[ref.node].ring.find(ref, 0) is not None and (number, ref) not in self._lives:
                raise Broken(f"query {number} is answered, but {ref.key} was there all the time and was not reached")

    def _once(self, number: int, ref: Ref) -> None:
        """No life of a virtual node hears a query twice, whatever is lost, doubled or sent again."""
        if (number, ref) in self._lives:
            raise Broken(f"query {number} reached {ref.key} twice")
        self._lives.add((number, ref))

    @property
    def peers(self) -> dict[NodeId, Peer]:
        return self.simulation.machines  # type: ignore[return-value]

    def _observe(self, simulation: Simulation) -> None:
        if simulation.node is not None:
            self._check.always(self.peers, simulation.node)
            if self._unfailed:
                self._check.unfailed(self.peers.values(), simulation.in_flight)

    # The run

    def run(self) -> Outcome:
        """Everything, in virtual time."""
        simulation, rng, horizon = self.simulation, self.rng, self.bounds.horizon_s
        for node in self.nodes:
            simulation.add(node, self._life(node, 0))
        simulation.do(self.nodes[0], self._join_all)
        stormed = any(type(fault).__name__ == "JoinStorm" for fault in self.plan.faults)
        for index, node in enumerate(self.nodes[1:], 1):
            if not (stormed and index > len(self.nodes) // 2):
                simulation.do(node, self._join_all, at=rng.uniform(0.1, horizon / 2))
        for _ in range(rng.below(2 + len(self.nodes))):
            churn = self._leave_one if rng.below(3) else self._join_all
            simulation.do(rng.choice(self.nodes), churn, at=rng.uniform(1.0, horizon))
        for _ in range(rng.below(12 if self._calm else 3)):
            simulation.do(rng.choice(self.nodes), self._ask_around, at=rng.uniform(1.0, horizon))
        simulation.run(until=max(horizon, self.plan.over_at))
        stopped = simulation.now
        healed = self._until(self._whole, stopped, "whole")
        settled = self._until(self._converged, stopped, "converged")
        for node in self.nodes:  # who was turned away while everything was broken may try again now
            if node in self.peers:
                simulation.do(node, self._join_all)
        simulation.run(until=simulation.now + STEP_S)
        self._until(self._whole, simulation.now, "whole after late joins")
        self._until(self._converged, simulation.now, "converged after late joins")
        self._queries()
        self._quiet()
        no_violations(self.peers.values())
        return self._outcome(healed, settled)

    def _ask_around(self, machine: Any, now: float, out: Outbox) -> None:
        if machine.keys():
            self._multicast(machine, now, out, self.rng.choice(STRATEGIES), self._span())
            machine.lookup(now, self.rng.choice(self.keys[self.rng.choice(self.nodes)]), out)

    def _until(self, holds: Any, since: float, what: str) -> float:
        """Let time run until ``holds()`` does not raise; how long since ``since`` that took."""
        simulation = self.simulation
        while True:
            try:
                holds()
                return simulation.now - since
            except Broken as broken:
                if simulation.now - since > self.bounds.settle_s:
                    raise Broken(f"not {what} {self.bounds.settle_s} s after the last fault: {broken}") from broken
            simulation.run(until=simulation.now + STEP_S)

    def _whole(self) -> None:
        self._check.at_rest(self.peers.values())
        for node, peer in self.peers.items():
            if set(peer.keys()) != set(self.wanted[node]):
                raise Broken(f"broker {node} holds {sorted(peer.keys())}, but should {sorted(self.wanted[node])}")

    def _converged(self) -> None:
        converged(self.overlay, list(self.peers.values()))

    def _queries(self) -> None:
        """Each strategy on random ranges; then lookups."""
        for strategy in STRATEGIES:
            for _ in range(2):
                self._query(strategy, self._span())
        for _ in range(4):
            self._lookup(self.rng.choice(self.keys[self.rng.choice(self.nodes)]))
        for selection in SELECTIONS:
            self._anycast(selection, self._span())

    def _asker(self) -> tuple[NodeId, Peer]:
        node = self.rng.choice([node for node, peer in self.peers.items() if peer.keys()])
        return node, self.peers[node]

    def _query(self, strategy: str, span: KeyRange) -> None:
        simulation = self.simulation
        node, peer = self._asker()
        numbers: list[int] = []
        simulation.do(node, lambda _, now, out: numbers.append(self._multicast(peer, now, out, strategy, span)))
        simulation.run(until=simulation.now)
        number = len(self.ranges)
        deadline = simulation.now + SETTINGS.query_timeout_s * (SETTINGS.query_tries + 1)
        while (node, numbers[0]) not in self.answers and simulation.now < deadline:
            simulation.run(until=simulation.now + STEP_S)
        every = [key for peer in self.peers.values() for key in peer.keys() if key in span]
        answer = self.answers.get((node, numbers[0]))
        if answer is None or (answer.value or 0) != len(every) or answer.keys != len(every) or answer.missing:
            raise Broken(f"{strategy} from {node} over {span}: {answer}, wanted {len(every)}")
        if self.reached[number] != Counter(every):
            raise Broken(f"{strategy} from {node} over {span} reached {self.reached[number]}, wanted {every} once each")

    def _anycast(self, selection: str, span: KeyRange) -> None:
        """Whoever is picked satisfies the condition now; nobody is picked only if nobody does."""
        simulation = self.simulation
        node, peer = self._asker()
        number = len(self.ranges) + 1
        self.ranges[number] = span
        self.reached[number] = Counter()
        query = Query(span, number, "count", reliable=True, condition=FREE)
        numbers: list[int] = []
        simulation.do(node, lambda _, now, out: numbers.append(peer.anycast(now, query, selection, out)))
        simulation.run(until=simulation.now)
        deadline = simulation.now + SETTINGS.query_timeout_s * (SETTINGS.query_tries + 2)
        while (node, numbers[0]) not in self.selected and simulation.now < deadline:
            simulation.run(until=simulation.now + STEP_S)
        free = [
            key
            for peer in self.peers.values()
            for key in peer.keys()
            if key in span and peer.values(key).get("free", 0.0)
        ]
        selected = self.selected.get((node, numbers[0]))
        if selected is None or (selected.key not in free if free else selected.key is not None):
            raise Broken(f"anycast {selection} from {node} over {span}: {selected}, free are {free}")
        if sum(self.reached[number].values()) != len(free[:1]):
            raise Broken(f"anycast {selection} from {node} asked {self.reached[number]}, one was to take it")

    def _lookup(self, key: Key) -> None:
        simulation = self.simulation
        node, peer = self._asker()
        numbers: list[int] = []
        simulation.do(node, lambda _, now, out: numbers.append(peer.lookup(now, key, out)))
        simulation.run(until=simulation.now + 3 * STEP_S)
        every = sorted(k for peer in self.peers.values() for k in peer.keys())
        place = max((k for k in every if k <= key), default=every[-1])
        found = self.found.get((node, numbers[0]))
        if found is None or found.at is None or found.at.key != place:
            raise Broken(f"lookup of {key} from {node}: {found}, wanted {place}")
        if found.hops > hops_allowed(self.overlay, len(every)):
            raise Broken(f"lookup of {key} from {node} took {found.hops} hops among {len(every)} keys")

    def _quiet(self) -> None:
        """No retry storm: an overlay at rest sends what upkeep needs and no more."""
        simulation = self.simulation
        before = sum(simulation.sent.values())
        simulation.run(until=simulation.now + QUIET_S)
        links = max(1, sum(len(peer.ring.links) for peer in self.peers.values()))
        rate = (sum(simulation.sent.values()) - before) / links / QUIET_S
        if rate > QUIET_MAX:
            raise Broken(f"{rate:.1f} messages per link and second at rest")

    def _outcome(self, healed: float, settled: float) -> Outcome:
        simulation = self.simulation
        return Outcome(
            seed=self.seed,
            overlay=self.overlay,
            nodes=len(self.nodes),
            links=sum(len(peer.ring.links) for peer in self.peers.values()),
            events=simulation.steps,
            messages=sum(simulation.sent.values()),
            faults=tuple(sorted({type(fault).__name__ for fault in self.plan.faults})),
            healed_after_s=round(healed, 3),
            converged_after_s=round(settled, 3),
            queries=len(self.ranges),
            trace_hash=simulation.trace.hash() if simulation.trace.level is not Level.OFF else "",
        )
