"""Real brokers on a network that a test turns by hand: a message arrives when the test says so, time passes when it says so.

``Net`` holds the machines and what is under way between them; ``grown`` and ``whole`` make rings to start from. Broker b's key
is the number 10·b, unless a test gives others; keys are named by their numbers.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from weft.core.ids import NodeId
from weft.core.machine import Deliver, Event, Message, Outbox, Send, Trace
from weft.overlay.api import Ref
from weft.overlay.keys import Key, number_key
from weft.overlay.peer import Peer
from weft.overlay.ring.tables import Link
from weft.overlay.settings import Settings
from weft.overlay.suzaku.machine import Suzaku
from weft.sim.invariants import RingCheck
from weft.sim.whole import whole_suzaku

BARE = Settings(ping_interval_s=None, update_interval_s=None, lost_interval_s=None, walk_interval_s=None)
"""The protocol and nothing that happens by itself: timers are armed only while an answer is awaited."""

PINGING = Settings(update_interval_s=None, lost_interval_s=None, walk_interval_s=None)
"""Failure detection at its defaults; no finger table refreshes itself."""


class Flight(NamedTuple):
    source: int
    to: int
    message: Any

    @property
    def kind(self) -> str:
        return type(self.message).__name__


def key(broker: int, number: int | None = None) -> Key:
    return number_key(10 * broker if number is None else number, NodeId(broker))


def ref(broker: int, incarnation: int = 1, number: int | None = None) -> Ref:
    return Ref(key(broker, number), NodeId(broker), incarnation)


class Net:
    """In: verbs at brokers, ``arrive``, ``lose``, ``run``. Out: ``flying``, ``sent``, ``events``, ``traces``, the machines."""

    def __init__(self, kind: type[Peer] = Peer, settings: Settings = BARE, seed: int = 1) -> None:
        self.kind = kind
        self.settings = settings
        self.seed = seed
        self.now = 0.0
        self.peers: dict[int, Peer] = {}
        self.flying: list[Flight] = []
        self.sent: list[Flight] = []
        self.events: list[tuple[int, Event]] = []
        self.traces: list[tuple[int, Trace]] = []

    # brokers

    def add(self, *brokers: int, run: int = 0) -> None:
        for broker in brokers:
            self.peers[broker] = self.kind(NodeId(broker), self.settings, self.seed, run)

    def crash(self, broker: int) -> Peer:
        """The broker is gone, and what flies to it will not arrive."""
        self.flying = [flight for flight in self.flying if flight.to != broker]
        return self.peers.pop(broker)

    def pause(self, broker: int) -> Callable[[], None]:
        """The broker stands still; what comes meanwhile waits. The answer ends the pause."""
        peer = self.peers.pop(broker)
        waiting, self.waiting_at = [], broker
        self._waiting = waiting

        def resume() -> None:
            self.peers[broker] = peer
            self.flying += waiting
            self._waiting = None

        return resume

    _waiting: list[Flight] | None = None
    waiting_at = 0

    def do(self, broker: int, call: Callable[[Any, float, Outbox], Any]) -> Any:
        out = Outbox()
        answer = call(self.peers[broker], self.now, out)
        self._carry_out(broker, out)
        return answer

    def join(self, broker: int, introducer: int | None = 1, number: int | None = None) -> None:
        if broker not in self.peers:
            self.add(broker)
        who = NodeId(introducer) if introducer not in (None, broker) else None
        self.do(broker, lambda peer, now, out: peer.join(now, key(broker, number), who, out))

    def leave(self, broker: int, number: int | None = None) -> None:
        self.do(broker, lambda peer, now, out: peer.leave(now, key(broker, number), out))

    def give(self, source: int, to: int, message: Message) -> list[Flight]:
        """``message`` arrives at once; what it made the receiver send, not yet on its way."""
        out = Outbox()
        self.peers[to].receive(self.now, NodeId(source), message, out)
        before = len(self.flying)
        self._carry_out(to, out)
        return self.flying[before:]

    def _carry_out(self, broker: int, out: Outbox) -> None:
        for effect in out.effects:
            if isinstance(effect, Send):
                flight = Flight(broker, effect.to, effect.message)
                self.sent.append(flight)
                self.flying.append(flight)
            elif isinstance(effect, Deliver):
                self.events.append((broker, effect.event))
            elif isinstance(effect, Trace):
                self.traces.append((broker, effect))

    # messages

    def kinds(self) -> list[str]:
        """What flies, by type name, in order of sending."""
        return [flight.kind for flight in self.flying]

    def find(self, kind: str | type, to: int | None = None) -> Flight:
        """The first message of a kind that flies (to somebody)."""
        name = kind if isinstance(kind, str) else kind.__name__
        return next(flight for flight in self.flying if flight.kind == name and to in (None, flight.to))

    def arrive(self, kind: str | type, to: int | None = None) -> Flight:
        """The first message of a kind that flies (to somebody) arrives."""
        flight = self.find(kind, to)
        self.flying.remove(flight)
        self.deliver(flight)
        return flight

    def lose(self, kind: str | type, to: int | None = None) -> Flight:
        flight = self.find(kind, to)
        self.flying.remove(flight)
        return flight

    def deliver(self, flight: Flight) -> None:
        if self._waiting is not None and flight.to == self.waiting_at:
            self._waiting.append(flight)
        elif flight.to in self.peers:
            self.give(flight.source, flight.to, flight.message)

    def settle(self) -> None:
        """All that flies arrives, and what it causes, in order; no timer fires."""
        for _ in range(100_000):
            if not self.flying:
                return
            self.deliver(self.flying.pop(0))
        raise AssertionError("the messages never end")

    # time

    def pass_time(self, until: float) -> None:
        """Timers fire up to ``until``; nothing arrives."""
        while self._fire(until):
            pass
        self.now = max(self.now, until)

    def run(self, until: float) -> None:
        """Timers fire up to ``until``; each message arrives at once."""
        self.settle()
        while self._fire(until):
            self.settle()
        self.now = max(self.now, until)

    def _fire(self, until: float) -> bool:
        due = [(peer.deadline, broker) for broker, peer in self.peers.items() if peer.deadline is not None]
        if not due or min(due)[0] > until:
            return False
        at, broker = min(due)
        self.now = max(self.now, at)
        self.do(broker, lambda peer, now, out: peer.timeout(now, out))
        return True

    # looking

    def link(self, broker: int, level: int = 0, number: int | None = None) -> Link:
        return self.peers[broker].ring.links[level, key(broker, number)]

    def heard(self, kind: type, broker: int | None = None) -> list[Any]:
        """Events of a kind (at a broker), in order."""
        return [event for at, event in self.events if isinstance(event, kind) and broker in (None, at)]

    def count(self, what: str) -> int:
        return sum(peer.local.counts[what] for peer in self.peers.values())

    def sent_since(self, mark: int) -> Counter[str]:
        return Counter(flight.kind for flight in self.sent[mark:])

    def is_whole(self) -> None:
        """Raises unless the ring of all is whole."""
        RingCheck().at_rest(self.peers.values())

    def order(self, start: int = 1) -> list[int]:
        """Brokers by right pointers, from ``start`` once round."""
        found, at = [start], self.link(start).right
        while at.node != start:
            found.append(at.node)
            at = self.peers[at.node].ring.links[0, at.key].right
        return found


def grown(brokers: Iterable[int], kind: type[Peer] = Peer, settings: Settings = BARE, seed: int = 1) -> Net:
    """A ring that they have joined one after the other; the first founded it."""
    net = Net(kind, settings, seed)
    first = None
    for broker in brokers:
        net.join(broker, first)
        net.settle()
        first = first or broker
    return net


def whole(count: int, settings: Settings = BARE, seed: int = 1) -> Net:
    """``count`` Suzaku brokers whose tables are converged."""
    net = Net(Suzaku, settings, seed)
    net.peers.update(whole_suzaku({NodeId(b): [key(b)] for b in range(1, count + 1)}, settings, seed))
    return net
