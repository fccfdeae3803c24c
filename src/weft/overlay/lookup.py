"""Lookup: who has the greatest key not above this one? (Chord#'s greedy routing; overlay §3)

A Seek is handed from broker to broker, each time to the contact nearest below the key, and whoever has that node itself
answers the asker directly. The first try is bare: converged tables make it ``ceil(log2 n) − 1`` hops at most. If no answer
comes in time the next tries are careful: each hop is acknowledged, and a hop that fails is routed around.

Whoever is left of a node that has died may know nobody beyond it, and answers for all up to where the ring goes on: that is
what joins and repairs want to hear. Who wants to be ``sure`` asks again, and takes it only when all tries are spent.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import PENDING_MAX, TTL_HOPS
from weft.core.machine import Handlers, Message, Outbox, TimerHandlers
from weft.overlay.api import Ref
from weft.overlay.contacts import Contacts
from weft.overlay.hops import Hops
from weft.overlay.keys import Key, between
from weft.overlay.local import Local
from weft.overlay.settings import Settings

DOUBLES_FROM = 8
"""Hops after which a Seek is suspected of going round; a shorter way is not worth remembering."""
HOLES_MAX = 5
"""Answers from the edge of a hole before one is taken: with the default retry_wait_s after 31 s, well past a repair."""
SEEN_MAX = 1_024
"""Hops of suspected Seeks that are remembered."""


class Seek(Message, frozen=True, gc=False):
    """``toward`` is the virtual node the sender believes nearest; None from an asker who knows only a broker."""

    key: Key
    request: int
    origin: NodeId
    hops: int
    careful: bool
    toward: Ref | None


class Sought(Message, frozen=True, gc=False):
    request: int
    at: Ref
    right: Ref
    hops: int


class Gone(Message, frozen=True, gc=False):
    """``ref`` is not (any more) a virtual node of the broker that says so."""

    ref: Ref


class SeekDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: no answer to ``request`` yet."""

    request: int


class Found(msgspec.Struct, frozen=True, gc=False):
    """The answer, handed to whoever asked; ``at`` is None if nobody answered."""

    at: Ref | None
    right: Ref | None
    hops: int


class _Pending(msgspec.Struct):
    key: Key
    purpose: Any
    via: NodeId | None
    tries: int
    sure: bool
    holes: int = 0
    """How often the answer was the last before a hole in the ring."""


Asker = Callable[[float, Any, Found, Outbox], None]
RightOf = Callable[[Key], Ref]
Holds = Callable[[Ref], bool]
Purge = Callable[[float, Ref, Outbox], None]


