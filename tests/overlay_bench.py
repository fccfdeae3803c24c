"""A bench for the shared overlay components: real Spread, Lookup, Hops and Contacts over tables that are exactly right.

No ring protocol runs here. ``suzaku`` and ``skipgraph`` build the tables of every virtual node from the sorted list of keys,
so a test about spreading is not about maintenance; ``repair`` builds them anew without the dead. Time is virtual, messages
are delivered in order of arrival, and with a seed they are delayed, lost or doubled.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count, pairwise
from typing import Any

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Deliver, Message, Outbox, Send
from weft.core.rand import Rng, mix
from weft.overlay.api import Answered, Entry, Missed, Query, Received, Ref, Selected
from weft.overlay.contacts import Contacts
from weft.overlay.hops import Hop, Hops
from weft.overlay.keys import Key
from weft.overlay.local import Local
from weft.overlay.lookup import Lookup
from weft.overlay.settings import Settings
from weft.overlay.spread.machine import Spread
from weft.overlay.spread.messages import Gather, Pick, Scatter
from weft.overlay.values import merge

Values = Mapping[Key, dict[str, float]]
DELAY_S = 0.01


class Row:
    """What a table says of one virtual node."""

    def __init__(self, lefts: Sequence[Entry], rights: Sequence[Entry], left: Ref, right: Ref) -> None:
        self.lefts, self.rights = list(lefts), list(rights)
        self.left, self.right = left, right

    def refs(self) -> list[Ref]:
        return [self.left, self.right, *(entry.ref for entry in (*self.lefts, *self.rights))]


Build = Callable[[Sequence[Ref], Values], dict[Key, Row]]


def suzaku(ring: Sequence[Ref], values: Values) -> dict[Key, Row]:
    """FFT[i] is 2**i to the right, i ≤ ceil(log2 n) − 1; its value is that of the nodes up to FFT[i+1], the last up to us."""
    size = len(ring)
    top = max((size - 1).bit_length() - 1, 0)
    steps = [1 << level for level in range(top + 1)]

    def total(start: int, length: int) -> dict[str, float]:
        merged: dict[str, float] = {}
        for at in range(start, start + length):
            merged = merge(merged, values.get(ring[at % size].key, {}))
        return merged

    rows = {}
    for at, ref in enumerate(ring):
        ends = pairwise([*steps, size])
        rights = [
            Entry(ring[(at + step) % size], i, total(at + step, end - step)) for i, (step, end) in enumerate(ends)
        ]
        nearer = [0, *steps]
        lefts = [Entry(ring[(at - step) % size], i, total(at - step, step - nearer[i])) for i, step in enumerate(steps)]
        rows[ref.key] = Row(lefts, rights, ring[at - 1], ring[(at + 1) % size])
    return rows


def skipgraph(ring: Sequence[Ref], values: Values) -> dict[Key, Row]:
    """Level i links those whose broker's vector shares i digits; a ring of our own keys only ends our height."""
    rows = {}
    for at, ref in enumerate(ring):
        row = Row([], [], ring[at - 1], ring[(at + 1) % len(ring)])
        others = [*ring[at + 1 :], *ring[:at]]
        for level in range(64):
            peers = [other for other in others if _shares(ref.node, other.node, level)]
            if level > 0 and all(peer.node == ref.node for peer in peers):
                break
            row.rights.append(Entry(peers[0] if peers else ref, level))
            row.lefts.append(Entry(peers[-1] if peers else ref, level))
        rows[ref.key] = row
    return rows


def _shares(one: int, other: int, digits: int) -> bool:
    return mix(one) >> (64 - digits) == mix(other) >> (64 - digits)


OVERLAYS: dict[str, Build] = {"suzaku": suzaku, "skipgraph": skipgraph}


