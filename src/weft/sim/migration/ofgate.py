"""SAPS's two delivery methods, EITHER and BOTH, around an OFGate that counts what it is asked (SAPS §3.2, §4.2; overlay §10).

Small machines: OFGate with its statuses, the switches that copy what is sent to the OFM address, and agents that publish,
subscribe, or do neither. The overlay is not what is measured here: ``Roll`` stands for it, a list of members per segment that
is right at every instant; a publish by ALM is one message to each of them. One topic, one OFM address.

``weft.sim.migration.turnover`` lets members come and go.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Event, Message, Outbox
from weft.core.rand import Rng
from weft.core.timers import Timers

GATE, SWITCHES, FIRST_AGENT = NodeId(1), NodeId(2), 3
LOOPBACK_S = 1.0
"""How long a publisher waits for its loopback packet before it forgets the address."""

SEEN_MAX = 1_024
"""Publishes that a subscriber remembers, to deliver each once although it comes by both ways."""


class Method(Enum):
    EITHER = "EITHER"
    BOTH = "BOTH"


class State(Enum):
    """Of the OFM tree, as OFGate answers."""

    NONE = "none"
    CONSTRUCTING = "under construction"
    CONSTRUCTED = "constructed"
    UPDATING = "updating"


class Query(Enum):
    """What OFGate is asked: the terms of equations 1 and 2, and the construction that they leave out."""

    PUBLISH = "publish"
    JOIN = "join"
    LEAVE = "leave"
    CONSTRUCT = "construct"


class Ask(Message, frozen=True, gc=False):
    number: int


class Status(Message, frozen=True, gc=False):
    number: int
    constructed: bool


class Joined(Message, frozen=True, gc=False):
    pass


class Left(Message, frozen=True, gc=False):
    pass


class Construct(Message, frozen=True, gc=False):
    """``brokers`` are what the publisher collected; under EITHER OFGate knows them (§3.2.1)."""

    brokers: tuple[int, ...]


class Install(Message, frozen=True, gc=False):
    """From OFGate to the switches; they answer Installed."""

    brokers: tuple[int, ...]


class Installed(Message, frozen=True, gc=False):
    pass


class Copy(Message, frozen=True, gc=False):
    """A publish: from an agent by ALM, or to and from the switches."""

    publisher: int
    number: int
    by_ofm: bool


class Address(Message, frozen=True, gc=False):
    """The OFM address: from OFGate to who had the tree built, from a member by OFM to a publish by ALM (§3.2.2)."""


class Received(Event, frozen=True, gc=False):
    publisher: int
    number: int


class Sent(Event, frozen=True, gc=False):
    """A publisher let go of a publish; does it use the OFM tree?"""

    number: int
    by_ofm: bool


class Times(NamedTuple):
    """What the paper leaves open, in seconds."""

    construct_s: float = 0.1
    update_s: float = 0.01
    migrate_low_s: float = 0.5
    migrate_high_s: float = 5.0
    """A member waits that long at random before it moves to OFM (MIGRATE §4.2: 500 … 5,000 ms)."""


@dataclass(slots=True)
class Roll:
    """The overlay's segments; dictionaries, because their order is that of joining."""

    alm: dict[NodeId, None] = field(default_factory=dict)
    ofm: dict[NodeId, None] = field(default_factory=dict)

    def __contains__(self, node: NodeId) -> bool:
        return node in self.alm or node in self.ofm

    def remove(self, node: NodeId) -> None:
        self.alm.pop(node, None)
        self.ofm.pop(node, None)


class Switches:
    """The OFM tree as one machine: a copy to each broker on its list, and one back to the publisher (§3.1.2)."""

    def __init__(self) -> None:
        self.brokers: dict[NodeId, None] = {}
        self.deadline: float | None = None

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        if isinstance(message, Install):
            self.brokers = dict.fromkeys(NodeId(broker) for broker in message.brokers)
            out.send(source, Installed())
        elif isinstance(message, Copy) and self.brokers:
            for broker in self.brokers:
                if broker != source:
                    out.send(broker, message)
            out.send(source, message)

    def timeout(self, now: float, out: Outbox) -> None:
        raise AssertionError("the switches have no timer")


class OfGate:
    """One topic's status. Constructing and updating take their time, one after the other; the tree is as last installed.

    Invariant: CONSTRUCTED if and only if the switches have installed ``brokers`` as they are now.
    """

    def __init__(self, times: Times) -> None:
        self.times = times
        self.state = State.NONE
        self.brokers: dict[NodeId, None] = {}
        self.queries: Counter[Query] = Counter()
        self.deadline: float | None = None
        self._stale = False
        self._asked: dict[NodeId, None] = {}

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        match message:
            case Ask(number=number):
                self.queries[Query.PUBLISH] += 1
                out.send(source, Status(number, self.state is State.CONSTRUCTED))
            case Joined():
                self.queries[Query.JOIN] += 1
                self.brokers[source] = None
                self._changed(now)
            case Left():
                self.queries[Query.LEAVE] += 1
                self.brokers.pop(source, None)
                self._changed(now)
            case Construct(brokers=brokers):
                self.queries[Query.CONSTRUCT] += 1
                self.brokers |= dict.fromkeys(NodeId(broker) for broker in brokers)
                self._asked[source] = None
                if self.state is State.NONE:
                    self.state, self.deadline = State.CONSTRUCTING, now + self.times.construct_s
                else:
                    self._changed(now)
            case Installed():
                self.state = State.CONSTRUCTED
                for publisher in self._asked:
                    out.send(publisher, Address())
                self._asked.clear()
                if self._stale:
                    self._changed(now)

    def _changed(self, now: float) -> None:
        """What comes while the controller is at work waits for it to finish, and is then done in one go (§3.2.1)."""
        if self.state is State.CONSTRUCTED:
            self.state, self.deadline, self._stale = State.UPDATING, now + self.times.update_s, False
        elif self.state is not State.NONE:
            self._stale = True

    def timeout(self, now: float, out: Outbox) -> None:
        self.deadline, self._stale = None, False
        out.send(SWITCHES, Install(tuple(self.brokers)))


