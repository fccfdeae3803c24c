"""The brokers of a scenario: their machines in a simulation, what they are told to do, and what they say.

On top of each machine sits the least application: it answers each query with 1 (its number where members are collected),
and keeps the neighbours that each key was told of. Invariant: ``joined`` holds the keys in the ring as far as their
brokers, alive, have said so.
"""

from collections.abc import Callable

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Event, Machine, Outbox
from weft.overlay.api import Answered, Found, Joined, Left, NeighbourChanged, Overlay, Received, Ref, Selected
from weft.overlay.keys import ALM, EVERYTHING, Key, KeyRange, filter_parts, number_key, segment_range
from weft.sim.des.engine import Simulation
from weft.sim.overlays import make
from weft.sim.scenario.load import Ready, brokers_keys
from weft.sim.scenario.model import Anycast, Multicast
from weft.sim.scenario.names import key_name

Verb = Callable[[Overlay, float, Outbox], object]


class Brokers:
    """In: verbs for brokers by number. Out: ``joined``, ``neighbours``, ``arrivals``, ``answers``."""

    def __init__(self, ready: Ready, simulation: Simulation) -> None:
        scenario = ready.scenario
        self._ready = ready
        self._overlay = scenario.overlay
        self._settings = scenario.overlay.effective_settings
        self._seed = scenario.seed
        self._simulation = simulation
        self._runs: dict[NodeId, int] = {}
        self.machines: dict[NodeId, Overlay] = {}
        self.keys = {NodeId(b): brokers_keys(scenario, b) for b in range(1, scenario.overlay.brokers + 1)}
        self.joined: set[Key] = set()
        self.neighbours: dict[Key, tuple[Ref, Ref]] = {}
        self.arrivals: dict[object, list[Key]] = {}
        self.answers: dict[tuple[NodeId, int], Answered | Selected | Found] = {}
        self.collects: set[object] = set()
        simulation.on_deliver = self._heard

    # ----------------------------------------------------------------------------------------------- their lives

    def start(self, node: NodeId) -> None:
        """``node``'s first life."""
        self._simulation.add(node, self.next_life(node))

    def next_life(self, node: NodeId) -> Machine:
        """A new machine for ``node``, with a run number above all it had."""
        run = self._runs[node] = self._runs.get(node, -1) + 1
        machine: Overlay = make(self._overlay.kind, node, self._settings, self._seed, run)
        self.machines[node] = machine
        return machine

    def crash(self, node: NodeId) -> None:
        if node in self._simulation.machines:
            self._simulation.crash(node)
        self.forget_dead()

    def restart(self, node: NodeId) -> None:
        if node not in self._simulation.machines:
            self._simulation.restart(node, self.next_life(node))

    def forget_dead(self) -> None:
        """What dead brokers said of their keys no longer holds."""
        alive = self._simulation.machines
        self.joined = {key for key in self.joined if key.broker in alive}

    # ----------------------------------------------------------------------------------------------- their verbs

    def tell(self, node: NodeId, verb: Verb, refuse: Callable[[str], Misuse]) -> None:
        """Run ``verb`` at ``node`` now; a misuse is refused with the line of the step that asked for it."""

        def call(machine: Machine, now: float, out: Outbox) -> None:
            assert machine is self.machines[node]
            try:
                verb(self.machines[node], now, out)
            except Misuse as error:
                raise refuse(f"broker {node}: {error}") from error

        self._simulation.do(node, call)

    def join(self, node: NodeId, via: NodeId) -> Verb:
        def verb(machine: Overlay, now: float, out: Outbox) -> None:
            for number, key in enumerate(self.keys[node]):
                machine.join(now, key, None if number or via == node else via, out)

        return verb

    def leave(self, node: NodeId) -> Verb:
        def verb(machine: Overlay, now: float, out: Outbox) -> None:
            for key in self.keys[node]:
                machine.leave(now, key, out)

        return verb

    def aggregate(self, node: NodeId, values: dict[str, float]) -> Verb:
        def verb(machine: Overlay, now: float, out: Outbox) -> None:
            for key in self.keys[node]:
                machine.aggregate(now, key, values, out)

        return verb

    def range_of(self, step: Multicast | Anycast) -> KeyRange:
        if step.topic is not None:
            return segment_range(*filter_parts(step.topic), ALM)
        if step.between is not None:
            low, high = (number_key(number, NodeId(1))._replace(broker=NodeId(-1)) for number in step.between)
            return KeyRange(low, high)
        return EVERYTHING

    # --------------------------------------------------------------------------------------------- what they say

    def _heard(self, now: float, node: NodeId, event: Event, out: Outbox) -> None:
        if isinstance(event, Joined):
            self.joined.add(event.key)
        elif isinstance(event, Left):
            self.joined.discard(event.key)
        elif isinstance(event, NeighbourChanged):
            self.neighbours[event.key] = (event.left, event.right)
        elif isinstance(event, Received):
            self.arrivals.setdefault(event.payload, []).append(event.key)
            if event.token is not None:
                value = (int(node),) if event.payload in self.collects else 1
                self.machines[node].reply(now, event.token, value, out)
        elif isinstance(event, Answered | Selected | Found):
            self.answers[node, event.request] = event

    def ring(self) -> list[Key]:
        """The keys that have joined, in key order."""
        return sorted(self.joined)

    def gaps(self) -> list[str]:
        """Where the ring is not whole, in words; empty if it is."""
        ring = self.ring()
        wrong: list[str] = []
        for position, key in enumerate(ring):
            left, right = ring[position - 1], ring[(position + 1) % len(ring)]
            told = self.neighbours.get(key)
            if told is None or (told[0].key, told[1].key) != (left, right):
                words = "nobody" if told is None else f"{told[0].key.broker} and {told[1].key.broker}"
                wrong.append(f"{key_name(key)} ({words})")
        return wrong
