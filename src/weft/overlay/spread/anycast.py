"""Anycast: one node of a range, by aggregated values (SELECT §3.4.2 Algorithms 1 and 2; overlay §4; docs/adr/0005).

    begin ─▶ walk: candidates ─▶ choose ─▶ ourselves, and we match now ─▶ Received … reply ─▶ Picked ─▶ Selected
                ▲                  └─▶ another: Pick, with r := its range ∩ r            │ refused: rule ourselves out
                └──────────────────────── no candidate: rule r out, r := the full range ◀┘
    past its TTL, or nobody left ─▶ Picked(None); the origin goes on by Multicast (``hunt``)

SELECT's algorithm never ends when nothing is free. Here every step either adds to ``steps`` or rules a range out, both are
bounded, each hop is acknowledged, and the root has a timer: it always ends. An entry's value is a hint: only the node
itself says whether it matches now, and only the layer above it whether it takes the request.
"""

import msgspec

from weft.core.ids import NodeId
from weft.core.machine import Handlers, Outbox
from weft.overlay.api import Received, Ref
from weft.overlay.contacts import Contacts
from weft.overlay.hops import Hops
from weft.overlay.keys import Key
from weft.overlay.local import Local
from weft.overlay.settings import Settings
from weft.overlay.spread.geometry import matches
from weft.overlay.spread.hunt import Census, Hunts
from weft.overlay.spread.messages import RULED_OUT_MAX, Astray, Pick, Picked, check_pick
from weft.overlay.spread.planner import Planner, Way
from weft.overlay.spread.selection import alone, candidates_at, choose
from weft.overlay.spread.tables import Delivery, Memory, Tables


