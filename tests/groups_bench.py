"""Group multicast machines in the event simulator: who subscribes, who publishes, what came of it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox
from weft.core.rand import Rng
from weft.overlay.bayeux.machine import Bayeux
from weft.overlay.groups import FrontDoor, Received
from weft.overlay.scribe.machine import Scribe
from weft.sim.baselines import can, enter_all, numeric, over
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform

TREES: dict[str, type[Scribe] | type[Bayeux]] = {"scribe": Scribe, "bayeux": Bayeux}


def vectors(nodes: int, seed: int, digits: int = 48) -> list[int]:
    """A membership vector for each node."""
    rng = Rng(seed, 7)
    return [rng.bits() >> (64 - digits) for _ in range(nodes)]


class Meeting:
    """Machines by node id. Each call runs until nothing is on its way; ``interest`` and ``about`` default to one topic."""

    def __init__(self, machines: Mapping[NodeId, Any], seed: int = 0, jitter_s: float = 0.0) -> None:
        self.machines = machines
        self.simulation = Simulation(seed, Uniform(0.01, jitter_s))
        for node, machine in machines.items():
            self.simulation.add(node, machine)

    @classmethod
    def trees(cls, kind: str, nodes: int, seed: int = 0, **options: Any) -> "Meeting":
        """Scribe or Bayeux over whole rings."""
        routes = numeric(vectors(nodes, seed))
        return cls(over(routes, lambda node, route: TREES[kind](node, route, seed, **options)), seed)

    @classmethod
    def cans(cls, nodes: int, dims: int = 2, seed: int = 0, **options: Any) -> "Meeting":
        """CAN-MC, everybody in the CAN of all nodes."""
        meeting = cls(can(nodes, dims, seed, **options), seed)
        enter_all(meeting.simulation)
        return meeting

    def subscribe(self, *nodes: int, interest: Any = "t", settle: bool = True) -> None:
        """One after the other, or all at once."""
        for node in nodes:
            self.simulation.do(NodeId(node), lambda m, now, out: m.subscribe(now, interest, out))
            if settle:
                self.settle()
        self.settle()

    def unsubscribe(self, *nodes: int, interest: Any = "t") -> None:
        for node in nodes:
            self.simulation.do(NodeId(node), lambda m, now, out: m.unsubscribe(now, interest, out))
            self.settle()

    def publish(self, node: int, about: Any = "t", payload: Any = b"x") -> list[tuple[int, Received]]:
        """Who received it, in the order of receiving."""
        before = len(self.simulation.upward)
        self.simulation.do(NodeId(node), lambda m, now, out: m.publish(now, about, payload, out))
        self.settle()
        return [(node, event) for _, node, event in self.simulation.upward[before:] if isinstance(event, Received)]

    def settle(self) -> None:
        self.simulation.run_idle(timers=False)

    def sent(self) -> Counter[str]:
        """Messages sent so far, by name."""
        return Counter(self.simulation.sent)

    def counts(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for machine in self.machines.values():
            total.update(machine.local.counts)
        return total


def told(machine: FrontDoor, source: int, message: Message) -> Outbox:
    """What ``machine`` does about a message."""
    out = Outbox()
    machine.receive(0.0, NodeId(source), message, out)
    return out


def refused(machine: FrontDoor, source: int, message: Message) -> bool:
    """Was ``message`` counted as a violation, and nothing sent?"""
    before = machine.local.counts["violation"]
    out = told(machine, source, message)
    return machine.local.counts["violation"] == before + 1 and [type(e).__name__ for e in out.effects] == ["Trace"]