class Broker:
    """One broker: the components, and the tables that it is given."""

    def __init__(self, node: int, settings: Settings, seed: int) -> None:
        self.local = Local(NodeId(node), seed)
        self.contacts = Contacts(NodeId(node))
        self.hops = Hops(self.local, self.contacts, settings, self._dispatch)
        self.lookup = Lookup(
            self.local, self.contacts, self.hops, settings, self._right_of, self.contacts.is_own, self._purge
        )
        self.spread = Spread(self.local, self.contacts, self.hops, self.lookup, settings, self)
        self.rows: dict[Key, Row] = {}
        self.attributes: dict[Key, dict[str, float]] = {}
        self.violations: list[str] = []

    # what spread asks

    def lefts(self, key: Key) -> Sequence[Entry]:
        return self.rows[key].lefts

    def rights(self, key: Key) -> Sequence[Entry]:
        return self.rows[key].rights

    def values(self, key: Key) -> dict[str, float]:
        return self.attributes.get(key, {})

    def neighbours(self, key: Key) -> tuple[Ref, Ref]:
        return self.rows[key].left, self.rows[key].right

    # the front door

    def receive(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        self.contacts.heard(source)
        self._dispatch(now, source, message, out)

    def _dispatch(self, now: float, source: NodeId, message: Message, out: Outbox) -> None:
        handlers = {**self.hops.handlers, **self.lookup.handlers, **self.spread.handlers}
        try:
            handlers[type(message)](now, source, message, out)
        except Violation as violation:
            self.violations.append(str(violation))

    def timeout(self, now: float, out: Outbox) -> None:
        handlers = {**self.hops.timers, **self.lookup.timers, **self.spread.timers}
        for token in self.local.timers.due(now):
            handlers[type(token)](now, token, out)

    # the tables

    def load(self, refs: Iterable[Ref], rows: Mapping[Key, Row]) -> None:
        """Take over the tables of ``refs``, our virtual nodes."""
        for row in self.rows.values():
            for ref in row.refs():
                self.contacts.drop(ref)
        for ref in list(self.contacts.own):
            self.contacts.unsettle(ref)
        self.rows = {}
        for ref in refs:
            self.rows[ref.key] = rows[ref.key]
            self.contacts.settle(ref)
            for each in rows[ref.key].refs():
                self.contacts.add(each)

    def _right_of(self, key: Key) -> Ref:
        return self.rows[key].right

    def _purge(self, now: float, lost: Ref, out: Outbox) -> None:
        for row in self.rows.values():
            for entries in (row.lefts, row.rights):
                for entry in [entry for entry in entries if entry.ref == lost]:
                    entries.remove(entry)
                    self.contacts.drop(lost)


class Bench:
    """All brokers, the network between them, and what came up: ``received``, ``answered``, ``selected``, ``sent``."""

    def __init__(
        self,
        overlay: str,
        keys: Iterable[Key],
        *,
        settings: Settings | None = None,
        seed: int = 0,
        drop: float = 0.0,
        double: float = 0.0,
        jitter_s: float = 0.0,
        values: Values | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.build = OVERLAYS[overlay]
        self.ring = [Ref(key, key.broker, 1) for key in sorted(keys)]
        self.values: dict[Key, dict[str, float]] = dict(values or {})
        self.rng = Rng(seed, 7)
        self.drop, self.double, self.jitter_s = drop, double, jitter_s
        nodes = sorted({ref.node for ref in self.ring})
        self.brokers = {node: Broker(node, self.settings, seed) for node in nodes}
        self.now = 0.0
        self.dead: set[NodeId] = set()
        self.reply: Callable[[NodeId, Received], Any] = lambda node, event: 1
        self.reply_delay_s: float | None = 0.0
        self.strangers_ok = False
        self.sent: list[tuple[NodeId, NodeId, Message]] = []
        self.received: list[Received] = []
        self.answered: list[Answered] = []
        self.selected: list[Selected] = []
        self.missed: list[Missed] = []
        self._agenda: list[tuple[float, int, Callable[[Outbox], None], NodeId]] = []
        self._order = count()
        self.load(self.ring)

    def load(self, ring: Sequence[Ref]) -> None:
        """Give every broker the right tables for ``ring``, and its attributes."""
        rows = self.build(ring, self.values) if ring else {}
        for node, broker in self.brokers.items():
            if node not in self.dead:
                broker.load([ref for ref in ring if ref.node == node], rows)
                broker.attributes = {ref.key: self.values.get(ref.key, {}) for ref in ring if ref.node == node}

    # what a test does

    def multicast(self, node: int, query: Query) -> int:
        request: int = self._do(node, lambda broker, out: broker.spread.multicast(self.now, query, out))
        return request

    def anycast(self, node: int, query: Query, selection: str = "many") -> int:
        request: int = self._do(node, lambda broker, out: broker.spread.anycast(self.now, query, selection, out))
        return request

    def give(self, source: int, to: int, message: Message) -> None:
        """``message`` arrives at ``to`` now."""
        self._do(to, lambda broker, out: broker.receive(self.now, NodeId(source), message, out))

    def kill(self, *nodes: int) -> None:
        self.dead.update(NodeId(node) for node in nodes)

    def repair(self) -> None:
        """The ring has healed around the dead."""
        self.load([ref for ref in self.ring if ref.node not in self.dead])

    def at(self, time: float, node: int, action: Callable[[Outbox], None]) -> None:
        heapq.heappush(self._agenda, (time, next(self._order), action, NodeId(node)))

    def run(self, until: float = 3_600.0) -> None:
        """Until nothing is under way and no timer is set, which must come before ``until``."""
        while True:
            waking = [(b.local.timers.deadline, n) for n, b in self.brokers.items() if n not in self.dead]
            timers = [(deadline, node) for deadline, node in waking if deadline is not None]
            next_timer = min(timers, default=(until + 1, NodeId(0)))
            next_event = self._agenda[0][0] if self._agenda else until + 1
            if min(next_timer[0], next_event) > until:
                assert not timers or until < 3_600.0, "the bench does not come to rest"
                self.now = max(self.now, until) if timers else self.now
                return
            out = Outbox()
            if next_event <= next_timer[0]:
                self.now, _, action, node = heapq.heappop(self._agenda)
                if node not in self.dead:
                    action(out)
            else:
                self.now, node = max(self.now, next_timer[0]), next_timer[1]
                self.brokers[node].timeout(self.now, out)
            self._carry_out(node, out)

    # what a test looks at

    def keys_received(self) -> list[Key]:
        return sorted(event.key for event in self.received)

    def bodies(self, kind: type) -> list[tuple[NodeId, NodeId, Any]]:
        """(from, to, message) of each message of a kind, acknowledged or not, repeats and acknowledgements left out."""
        found, seen = [], set()
        for source, to, message in self.sent:
            body = message
            if isinstance(message, Hop):
                if (source, message.number) in seen:
                    continue
                seen.add((source, message.number))
                body = message.body
            if isinstance(body, kind):
                found.append((source, to, body))
        return found

    def scatters(self) -> list[tuple[NodeId, NodeId, Scatter]]:
        return self.bodies(Scatter)

    def gathers(self) -> list[tuple[NodeId, NodeId, Gather]]:
        return self.bodies(Gather)

    def picks(self) -> list[tuple[NodeId, NodeId, Pick]]:
        return self.bodies(Pick)

    def counts(self, what: str) -> int:
        return sum(broker.local.counts[what] for broker in self.brokers.values())

    def violations(self) -> list[str]:
        return [text for broker in self.brokers.values() for text in broker.violations]

    # the network

    def _do(self, node: int, action: Callable[[Broker, Outbox], Any]) -> Any:
        out = Outbox()
        result = action(self.brokers[NodeId(node)], out)
        self._carry_out(NodeId(node), out)
        return result

    def _carry_out(self, node: NodeId, out: Outbox) -> None:
        for effect in out.effects:
            if isinstance(effect, Send):
                self._send(node, effect.to, effect.message)
            elif isinstance(effect, Deliver):
                self._deliver(node, effect.event)

    def _send(self, source: NodeId, to: NodeId, message: Message) -> None:
        assert source != to, f"{message} sent to oneself"
        self.sent.append((source, to, message))
        if to not in self.brokers:
            assert self.strangers_ok, f"{message} sent to nobody"
            return
        copies = 1 - (self.drop > 0 and self.rng.random() < self.drop)
        copies += self.double > 0 and self.rng.random() < self.double
        for _ in range(copies):
            delay = DELAY_S + (self.rng.random() * self.jitter_s if self.jitter_s else 0.0)
            self.at(
                self.now + delay,
                to,
                lambda out: self.brokers[to].receive(self.now, source, message, out),
            )

    def _deliver(self, node: NodeId, event: object) -> None:
        if isinstance(event, Answered):
            self.answered.append(event)
        elif isinstance(event, Selected):
            self.selected.append(event)
        elif isinstance(event, Missed):
            self.missed.append(event)
        elif isinstance(event, Received):
            self.received.append(event)
            if event.token is not None and self.reply_delay_s is not None:
                token, value = event.token, self.reply(node, event)
                spread = self.brokers[node].spread
                self.at(self.now + self.reply_delay_s, node, lambda out: spread.reply(self.now, token, value, out))
