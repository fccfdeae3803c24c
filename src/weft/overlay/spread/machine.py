"""Range multicast, conditional or not: the front of the component, and how a piece is dealt with.

    multicast ─┐
    Scatter  ──┼─▶ cover: deliver to our keys in each piece, hand on the gaps ─▶ Scatter per broker
    lost hop ──┤                                        └ the ring is broken there ─▶ held ─▶ cover again
    healed   ──┘

Without answers and acknowledgements nothing is kept. With either, ``Memory`` knows which of our keys a query has reached,
so that a second way to the same key delivers nothing; with answers a ``Duty`` collects them (``upkeep``).
"""

from collections.abc import Sequence
from typing import Any

from weft.core.errors import Misuse, Violation
from weft.core.ids import NodeId
from weft.core.limits import LEVELS_MAX, TTL_HOPS
from weft.core.machine import Handlers, Message, Outbox, TimerHandlers
from weft.overlay.api import Answered, Missed, Query, Received, Ref
from weft.overlay.contacts import Contacts
from weft.overlay.hops import Hops
from weft.overlay.keys import EVERYTHING
from weft.overlay.local import Local
from weft.overlay.lookup import Gone, Lookup
from weft.overlay.settings import Settings
from weft.overlay.spread.anycast import Anycast
from weft.overlay.spread.entrance import Entrance
from weft.overlay.spread.geometry import OPERATORS, STRATEGIES, matches
from weft.overlay.spread.messages import (
    PARTS_MAX,
    SELECTIONS,
    Asked,
    Astray,
    Gather,
    Offer,
    Part,
    Returned,
    Scatter,
    check_scatter,
)
from weft.overlay.spread.planner import Planner
from weft.overlay.spread.tables import Delivery, Duty, Errand, Memory, Tables
from weft.overlay.spread.upkeep import Upkeep
from weft.overlay.values import REDUCERS, reduce