class Migrate(NamedTuple):
    """A timer: move to the OFM segment."""


class Loopback(NamedTuple):
    """A timer: the loopback packet of this publish is due."""

    number: int


class Publish(NamedTuple):
    """A timer."""


class Agent:
    """A publisher (``publishing`` sets it going), a subscriber (``join``, ``leave``), both, or neither.

    ``renews``: at each publish, have the OFM built with whoever is still a member by ALM (BOTH; §3.2.2).
    """

    def __init__(self, node: NodeId, method: Method, roll: Roll, times: Times, rng: Rng) -> None:
        self.node = node
        self.method = method
        self.roll = roll
        self.times = times
        self.rng = rng
        self.renews = False
        self.knows_address = False
        self.sent = 0
        self._interval_s = 0.0
        self._timers = Timers()
        self._seen: dict[tuple[int, int], None] = {}

    @property
    def deadline(self) -> float | None:
        return self._timers.deadline

    # ------------------------------------------------------------------------------------------------- subscribing

    def join(self, now: float, out: Outbox) -> None:
        """A newcomer is a member by ALM; under EITHER it tells OFGate then (§3.2.1)."""
        if self.node in self.roll:
            raise Misuse(f"agent {self.node} is a member already")
        self.roll.alm[self.node] = None
        if self.method is Method.EITHER:
            out.send(GATE, Joined())

    def leave(self, now: float, out: Outbox) -> None:
        """Under BOTH only who leaves the OFM segment tells OFGate (§3.2.2)."""
        if self.node not in self.roll:
            raise Misuse(f"agent {self.node} is not a member")
        if self.method is Method.EITHER or self.node in self.roll.ofm:
            out.send(GATE, Left())
        self.forget()

    def forget(self) -> None:
        """Not a member any more, and nobody is told."""
        self.roll.remove(self.node)
        self._timers.cancel(Migrate())

    # -------------------------------------------------------------------------------------------------- publishing

    def publishing(self, first: float, interval_s: float) -> None:
        self._interval_s = interval_s
        self._timers.set(Publish(), first)

    def construct(self, now: float, out: Outbox) -> None:
        """Decide for OFM. Under BOTH the list of members travels along: it is part of what a publisher monitors."""
        members = () if self.method is Method.EITHER else (*self.roll.ofm, *self.roll.alm)
        out.send(GATE, Construct(members))

    def _publish(self, now: float, out: Outbox) -> None:
        self.sent += 1
        if self.method is Method.EITHER:
            out.send(GATE, Ask(self.sent))
            return
        if self.renews and self.roll.alm:
            self.construct(now, out)
        by_alm = [*self.roll.alm] if self.knows_address else [*self.roll.alm, *self.roll.ofm]
        self._by_alm(self.sent, by_alm, out)
        if self.knows_address:
            self._by_ofm(self.sent, out)
            self._timers.set(Loopback(self.sent), now + LOOPBACK_S)
        out.deliver(Sent(self.sent, self.knows_address))

    def _by_alm(self, number: int, members: list[NodeId], out: Outbox) -> None:
        copy = Copy(self.node, number, by_ofm=False)
        for member in members:
            if member != self.node:
                out.send(member, copy)

    def _by_ofm(self, number: int, out: Outbox) -> None:
        out.send(SWITCHES, Copy(self.node, number, by_ofm=True))

    # ------------------------------------------------------------------------------------------------------ driven

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        match message:
            case Copy():
                self._received(now, source, message, out)
            case Status(number=number, constructed=constructed):
                if constructed:
                    self._by_ofm(number, out)
                else:
                    self._by_alm(number, [*self.roll.alm], out)
                out.deliver(Sent(number, constructed))
            case Address():
                self.knows_address = True

    def _received(self, now: float, source: NodeId, copy: Copy, out: Outbox) -> None:
        if copy.publisher == self.node:
            self._timers.cancel(Loopback(copy.number))
            return
        if self.node not in self.roll:
            return  # it left, and the copy was under way, or the tree is older than that
        if self.method is Method.BOTH:
            waiting = self.node in self.roll.alm and Migrate() not in self._timers
            if copy.by_ofm and waiting:
                wait_s = self.rng.uniform(self.times.migrate_low_s, self.times.migrate_high_s)
                self._timers.set(Migrate(), now + wait_s)
            if not copy.by_ofm and self.node in self.roll.ofm:
                out.send(source, Address())
        if (copy.publisher, copy.number) not in self._seen:
            self._seen[copy.publisher, copy.number] = None
            if len(self._seen) > SEEN_MAX:
                del self._seen[next(iter(self._seen))]
            out.deliver(Received(copy.publisher, copy.number))

    def timeout(self, now: float, out: Outbox) -> None:
        for token in self._timers.due(now):
            match token:
                case Publish():
                    self._timers.set(token, now + self._interval_s)
                    self._publish(now, out)
                case Migrate():
                    self.roll.alm.pop(self.node, None)
                    self.roll.ofm[self.node] = None
                case Loopback():
                    self.knows_address = False