class Lookup:
    """In: ``ask``, Seek, Sought, SeekDue. Out: ``askers[type(purpose)]`` hears each ask's end exactly once."""

    def __init__(
        self,
        local: Local,
        contacts: Contacts,
        hops: Hops,
        settings: Settings,
        right_of: RightOf,
        holds: Holds,
        purge: Purge,
    ) -> None:
        self._local = local
        self._contacts = contacts
        self._hops = hops
        self._settings = settings
        self._right_of = right_of
        self._holds = holds
        self._purge = purge
        self._pending: dict[int, _Pending] = {}
        self._seen: dict[tuple[NodeId, int, int], None] = {}
        self.askers: dict[type, Asker] = {}
        self.handlers: Handlers = {Seek: self.on_seek, Sought: self.on_sought, Gone: self.on_gone}
        self.timers: TimerHandlers = {SeekDue: self.on_seek_due}
        hops.lost[Seek] = self.on_seek_lost

    def ask(self, now: float, key: Key, purpose: Any, via: NodeId | None, out: Outbox, sure: bool = False) -> int:
        """Find ``key``'s place, from broker ``via``, or by our own tables if that is None."""
        request = self._local.next_request()
        self._pending[request] = _Pending(key, purpose, via, 1, sure)
        if len(self._pending) > PENDING_MAX:
            self._local.count("lookup.refused", out)
            self._finish(now, request, Found(None, None, 0), out)
            return request
        self._local.timers.set(SeekDue(request), now + self._settings.request_timeout_s)
        self._start(now, request, out)
        return request

    def _start(self, now: float, request: int, out: Outbox) -> None:
        pending = self._pending[request]
        seek = Seek(pending.key, request, self._local.node, 0, pending.tries > 1, None)
        if pending.via is None or pending.via == self._local.node:
            self._route(now, seek, out)
        else:
            self._hand(now, pending.via, seek, out)

    def on_seek(self, now: float, source: NodeId, message: Seek, out: Outbox) -> None:
        if message.hops < 0:
            raise Violation("negative hop count")
        if message.hops >= TTL_HOPS:
            self._local.count("lookup.ttl", out, message.key)
            return
        if not message.careful and self._is_double(message):
            self._local.count("lookup.doubled", out, message.key)
            return
        toward = message.toward
        if toward is not None and toward.node != self._local.node:
            raise Violation("Seek towards another broker's node")
        if toward is not None and not self._holds(toward):
            out.send(source, Gone(toward))
        self._route(now, message, out, source)

    def _is_double(self, seek: Seek) -> bool:
        """Was this very hop here already? While tables disagree a Seek may go round, and a network that doubles messages
        would double it at each hop: 2**TTL_HOPS of them. (Careful ones are told apart by their hops' numbers.)
        """
        if seek.hops < DOUBLES_FROM:
            return False
        hop = (seek.origin, seek.request, seek.hops)
        if hop in self._seen:
            return True
        self._seen[hop] = None
        if len(self._seen) > SEEN_MAX:
            del self._seen[next(iter(self._seen))]
        return False

    def _route(self, now: float, seek: Seek, out: Outbox, source: NodeId | None = None) -> None:
        """Hand ``seek`` on, or answer it. Whoever has no tables asks somebody it once met, but not where it came from."""
        best = self._contacts.floor(seek.key, now)
        if best is None:  # we have no tables, but may know somebody who has
            met = [node for node in self._contacts.met if node not in (source, seek.origin)]
            if met and seek.origin != self._local.node:
                stray = Seek(seek.key, seek.request, seek.origin, seek.hops, seek.careful, None)
                self._hand(now, self._local.rng.choice(met), stray, out)
            else:
                self._local.count("lookup.stranded", out, seek.key)
            return
        if best.node != self._local.node:
            hand = Seek(seek.key, seek.request, seek.origin, seek.hops, seek.careful, best)
            self._hand(now, best.node, hand, out)
            return
        answer = Sought(seek.request, best, self._right_of(best.key), seek.hops)
        if seek.origin == self._local.node:
            self.on_sought(now, seek.origin, answer, out)
        else:
            out.send(seek.origin, answer)

    def _hand(self, now: float, to: NodeId, seek: Seek, out: Outbox) -> None:
        handed = Seek(seek.key, seek.request, seek.origin, seek.hops + 1, seek.careful, seek.toward)
        if handed.careful:
            self._hops.send(now, to, handed, out)
        else:
            out.send(to, handed)

    def on_seek_lost(self, now: float, to: NodeId, message: Seek, out: Outbox) -> None:
        if message.toward is not None:
            self._route(now, message, out)

    def on_sought(self, now: float, source: NodeId, message: Sought, out: Outbox) -> None:
        if not 0 <= message.hops <= TTL_HOPS:
            raise Violation("hop count out of bounds")
        pending = self._pending.get(message.request)
        if pending is None:
            self._local.count("lookup.late", out, message.request)
            return
        at, key = message.at.key, pending.key
        if pending.sure and key != at and not between(at, key, message.right.key):
            self._local.count(
                "lookup.hole", out, message.right
            )  # it is not above the key: it has died, or somebody came
            pending.holes += 1
            if pending.holes <= HOLES_MAX:
                pending.tries = 1
                wait = self._settings.retry_wait_s * (1 << pending.holes)
                self._local.timers.set(SeekDue(message.request), now + wait)
                return
        self._finish(now, message.request, Found(message.at, message.right, message.hops), out)

    def on_gone(self, now: float, source: NodeId, message: Gone, out: Outbox) -> None:
        if message.ref.node != source:
            raise Violation("gone said of another broker's node")
        self._purge(now, message.ref, out)

    def on_seek_due(self, now: float, due: SeekDue, out: Outbox) -> None:
        pending = self._pending[due.request]
        if pending.tries > self._settings.request_tries:
            self._local.count("lookup.failed", out, pending.key)
            self._finish(now, due.request, Found(None, None, 0), out)
            return
        pending.tries += 1
        wait = self._settings.hop_timeout_s * self._settings.hop_tries + self._settings.request_timeout_s
        self._local.timers.set(due, now + wait)
        self._start(now, due.request, out)

    def _finish(self, now: float, request: int, found: Found, out: Outbox) -> None:
        pending = self._pending.pop(request)
        self._local.timers.cancel(SeekDue(request))
        self.askers[type(pending.purpose)](now, pending.purpose, found, out)