class Anycast:
    """In: Pick, replies, what ``hunts`` starts. Out: Received at the node picked; Pick to others; Picked to the origin."""

    def __init__(
        self,
        local: Local,
        contacts: Contacts,
        hops: Hops,
        settings: Settings,
        tables: Tables,
        planner: Planner,
        memory: Memory,
        census: Census,
    ) -> None:
        self._local = local
        self._contacts = contacts
        self._hops = hops
        self._settings = settings
        self._tables = tables
        self._planner = planner
        self._memory = memory
        self.hunts = Hunts(local, settings, self._start, census)
        self.handlers: Handlers = {Pick: self.on_pick, **self.hunts.handlers}
        hops.lost[Pick] = self.on_pick_lost

    def _start(self, now: float, pick: Pick, out: Outbox) -> None:
        """A Pick of our own sets out."""
        if not pick.only:
            self._walk(now, pick, out)
        elif pick.to.node == self._local.node:
            self._reserve(now, pick, out)
        else:
            self._hand(now, pick, out)

    # Any node on the way

    def on_pick(self, now: float, source: NodeId, message: Pick, out: Outbox) -> None:
        check_pick(message)
        if message.to.node == self._local.node and not self._contacts.is_own(message.to):
            out.send(source, Astray(message.to))
        if message.only:
            self._reserve(now, message, out)
        else:
            self._walk(now, message, out)

    def _walk(self, now: float, pick: Pick, out: Outbox) -> None:
        """Algorithm 1 from one of our nodes, until the request is taken, handed on, or nobody is left."""
        condition = pick.asked.condition
        assert condition is not None
        while pick.steps <= self._settings.anycast_ttl and len(pick.ruled_out) < RULED_OUT_MAX:
            here = self._place(pick)
            if here is None:
                self._enter(now, pick, out)
                return
            key = here.key
            rights, lefts = self._tables.rights(key), self._tables.lefts(key)
            found = candidates_at(here, self._tables.values(key), rights, lefts, pick, condition)
            found = [candidate for candidate in found if self._usable(now, candidate.ref)]
            if not found:
                if pick.scope == pick.range:
                    break
                pick = _replace(pick, scope=pick.range, ruled_out=(*pick.ruled_out, pick.scope))
                continue
            chosen = choose(self._local.rng, pick.selection, found)
            if chosen.level < 0:
                if matches(self._tables.values(key), condition) and self._claim(now, pick, key, out):
                    return
                pick = _replace(pick, ruled_out=(*pick.ruled_out, alone(key)))
                continue
            pick = _replace(pick, scope=chosen.scope, to=chosen.ref, steps=pick.steps + 1, inside=True)
            if chosen.ref.node != self._local.node:
                self._hand(now, pick, out)
                return
        self._close(now, pick, None, out)

    def _place(self, pick: Pick) -> Ref | None:
        """The node of ours whose tables choose; None: we have none in the range."""
        if self._contacts.is_own(pick.to) and (pick.inside or pick.to.key in pick.range):
            return pick.to
        mine = self._contacts.own_inside(*pick.scope) or self._contacts.own_inside(*pick.range)
        return mine[0] if mine else None

    def _usable(self, now: float, ref: Ref) -> bool:
        if ref.node == self._local.node:
            return self._contacts.is_own(ref)
        return not self._contacts.is_shunned(ref.node, now)

    def _enter(self, now: float, pick: Pick, out: Outbox) -> None:
        """From outside: a node in the range takes over the selection (SELECT §3.4, the delegate)."""
        inside = self._contacts.inside(*pick.range, now)
        way = self._local.rng.choice(inside) if inside else self._planner.route(now, pick.range)
        if way is Way.EMPTY:
            self._close(now, pick, None, out, empty=True)
        elif isinstance(way, Ref) and way.node != self._local.node and self._usable(now, way):
            self._hand(now, _replace(pick, to=way, scope=pick.range, steps=pick.steps + 1, inside=False), out)
        else:
            self._close(now, pick, None, out)

    def _hand(self, now: float, pick: Pick, out: Outbox) -> None:
        self._hops.send(now, pick.to.node, _replace(pick, hops=pick.hops + 1), out)

    def on_pick_lost(self, now: float, to: NodeId, message: Pick, out: Outbox) -> None:
        if not self._contacts.is_shunned(to, now):
            return  # refused for want of room: the root's timer goes on from there
        if message.only:
            self._close(now, message, None, out)
        else:
            here = Ref(message.range.low, self._local.node, 0)
            self._walk(now, _replace(message, to=here, scope=message.range, steps=message.steps + 1), out)

    # The node picked

    def _reserve(self, now: float, pick: Pick, out: Outbox) -> None:
        """``to`` or nobody, and only if it matches now."""
        condition = pick.asked.condition
        assert condition is not None
        fits = self._contacts.is_own(pick.to) and matches(self._tables.values(pick.to.key), condition)
        if not fits or not self._claim(now, pick, pick.to.key, out):
            self._close(now, pick, None, out)

    def _claim(self, now: float, pick: Pick, key: Key, out: Outbox) -> bool:
        """Offer the request to the layer above; False if it has refused before."""
        old = self._memory.get(pick.asked, key)
        if old is not None and not old.done:
            old.pick = pick  # the layer above is still thinking about an earlier copy
            return True
        if old is not None and old.value is not None:
            self._close(now, pick, old, out)
            return True
        if old is not None and not pick.only:
            return False
        token = self._local.next_request()
        self._memory.put(Delivery(token, key, pick.asked, done=False, pick=pick))
        out.deliver(Received(token, key, pick.asked.payload, pick.asked.origin, pick.hops))
        return True

    def replied(self, now: float, delivery: Delivery, out: Outbox) -> None:
        """The layer above has answered: None is a refusal, and the search goes on from here."""
        pick = delivery.pick
        assert pick is not None
        if delivery.value is not None:
            self._close(now, pick, delivery, out)
        elif pick.only:
            self._close(now, pick, None, out)
        else:
            self._walk(now, _replace(pick, ruled_out=(*pick.ruled_out, alone(delivery.key))), out)

    def _close(self, now: float, pick: Pick, taken: Delivery | None, out: Outbox, empty: bool = False) -> None:
        """Tell the origin who took it, or that nobody did."""
        key, value = (None, None) if taken is None else (taken.key, taken.value)
        picked = Picked(pick.asked.request, pick.phase, key, value, pick.hops, empty)
        if pick.asked.origin == self._local.node:
            self.hunts.on_picked(now, self._local.node, picked, out)
        else:
            self._hops.send(now, pick.asked.origin, picked, out)


def _replace(pick: Pick, **changes: object) -> Pick:
    changed: Pick = msgspec.structs.replace(pick, **changes)
    return changed
