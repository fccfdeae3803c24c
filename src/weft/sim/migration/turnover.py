"""A topic whose subscribers come and go, around an OFGate: what it is asked, and what the publishers can use (SAPS §4.2).

The number of subscribers stays what it is at first, as in equations 1 and 2: when somebody joins, a member of long standing
is taken off without a word, and when somebody leaves, one is put there. Joins and leaves are Poisson processes.

Under BOTH, OFGate is told only by those who leave the OFM segment. ``Newcomers.SETTLED`` is what equation 2 takes for granted:
whoever joins is there at once, and in the tree. ``Newcomers.MIGRATING`` is the protocol: by ALM first, into the tree when a
publisher next has it built, and over to OFM after a random wait.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf, log

from weft.core.ids import NodeId
from weft.core.machine import Event, Machine, Outbox
from weft.core.rand import Rng
from weft.sim.des.engine import Simulation
from weft.sim.des.network import Uniform
from weft.sim.migration.ofgate import (
    FIRST_AGENT,
    GATE,
    SWITCHES,
    Agent,
    Method,
    OfGate,
    Query,
    Received,
    Roll,
    Sent,
    Switches,
    Times,
)

DELAY_S = 0.001
"""Between any two machines."""
SETTLING_S = 2.0
"""Time for the tree to be built and every publisher to learn the address, before anything is counted."""


class Newcomers(Enum):
    SETTLED = "settled"
    MIGRATING = "migrating"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Table 1: ``join`` and ``leave`` for each subscriber and second, ``publish`` for each publisher."""

    subscribers: int = 100
    publishers: int = 10
    publish: float = 1.0
    join: float = 0.0
    leave: float = 0.0


class Turnover:
    """``run``, then ``queries``, ``published``, ``received``: all of the time after the settling."""

    def __init__(
        self, method: Method, rates: Rates, newcomers: Newcomers, seed: int, times: Times | None = None
    ) -> None:
        self.method, self.rates, self.newcomers = method, rates, newcomers
        self.times = times or Times()
        self.simulation = Simulation(seed, Uniform(DELAY_S))
        self.simulation.on_deliver = self._heard
        self.roll = Roll()
        self.gate, self.switches = OfGate(self.times), Switches()
        self.simulation.add(GATE, self.gate)
        self.simulation.add(SWITCHES, self.switches)
        self.published: Counter[bool] = Counter()
        """By OFM or not."""
        self.received = 0
        self._rng = Rng(seed, 1)
        self._agents: dict[NodeId, Agent] = {}
        self._idle: list[NodeId] = []
        self._settled_queries: Counter[Query] = Counter()
        self._populate(seed)

    def _populate(self, seed: int) -> None:
        """Publishers, subscribers, and as many again who are to join."""
        count = self.rates.publishers + 2 * self.rates.subscribers
        for at, node in enumerate(map(NodeId, range(FIRST_AGENT, FIRST_AGENT + count))):
            agent = Agent(node, self.method, self.roll, self.times, Rng(seed, 2, node))
            self._agents[node] = agent
            self.simulation.add(node, agent)
            if at < self.rates.publishers:
                agent.publishing(self._rng.random() / self.rates.publish, 1 / self.rates.publish)
                self.simulation.do(node, _nothing)
            elif at < self.rates.publishers + self.rates.subscribers:
                self._settle(node)
            else:
                self._idle.append(node)
        builder = self._agents[NodeId(FIRST_AGENT)]
        builder.renews = self.newcomers is Newcomers.MIGRATING
        self.simulation.do(builder.node, _construct)

    def run(self, seconds: float) -> None:
        self.simulation.run(until=SETTLING_S)
        self._settled_queries = self.gate.queries.copy()
        self.published.clear()
        self.received = 0
        self._process(self.rates.join * self.rates.subscribers, self._someone_joins)
        self._process(self.rates.leave * self.rates.subscribers, self._someone_leaves)
        self.simulation.run(until=SETTLING_S + seconds)

    @property
    def queries(self) -> Counter[Query]:
        return self.gate.queries - self._settled_queries

    def _heard(self, now: float, node: NodeId, event: Event, out: Outbox) -> None:
        if isinstance(event, Sent):
            self.published[event.by_ofm] += 1
        elif isinstance(event, Received):
            self.received += 1

    # ------------------------------------------------------------------------------------------- coming and going

    def _process(self, rate: float, happens: Callable[[], None]) -> None:
        """``happens`` at ``rate`` per second from now on."""

        def again() -> None:
            happens()
            following()

        def following() -> None:
            wait_s = -log(1.0 - self._rng.random()) / rate if rate else inf
            if wait_s < inf:
                self.simulation.at(self.simulation.now + wait_s, again, "turnover")

        following()

    def _members(self) -> list[NodeId]:
        return [*self.roll.ofm, *self.roll.alm]

    def _someone_joins(self) -> None:
        old = self._rng.choice(self._members())
        new = self._idle.pop(self._rng.below(len(self._idle)))
        if self.method is Method.BOTH and self.newcomers is Newcomers.SETTLED:
            self._settle(new)
        else:
            self.simulation.do(new, _join)
        self._unsettle(old)

    def _someone_leaves(self) -> None:
        old = self._rng.choice(self._members())
        self.simulation.do(old, _leave)
        new = self._idle.pop(self._rng.below(len(self._idle)))
        self._settle(new)
        self._idle.append(old)

    def _settle(self, node: NodeId) -> None:
        """A member as of old: on the roll, at OFGate and in the tree, and nobody asked for it."""
        segment = self.roll.ofm if self.method is Method.BOTH else self.roll.alm
        segment[node] = None
        self.gate.brokers[node] = None
        if self.switches.brokers:
            self.switches.brokers[node] = None

    def _unsettle(self, node: NodeId) -> None:
        self._agents[node].forget()
        self.gate.brokers.pop(node, None)
        self.switches.brokers.pop(node, None)
        self._idle.append(node)


def _join(machine: Machine, now: float, out: Outbox) -> None:
    assert isinstance(machine, Agent)
    machine.join(now, out)


def _leave(machine: Machine, now: float, out: Outbox) -> None:
    assert isinstance(machine, Agent)
    machine.leave(now, out)


def _construct(machine: Machine, now: float, out: Outbox) -> None:
    assert isinstance(machine, Agent)
    machine.construct(now, out)


def _nothing(machine: Machine, now: float, out: Outbox) -> None:
    """A command that makes the driver look at the machine's deadline."""
