"""The driver: adds and removes machines, takes the next event, runs until told to stop.

Order of events: (time, priority, counter), see ``agenda``; what one event does is in ``steps``.

Invariants: ``now`` never falls; observers see the simulation between steps, never within one; the same seed and the same
calls give the same steps. What a machine, an application or an observer raises comes out of ``run`` with the time, the
node, the step, the seed and the story of its cause in its notes.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from math import inf
from sys import maxsize
from typing import Protocol

from weft.core.errors import Misuse
from weft.core.ids import NODE_ID_MAX, NodeId
from weft.core.machine import Machine, Message
from weft.sim.des import agenda
from weft.sim.des.host import Clock, Host
from weft.sim.des.network import Network, Uniform
from weft.sim.des.steps import Action, Call, Fates, Flight, Steps
from weft.sim.des.story import story
from weft.sim.des.trace import Level, Trace

IDLE_EVENTS_MAX = 10_000_000
"""Events of one ``run_idle`` before it says that this never ends."""


class Faults(Fates, Protocol):
    """A fault plan at work, see ``injection``."""

    def install(self, simulation: "Simulation") -> None: ...


class Simulation(Steps):
    """``add`` machines, ``do`` commands, ``run``, and look."""

    def __init__(
        self,
        seed: int,
        network: Network | None = None,
        faults: Faults | None = None,
        trace: Trace | None = None,
        clocks: Mapping[NodeId, Clock] | None = None,
    ) -> None:
        network = network or Uniform()
        network.begin(seed)
        super().__init__(network, trace or Trace(Level.OFF), faults)
        self.seed = seed
        self.machines: dict[NodeId, Machine] = {}
        self.observers: list[Callable[[Simulation], None]] = []
        self._clocks = dict(clocks or {})
        self._observed = 0
        if faults is not None:
            faults.install(self)

    # --------------------------------------------------------------------------------------------------- nodes

    def add(self, node: NodeId, machine: Machine) -> None:
        """``machine`` runs as ``node`` from now on."""
        if node in self.machines:
            raise Misuse(f"node {node} is there already")
        if not 0 < node <= NODE_ID_MAX:
            raise Misuse(f"node id {node} is not in 1…{NODE_ID_MAX}")
        self.machines[node] = machine
        host = self._hosts[node] = Host(node, machine, self._clocks.get(node))
        self.disk.setdefault(node, [])
        self._watch(host)

    def crash(self, node: NodeId) -> None:
        """``node`` is gone at once, with its timers and all that waits for it; its disk stays, its last words travel on."""
        host = self._host(node)
        del self.machines[node], self._hosts[node]
        host.armed = None
        for lane, entry in host.backlog:
            if lane == agenda.MESSAGE:
                self._lose(entry, "nobody there")
            else:
                self.commands_lost += 1

    def restart(self, node: NodeId, machine: Machine) -> None:
        """``machine`` is the next life of ``node``, which must be down; who makes it reads ``disk`` and raises the run."""
        if node not in self.disk:
            raise Misuse(f"node {node} never ran")
        self.add(node, machine)

    def pause(self, node: NodeId) -> None:
        """``node`` stands still: messages, commands and timers wait for ``resume``."""
        self._host(node).paused = True

    def resume(self, node: NodeId) -> None:
        """``node`` goes on: what waited is handled now, in the order in which it came, then the timer, if it is due."""
        host = self._host(node)
        host.paused = False
        backlog, host.backlog = host.backlog, []
        for lane, entry in backlog:
            self._agenda.push(self.now, lane, entry)
        self._watch(host)

    def set_clock_rate(self, node: NodeId, rate: float) -> None:
        """From now on ``node``'s clock runs at ``rate``, in this life and the next."""
        clock = self._clocks.setdefault(node, Clock())
        clock.set_rate(self.now, rate)
        host = self._hosts.get(node)
        if host is not None:
            host.clock = clock
            host.armed = None
            self._watch(host)

    def _host(self, node: NodeId) -> Host:
        host = self._hosts.get(node)
        if host is None:
            raise Misuse(f"node {node} is not running")
        return host

    # ------------------------------------------------------------------------------------------------- driving

    def do(self, node: NodeId, call: Call, at: float | None = None) -> None:
        """Run ``call(machine, now, out)`` as an event at ``at``; it is lost, and counted, if ``node`` is down by then."""
        self._agenda.push(self._moment(at), agenda.COMMAND, (node, call, self._cause))

    def at(self, time: float, action: Action, label: str = "action") -> None:
        """Run ``action()`` as an event of its own at ``time``: a fault, a check."""
        self._agenda.push(self._moment(time), agenda.ACTION, (action, label, self._cause))

    def _moment(self, at: float | None) -> float:
        if at is None:
            return self.now
        if not self.now <= at < inf:
            raise Misuse(f"time {at} is not between now ({self.now}) and forever")
        return at

    def run(self, until: float | None = None, events_max: int | None = None) -> int:
        """Handle the events up to and including time ``until``, at most ``events_max``; the answer is how many.

        With ``until``, ``now`` is there at the end, unless ``events_max`` cut the run short.
        """
        first = self.steps
        stop = maxsize if events_max is None else first + events_max
        self._drive(inf if until is None else until, stop, agenda.LANES)
        if until is not None and self.steps < stop:
            self.now = max(self.now, until)
        return self.steps - first

    def run_idle(self, events_max: int = IDLE_EVENTS_MAX, timers: bool = True) -> int:
        """Run until nothing is left to do: no message, command or action, and (unless ``timers`` is False) no timer."""
        first = self.steps
        lanes = agenda.LANES if timers else agenda.TIMER
        self._drive(inf, first + events_max, lanes)
        if not self._agenda.is_idle(lanes):
            raise Misuse(f"not idle after {events_max} events: a machine that always has a timer never is")
        return self.steps - first

    def _drive(self, until: float, stop: int, lanes: int) -> None:
        """Take turns until ``stop`` steps, or past ``until``, or nothing waits in the first ``lanes`` lanes."""
        queue, observers = self._agenda, self.observers
        handlers = (self._hop, self._act, self._command, self._deliver, self._fire)
        try:
            while self.steps < stop and (lanes == agenda.LANES or not queue.is_idle(lanes)) and queue.take(until):
                self.now = now = queue.at
                handle = handlers[queue.lane]
                for entry in queue.current:
                    handle(now, entry)
                    if observers:
                        self._observe()
                    if queue.interrupted or self.steps >= stop:
                        queue.put_back()
                        break
        except Exception as error:
            self._explain(error)
            raise
        finally:
            queue.put_back()
            self._cause = 0

    def _observe(self) -> None:
        if self._observed != self.steps:
            self._observed = self.steps
            for observe in self.observers:
                observe(self)

    def _explain(self, error: Exception) -> None:
        self._out.effects.clear()
        who = "the driver" if self.node is None else f"node {self.node}"
        error.add_note(f"weft: in step {self.steps} at time {self.now:.6f} of {who}; seed {self.seed}")
        if self.trace.keeps:
            error.add_note("\n".join(self.story(self.steps)))

    # ------------------------------------------------------------------------------------------------- looking

    @property
    def in_flight(self) -> list[tuple[NodeId, NodeId, Message]]:
        """Messages under way, (source, to, message); those that wait at a paused node too."""
        flights: list[Flight] = [flight for flight, _ in self._agenda.waiting(agenda.HOP)]
        flights += self._agenda.waiting(agenda.MESSAGE)
        for host in self._hosts.values():
            flights += [entry for lane, entry in host.backlog if lane == agenda.MESSAGE]
        return [(source, to, message) for source, to, message, _, _ in flights]

    @property
    def sent(self) -> Counter[str]:
        """Messages sent, by type name; copies that a fault made are not counted."""
        return self._tallies.named("sent")

    @property
    def delivered(self) -> Counter[str]:
        return self._tallies.named("delivered")

    @property
    def dropped(self) -> Counter[str]:
        return self._tallies.named("dropped")

    @property
    def doubled(self) -> Counter[str]:
        """Copies that faults made, by type name."""
        return self._tallies.named("doubled")

    @property
    def links_crossed(self) -> Counter[str]:
        """Links that the delivered messages crossed, by type name."""
        return self._tallies.named("links")

    def story(self, step: int) -> list[str]:
        """Step ``step``, its ancestors and its descendants, as lines; needs a full trace."""
        return story(self.trace, step)
