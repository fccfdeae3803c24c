"""Multicasts and lookups asked of a ring whose members come and go, and what became of them.

Whoever was a member when a multicast set out and still is one ``DEADLINE_S`` later should have got it, by then, once; so
should its sender have stayed. A lookup is right if it names who had the greatest key not above the one sought, when it was
asked or when it was answered.
"""

from collections import Counter
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Event, Outbox
from weft.core.rand import Rng
from weft.overlay.api import Answered, Found, Query, Received
from weft.overlay.keys import Key, KeyRange, after
from weft.sim.churn.membership import Membership, Told
from weft.sim.des.engine import Simulation

DEADLINE_S = 35.0
"""A multicast has reached whom it will reach."""

WAYS: dict[str, dict[str, Any]] = {
    "bare, binary": {"strategy": "binary"},
    "bare": {},
    "acknowledged": {"reliable": True},
    "answered": {"reliable": True, "reduce": "count"},
}
"""Kinds of multicast: hops without and with acknowledgement, and with answers, so that the sender asks again for what is
missing. All are ``cluster-first``, in one cluster, but the first: that is the rule of RELAY and SAPS.
"""


class Asking:
    """In: ``multicast``, ``lookup``, what machines say. Out: what is told."""

    def __init__(self, simulation: Simulation, membership: Membership, span: int, tell: Told) -> None:
        self.delivered: Counter[str] = Counter()
        """Deliveries, by way."""
        self._simulation = simulation
        self._membership = membership
        self._span = span
        self._tell = tell
        self._rng = Rng(simulation.seed, 2)
        self._ways: list[str] = []
        """By number of the query."""
        self._reached: dict[int, dict[Key, float]] = {}
        self._missing: dict[tuple[NodeId, int], tuple[KeyRange, ...]] = {}
        self._sought: set[Key] = set()
        self._lookups: dict[tuple[NodeId, int], tuple[Key, float]] = {}

    def way(self, number: int) -> str:
        """By which of the ``WAYS`` query ``number`` goes."""
        return self._ways[number]

    def is_sought(self, key: Key) -> bool:
        return key in self._sought

    # Asking

    def multicast(self, way: str) -> None:
        """By a random member, to about ``span`` members from a random one on."""
        members, now = self._membership.members, self._simulation.now
        first = self._rng.below(max(1, len(members) - self._span))
        there = members[first : first + self._span]
        sender = self._rng.choice(members).broker
        number = len(self._ways)
        self._ways.append(way)
        self._reached[number] = {}
        query = Query(KeyRange(there[0], after(there[-1])), number, **WAYS[way])

        def cast(peer: Any, at: float, out: Outbox) -> None:
            request = peer.multicast(at, query, out)
            self._simulation.at(now + DEADLINE_S, lambda: self._judge(number, sender, request, there, now))

        self._simulation.do(sender, cast)

    def _judge(self, number: int, sender: NodeId, request: int, there: list[Key], asked: float) -> None:
        reached, way = self._reached.pop(number), self._ways[number]
        if self._membership.since(sender) is None:
            return
        stayed = [key for key in there if self._membership.since(key.broker) is not None]
        got = [reached[key] for key in stayed if key in reached]
        if (missing := self._missing.pop((sender, request), None)) is not None:
            silent = [key for key in stayed if key not in reached and not any(key in span for span in missing)]
            self._tell("silent", way, float(len(silent)))
        self._tell("stayed", way, float(len(stayed)))
        self._tell("got", way, float(len(got)))
        if got:
            self._tell("last", way, max(got) - asked)

    def lookup(self) -> None:
        """By a random member, for a random member's key."""
        members, begun = self._membership.members, self._simulation.now
        key, asker = self._rng.choice(members), self._rng.choice(members).broker
        self._sought.add(key)

        def look(peer: Any, now: float, out: Outbox) -> None:
            self._lookups[asker, peer.lookup(now, key, out)] = key, begun

        self._simulation.do(asker, look)

    # What machines say

    def heard(self, now: float, node: NodeId, event: Event, out: Outbox) -> None:
        if isinstance(event, Received):
            self._received(now, event)
            if event.token is not None:
                self._membership.peers[node].reply(now, event.token, 1, out)
        elif isinstance(event, Answered):
            self._missing[node, event.request] = event.missing
        elif isinstance(event, Found) and (node, event.request) in self._lookups:
            key, begun = self._lookups.pop((node, event.request))
            kind = "failed"
            if event.at is not None:
                kind = "right" if event.at.key in {key, self._membership.floor(key)} else "wrong"
                self._tell("lookup hops", kind, float(event.hops))
            self._tell("lookup", kind, now - begun)

    def _received(self, now: float, event: Received) -> None:
        reached, way = self._reached.get(event.payload), self._ways[event.payload]
        self.delivered[way] += 1
        if reached is None:
            self._tell("late", way, 1.0)
        elif event.key in reached:
            self._tell("twice", way, 1.0)
        else:
            reached[event.key] = now
