"""Group multicast in the simulator: baselines over substrates that start whole, or over a Skip Graph that runs beside them.

Node i (from 0) of a model is node id i + 1 here. ``rings`` are the right neighbours of a converged Skip Graph in which node
order is key order; RELAY's experiments need no more of it. ``Beside`` puts a baseline on a live one instead.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from weft.core.ids import NodeId
from weft.core.machine import Machine, Message, Outbox
from weft.overlay.bayeux.machine import Bayeux
from weft.overlay.can.machine import Can
from weft.overlay.rendezvous.machine import Rendezvous
from weft.overlay.rendezvous.routes import Hypercube, Numeric, Route
from weft.overlay.scribe.machine import Scribe
from weft.overlay.shg.machine import Shg
from weft.overlay.skipgraph.geometry import DIGITS, static_levels
from weft.overlay.skipgraph.machine import SkipGraph
from weft.sim.des.engine import Simulation

R = TypeVar("R", bound=Rendezvous)


def rings(vectors: Sequence[int], digits: int = DIGITS) -> list[list[int]]:
    """For each node its right neighbour at each level; node i has the i-th key."""
    tables = static_levels(list(enumerate(vectors)), digits, owner=lambda key: key)
    return [[right for _, right in tables[node]] for node in range(len(vectors))]


def numeric(vectors: Sequence[int], digits: int = DIGITS) -> list[Numeric]:
    """A route for each node, over ``rings``."""
    return [
        Numeric(NodeId(node + 1), vectors[node], digits, _right(levels))
        for node, levels in enumerate(rings(vectors, digits))
    ]


def _right(levels: Sequence[int]) -> Callable[[int], NodeId | None]:
    return lambda level: NodeId(levels[level] + 1) if level < len(levels) else None


def hypercube(digits: int) -> list[Hypercube]:
    """A route for each corner."""
    return [Hypercube(corner, digits) for corner in range(1 << digits)]


def over(routes: Sequence[Route], machine: Callable[[NodeId, Route], R]) -> dict[NodeId, R]:
    """A machine for each route."""
    return {NodeId(node): machine(NodeId(node), route) for node, route in enumerate(routes, 1)}


def shg(n: int, k: int, variant: str = "corrected") -> dict[NodeId, Shg]:
    """A machine for each corner."""
    return {NodeId(corner + 1): Shg(corner, n, k, variant) for corner in range(1 << n)}


def can(nodes: int, dims: int = 2, seed: int = 0, **options: Any) -> dict[NodeId, Can]:
    """A machine for each node; nobody has entered yet."""
    return {NodeId(node): Can(NodeId(node), dims, seed, **options) for node in range(1, nodes + 1)}


def enter_all(simulation: Simulation) -> None:
    """Every ``Can`` of ``simulation`` enters the CAN of all nodes, one after the other, in the order of ids."""
    for node in sorted(simulation.machines):
        through = None if node == min(simulation.machines) else min(simulation.machines)
        simulation.do(node, lambda machine, now, out, through=through: machine.enter(now, through, out))  # type: ignore[misc]
        simulation.run_idle(timers=False)


class Beside:
    """One node that runs a Skip Graph and, over its first key, a rendezvous tree; each gets the messages that are its own."""

    def __init__(self, below: SkipGraph, machine: type[Scribe] | type[Bayeux]) -> None:
        self.below = below
        route = Numeric(below.local.node, below.vector, below.settings.membership_digits, self._right)
        self.groups = machine(below.local.node, route)

    def _right(self, level: int) -> NodeId | None:
        for key in self.below.keys():
            for entry in self.below.rights(key):
                if entry.level == level:
                    return entry.ref.node
        return None

    def subscribe(self, now: float, interest: str, out: Outbox) -> None:
        self.groups.subscribe(now, interest, out)

    def unsubscribe(self, now: float, interest: str, out: Outbox) -> None:
        self.groups.unsubscribe(now, interest, out)

    def publish(self, now: float, about: str, payload: Any, out: Outbox) -> int:
        return self.groups.publish(now, about, payload, out)

    @property
    def deadline(self) -> float | None:
        deadlines = [at for at in (self.below.deadline, self.groups.deadline) if at is not None]
        return min(deadlines, default=None)

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        machine: Machine = self.groups if self.groups.takes(message) else self.below
        machine.receive(now, source, message, out)

    def timeout(self, now: float, out: Outbox) -> None:
        for machine in (self.below, self.groups):
            if machine.deadline is not None and machine.deadline <= now:
                machine.timeout(now, out)