class Spread:
    """In: ``multicast``, ``anycast``, ``reply``, messages, timers. Out: Received, Answered, Selected; Scatter to others."""

    def __init__(
        self,
        local: Local,
        contacts: Contacts,
        hops: Hops,
        lookup: Lookup,
        settings: Settings,
        tables: Tables,
    ) -> None:
        self._local = local
        self._contacts = contacts
        self._hops = hops
        self._lookup = lookup
        self._settings = settings
        self._tables = tables
        self._planner = Planner(local, contacts, settings, tables)
        self._memory = Memory()
        self._upkeep = Upkeep(local, hops, settings, self._cover, self._conclude)
        self._entrance = Entrance(local, contacts, lookup, self._upkeep, self._cover, self._hand)
        self._anycast = Anycast(local, contacts, hops, settings, tables, self._planner, self._memory, self._census)
        self.handlers: Handlers = {
            Scatter: self.on_scatter,
            Astray: self.on_astray,
            Returned: self.on_returned,
            **self._upkeep.handlers,
            **self._anycast.handlers,
        }
        self.timers: TimerHandlers = {**self._upkeep.timers, **self._anycast.hunts.timers}
        hops.lost[Scatter] = self.on_scatter_lost

    # The verbs

    def multicast(self, now: float, query: Query, out: Outbox) -> int:
        """Reach all keys in the query's range; the number returned is that of ``Answered``, if it wants answers."""
        check_query(query)
        request = self._local.next_request()
        self._issue(now, query, request, self._settings.query_timeout_s, out)
        return request

    def anycast(self, now: float, query: Query, selection: str, out: Outbox) -> int:
        """Reach one key in the range whose node satisfies the condition and takes it; ends in ``Selected``."""
        check_query(query)
        if query.condition is None:
            raise Misuse("anycast needs a condition: which nodes can take it?")
        if selection not in SELECTIONS:
            raise Misuse(f"unknown selection {selection}: one of {', '.join(SELECTIONS)}")
        return self._anycast.hunts.begin(now, query, selection, out)

    def reply(self, now: float, token: int, value: Any, out: Outbox) -> None:
        """The layer above answers for one ``Received``; for Anycast None means: refused."""
        delivery = self._memory.answer(token)
        if delivery is None:
            self._local.count("spread.late", out, token)
            return
        reducer = delivery.asked.reduce
        if reducer is not None and delivery.pick is None:
            try:
                reduce(reducer, value, value)
            except (Violation, ArithmeticError, ValueError) as error:
                raise Misuse(f"a reply that {reducer} cannot reduce: {value!r}") from error
        delivery.done, delivery.value, delivery.token = True, value, None
        if delivery.pick is not None:
            self._anycast.replied(now, delivery, out)
        for number in delivery.waiters:
            self._upkeep.answered(now, number, delivery.key, value, out)
            self._upkeep.settle(now, number, out)
        delivery.waiters.clear()

    # A query of our own

    def _issue(self, now: float, query: Query, request: int, time_s: float, out: Outbox, census: bool = False) -> None:
        asked = Asked(
            self._local.node,
            request,
            None if census else query.payload,
            query.strategy,
            None if census else query.reduce,
            query.reliable,
            query.condition,
            query.stale_ok and not census,
            census,
        )
        number = 0
        if asked.wants_answers:
            duty = self._upkeep.open_root(now, asked, query.range, time_s)
            if self._upkeep.over_full():
                self._upkeep.refuse(now, duty, out)
                return
            number = duty.number
        if not query.range.is_empty:
            self._entrance.enter(now, Errand(asked, 0, number), self._whole(query), out)
        if number:
            self._upkeep.settle(now, number, out)

    def _whole(self, query: Query) -> Part:
        return Part(Ref(query.range.low, self._local.node, 0), query.range, LEVELS_MAX)

    def _census(self, now: float, query: Query, number: int, time_s: float, out: Outbox) -> None:
        """For Anycast: who in the range matches? ``Hunts.counted`` hears the end."""
        self._issue(now, query, number, time_s, out, census=True)

    def _conclude(self, now: float, duty: Duty, out: Outbox) -> None:
        if duty.asked.census:
            self._anycast.hunts.counted(now, duty.asked.request, duty.offers, out)
        else:
            out.deliver(Answered(duty.asked.request, duty.value, duty.keys, tuple(duty.missing)))

    # Pieces

    def on_scatter(self, now: float, source: NodeId, message: Scatter, out: Outbox) -> None:
        check_scatter(message)
        if message.ticket and self._memory.repeated(source, message.ticket):
            self._local.count("spread.repeat", out, source, message.ticket)
            return
        if message.hops >= TTL_HOPS:
            self._local.count("spread.ttl", out, source, message.asked.request)
            if message.ticket:
                out.send(source, Gather(message.ticket, None, 0, tuple(part.piece for part in message.parts)))
            return
        for part in message.parts:
            if part.to.node == self._local.node and not self._contacts.is_own(part.to):
                out.send(source, Astray(part.to))
        if self._contacts.floor(EVERYTHING.low, now) is None:
            self._send(now, source, Returned(message), message.careful or message.asked.reliable, out)
            return
        number = 0
        if message.ticket:
            duty = self._upkeep.open(now, source, message, out)
            if duty is None:
                return
            number = duty.number
        self._cover(now, Errand(message.asked, message.hops, number, message.careful), message.parts, out)
        self._upkeep.settle(now, number, out)

    def _cover(self, now: float, errand: Errand, parts: Sequence[Part], out: Outbox, tries: int = 0) -> None:
        """Deliver to our keys in ``parts``, hand on the rest: one message per broker. ``tries``: waits for the ring so far."""
        self._upkeep.busy(errand.duty, 1)
        outgoing: dict[NodeId, list[Part]] = {}
        for part in parts:
            plan = self._planner.plan(now, errand.asked, part)
            for ref in plan.mine:
                self._visit(now, errand, ref, out)
            if not errand.asked.census:
                for key in plan.missed:
                    out.deliver(Missed(key, errand.asked.payload, errand.asked.origin))
            for onward in plan.parts:
                outgoing.setdefault(onward.to.node, []).append(onward)
            for stuck in plan.stuck:
                if errand.acknowledged or errand.duty:
                    self._upkeep.wait(now, errand, stuck, tries, out)
                elif stuck.to.node != self._local.node:
                    outgoing.setdefault(stuck.to.node, []).append(stuck)
                else:
                    self._local.count("spread.stranded", out, errand.asked.request)
        for node, onwards in outgoing.items():
            onwards.sort(key=lambda part: part.piece)
            for start in range(0, len(onwards), PARTS_MAX):
                self._hand(now, errand, node, onwards[start : start + PARTS_MAX], out)
        self._upkeep.busy(errand.duty, -1)

    def _hand(
        self, now: float, errand: Errand, node: NodeId, parts: Sequence[Part], out: Outbox, acknowledged: bool = False
    ) -> None:
        ticket, budget_s = self._upkeep.expect(now, errand.duty, node, parts) if errand.duty else (0, 0.0)
        message = Scatter(errand.asked, tuple(parts), errand.hops + 1, ticket, budget_s, errand.careful)
        self._send(now, node, message, errand.acknowledged or acknowledged, out)

    def _send(self, now: float, to: NodeId, message: Message, acknowledged: bool, out: Outbox) -> None:
        if acknowledged:
            self._hops.send(now, to, message, out)
        else:
            out.send(to, message)

    def on_scatter_lost(self, now: float, to: NodeId, message: Scatter, out: Outbox) -> None:
        """A hop failed: plan its pieces anew, around the node that does not answer (it is shunned now)."""
        refused = not self._contacts.is_shunned(to, now)  # for want of room: to plan anew at once would loop
        self._redo(now, to, message, refused, out)

    def on_returned(self, now: float, source: NodeId, message: Returned, out: Outbox) -> None:
        """``source`` has left the ring: as if the hop had failed, only sooner."""
        check_scatter(message.scatter)
        if message.scatter.ticket and not self._upkeep.owes(message.scatter.ticket, source):
            self._local.count("spread.late", out, source, message.scatter.ticket)
            return
        self._contacts.shun(source, now + self._settings.shun_s)
        self._redo(now, source, message.scatter, False, out)

    def _redo(self, now: float, failed: NodeId, message: Scatter, refused: bool, out: Outbox) -> None:
        self._entrance.delegates.drop_node(failed)
        number = 0
        if message.ticket:
            duty = self._upkeep.release(message.ticket)
            if duty is None:
                return
            number = duty.number
        errand = Errand(message.asked, message.hops, number, message.careful)
        parts = [Part(p.to, p.piece, LEVELS_MAX, p.first if p.first != p.to else None) for p in message.parts]
        if message.hops >= TTL_HOPS:
            for part in parts:
                self._upkeep.abandon("spread.ttl", errand, part, out)
        elif refused:
            for part in parts:
                self._upkeep.wait(now, errand, part, 0, out)
        else:
            self._cover(now, errand, parts, out)
        self._upkeep.settle(now, number, out)

    def on_astray(self, now: float, source: NodeId, message: Astray, out: Outbox) -> None:
        """``ref`` is gone: no delegate any more, and no entry of a table (which is the lookup's to tell)."""
        if message.ref.node != source:
            raise Violation("astray said of another broker's node")
        self._entrance.delegates.drop(message.ref)
        self._lookup.on_gone(now, source, Gone(message.ref), out)

    # Our own keys

    def _visit(self, now: float, errand: Errand, ref: Ref, out: Outbox) -> None:
        """The query reached our node ``ref``: deliver it, unless it was here before or the condition does not hold now."""
        asked, number = errand.asked, errand.duty
        values = self._tables.values(ref.key)
        if asked.condition is not None and not matches(values, asked.condition):
            return
        if asked.census:
            assert asked.condition is not None
            self._upkeep.offer(number, Offer(ref, values.get(asked.condition.label, 0.0)), out)
            return
        if number or errand.acknowledged:
            old = self._memory.get(asked, ref.key)
            if old is not None:
                self._revisit(now, number, old, out)
                return
        token = self._local.next_request() if number else None
        if number or errand.acknowledged:
            waiters = [number] if number else []
            if self._memory.put(Delivery(token, ref.key, asked, token is None, waiters=waiters)):
                self._local.count("spread.forgotten", out, asked.request)
        if number:
            self._upkeep.wait_for(number, ref.key)
        out.deliver(Received(token, ref.key, asked.payload, asked.origin, errand.hops))

    def _revisit(self, now: float, number: int, old: Delivery, out: Outbox) -> None:
        self._local.count("spread.duplicate", out, old.key)
        if number and old.done:
            self._upkeep.answered(now, number, old.key, old.value, out)
        elif number and number not in old.waiters:
            old.waiters.append(number)
            self._upkeep.wait_for(number, old.key)


def check_query(query: Query) -> None:
    """What our own caller may ask."""
    if query.range.low > query.range.high:
        raise Misuse("reversed range: low must not be above high")
    if query.strategy not in STRATEGIES:
        raise Misuse(f"unknown strategy {query.strategy}: one of {', '.join(STRATEGIES)}")
    if query.reduce is not None and query.reduce not in REDUCERS:
        raise Misuse(f"unknown reducer {query.reduce}: one of {', '.join(REDUCERS)}")
    if query.condition is not None and query.condition.op not in OPERATORS:
        raise Misuse(f"unknown operator {query.condition.op}: one of {', '.join(OPERATORS)}")
