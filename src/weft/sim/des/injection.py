"""Carries out a fault plan: begins and ends each fault at its time, and decides the fate of messages meanwhile.

A node fault that finds its node not running (or paused already) does nothing: plans are generated without knowing what
else happens. Who runs machines that can come back gives ``make(node, run)`` (a new life from ``disk``; ``run`` counts lives)
and ``rejoin(machine, now, out)`` (its first command); ``storm(machine, now, out)`` is what a node of a join storm is told.

Invariants: ``active`` iff some link fault is on; the fate of a message depends on the seed, the plan and the messages
before it, nothing else; when the plan is over no node is paused or skewed by it.
"""

from collections.abc import Callable

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Machine
from weft.core.rand import Rng
from weft.sim.des.engine import Simulation
from weft.sim.des.faults import (
    AnyFault,
    Crash,
    CrashRestart,
    Delay,
    Drop,
    Duplicate,
    FaultPlan,
    JoinStorm,
    Lasting,
    LinkFault,
    Partition,
    Pause,
    Reorder,
    Skew,
    check,
)
from weft.sim.des.steps import Call

Make = Callable[[NodeId, int], Machine]
_UNHARMED: tuple[float, ...] = (0.0,)


class Injector:
    """In: a plan, or ``begin`` and ``end`` by hand. Out: actions on the simulation, and ``fates``."""

    def __init__(
        self, plan: FaultPlan, make: Make | None = None, rejoin: Call | None = None, storm: Call | None = None
    ) -> None:
        for fault in plan.faults:
            check(fault)
            if isinstance(fault, CrashRestart) and make is None:
                raise Misuse("a plan with crash-restart needs make(node, run): who builds the next life?")
            if isinstance(fault, JoinStorm) and storm is None:
                raise Misuse("a plan with join-storm needs storm(machine, now, out): what are the nodes told?")
        self.active = False
        self.plan = plan
        self._make = make
        self._rejoin = rejoin
        self._storm = storm
        self._rng = Rng(plan.seed, 2)
        self._runs: dict[NodeId, int] = {}
        self._on_links: list[LinkFault] = []
        self._pauses: dict[NodeId, int] = {}
        self._down: set[Crash | CrashRestart] = set()
        self._simulation: Simulation | None = None

    @property
    def simulation(self) -> Simulation:
        assert self._simulation is not None, "an injector works once a simulation has been made with it"
        return self._simulation

    def install(self, simulation: Simulation) -> None:
        """Called by the simulation that this injector is given to."""
        if self._simulation is not None:
            raise Misuse("an injector belongs to one simulation; make another")
        self._simulation = simulation
        for fault in self.plan.faults:
            self.schedule(fault)

    def schedule(self, fault: AnyFault) -> None:
        """``fault`` happens at its time."""
        label = type(fault).__struct_config__.tag
        self.simulation.at(fault.at, lambda: self.begin(fault), f"{label} begins")
        if isinstance(fault, Lasting):
            self.simulation.at(fault.until, lambda: self.end(fault), f"{label} ends")

    def begin(self, fault: AnyFault) -> None:
        """``fault`` is on from now."""
        simulation = self.simulation
        if isinstance(fault, LinkFault):
            self._on_links.append(fault)
            self.active = True
        elif isinstance(fault, JoinStorm):
            assert self._storm is not None
            for node in fault.nodes:
                simulation.do(node, self._storm)
        elif fault.node not in simulation.machines:
            return
        elif isinstance(fault, Crash | CrashRestart):
            self._pauses.pop(fault.node, None)
            self._down.add(fault)
            simulation.crash(fault.node)
        elif isinstance(fault, Pause):
            self._pauses[fault.node] = self._pauses.get(fault.node, 0) + 1
            simulation.pause(fault.node)
        else:
            simulation.set_clock_rate(fault.node, fault.rate)

    def end(self, fault: AnyFault) -> None:
        """``fault`` is over; if it is over already, nothing happens."""
        simulation = self.simulation
        if isinstance(fault, LinkFault):
            if fault in self._on_links:
                self._on_links.remove(fault)
            self.active = bool(self._on_links)
        elif isinstance(fault, Skew):
            simulation.set_clock_rate(fault.node, 1.0)
        elif isinstance(fault, CrashRestart) and fault in self._down:
            self._down.remove(fault)
            self._revive(fault.node)
        elif isinstance(fault, Pause) and fault.node in self._pauses:
            self._pauses[fault.node] -= 1
            if not self._pauses[fault.node]:
                del self._pauses[fault.node]
                simulation.resume(fault.node)

    def heal(self) -> None:
        """All partitions are over."""
        for fault in [fault for fault in self._on_links if isinstance(fault, Partition)]:
            self.end(fault)

    def _revive(self, node: NodeId) -> None:
        """The next life of ``node``, unless somebody else has restarted it meanwhile."""
        simulation = self.simulation
        if node in simulation.machines:
            return
        if self._make is None:
            raise Misuse(f"node {node} cannot come back: no make(node, run) was given")
        run = self._runs[node] = self._runs.get(node, 0) + 1
        simulation.restart(node, self._make(node, run))
        if self._rejoin is not None:
            simulation.do(node, self._rejoin)

    def fates(self, source: NodeId, to: NodeId) -> tuple[tuple[float, ...], str]:
        """See ``steps.Fates``: each fault that is on strikes in turn, in the order in which they began."""
        extras = _UNHARMED
        struck: list[str] = []
        random = self._rng.random
        for fault in self._on_links:
            if (fault.source and source not in fault.source) or (fault.to and to not in fault.to):
                continue
            if fault.rate < 1.0 and random() >= fault.rate:
                continue
            if isinstance(fault, Drop | Partition):
                return (), "drop" if isinstance(fault, Drop) else "partition"
            if isinstance(fault, Duplicate):
                extras = (*extras, extras[0] + fault.within_s * random())
                struck.append("doubled")
            elif isinstance(fault, Reorder):
                extras = tuple(extra + fault.within_s * random() for extra in extras)
                struck.append("reordered")
            elif isinstance(fault, Delay):
                extras = tuple(extra + fault.extra_s for extra in extras)
                struck.append("delayed")
        return extras, "+".join(struck)
