"""The origin's side of Anycast: phases, timer, and the fall-back to Multicast (SELECT §3.4.1; docs/adr/0005).

    phase 0   the Pick is on its way; ``Picked`` ends it, or its timer (a quarter of the query's time)
    phase 1   census: who in the range matches? (SELECT's InfoReq and InfoRep; half of it)
    phase 2…  one reservation after the other, to those who matched, until one takes it or the time is over

Whoever takes it first is the answer, in whatever phase the origin is by then; a later taker is counted as late.
"""

from collections.abc import Callable

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.limits import PENDING_MAX
from weft.core.machine import Handlers, Outbox, TimerHandlers
from weft.overlay.api import Query, Ref, Selected
from weft.overlay.keys import KeyRange
from weft.overlay.local import Local
from weft.overlay.settings import Settings
from weft.overlay.spread.messages import Asked, Offer, Pick, Picked, check_picked
from weft.overlay.spread.selection import Candidate, alone, choose


class HuntDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: this phase of our Anycast has taken long enough."""

    request: int


class Hunt(msgspec.Struct):
    """An Anycast of our own. ``phase`` grows with each new start, so that a late "nobody" is recognised."""

    query: Query
    selection: str
    end: float
    due: float
    phase: int = 0
    reserving: bool = False
    offers: list[Offer] = []


Census = Callable[[float, Query, int, float, Outbox], None]
Start = Callable[[float, Pick, Outbox], None]


class Hunts:
    """In: ``begin``, Picked, the census, HuntDue. Out: a Pick to ``start`` with; ``Selected`` exactly once."""

    def __init__(self, local: Local, settings: Settings, start: Start, census: Census) -> None:
        self._local = local
        self._settings = settings
        self._start = start
        self._census = census
        self._hunts: dict[int, Hunt] = {}
        self._counting: dict[int, int] = {}
        self.handlers: Handlers = {Picked: self.on_picked}
        self.timers: TimerHandlers = {HuntDue: self.on_hunt_due}

    def begin(self, now: float, query: Query, selection: str, out: Outbox) -> int:
        request = self._local.next_request()
        if query.range.is_empty or len(self._hunts) >= PENDING_MAX:
            if not query.range.is_empty:
                self._local.count("spread.hunts_full", out, request)
            out.deliver(Selected(request, None, None, 0, "anycast"))
            return request
        time_s = self._settings.query_timeout_s
        self._hunts[request] = Hunt(query, selection, now + time_s, now + time_s / 4)
        self._local.timers.set(HuntDue(request), now + time_s / 4)
        self._start(now, self._pick(request, Ref(query.range.low, self._local.node, 0), query.range), out)
        return request

    def _pick(self, request: int, to: Ref, scope: KeyRange, only: bool = False) -> Pick:
        hunt = self._hunts[request]
        query = hunt.query
        asked = Asked(
            self._local.node, request, query.payload, query.strategy, reliable=True, condition=query.condition
        )
        return Pick(asked, hunt.selection, query.range, scope, to, hunt.phase, only=only)

    def _select(self, now: float, request: int, picked: Picked, out: Outbox) -> None:
        del self._hunts[request]
        self._local.timers.cancel(HuntDue(request))
        by = "anycast" if picked.phase == 0 else "multicast"
        out.deliver(Selected(request, picked.key, picked.value, picked.hops, by))

    def on_picked(self, now: float, source: NodeId, message: Picked, out: Outbox) -> None:
        check_picked(message)
        hunt = self._hunts.get(message.request)
        if hunt is None or message.phase > hunt.phase or (message.key is None and message.phase < hunt.phase):
            self._local.count("spread.late", out, source, message.request)
        elif message.key is None and hunt.reserving and source == self._local.node:
            hunt.due = now  # the next one, but not from within this one
            self._local.timers.set(HuntDue(message.request), now)
        elif message.key is None and not message.empty:
            self._next_phase(now, message.request, hunt, out)
        elif message.key is not None and message.key not in hunt.query.range:
            raise Violation("picked a key outside the range")
        else:
            self._select(now, message.request, message, out)

    def on_hunt_due(self, now: float, due: HuntDue, out: Outbox) -> None:
        hunt = self._hunts.get(due.request)
        if hunt is not None and now >= hunt.due:
            self._local.count("spread.hunt_timeout", out, due.request, hunt.phase)
            self._next_phase(now, due.request, hunt, out)

    def _next_phase(self, now: float, request: int, hunt: Hunt, out: Outbox) -> None:
        hunt.phase += 1
        if hunt.reserving:
            self._reserve_next(now, request, hunt, out)
        elif hunt.phase == 1:
            self._local.count("spread.census", out, request)
            self._local.timers.cancel(HuntDue(request))
            number = self._local.next_request()
            self._counting[number] = request
            self._census(now, hunt.query, number, self._settings.query_timeout_s / 2, out)

    def counted(self, now: float, number: int, offers: tuple[Offer, ...], out: Outbox) -> None:
        """The census is over."""
        request = self._counting.pop(number)
        hunt = self._hunts.get(request)
        if hunt is not None:  # else somebody took it late
            hunt.reserving = True
            hunt.offers = list(offers)
            self._reserve_next(now, request, hunt, out)

    def _reserve_next(self, now: float, request: int, hunt: Hunt, out: Outbox) -> None:
        """Ask one of those who match to take it; when it refuses, the next."""
        if hunt.offers and now < hunt.end:
            shares = [Candidate(offer.ref, 0, offer.value, alone(offer.ref.key)) for offer in hunt.offers]
            chosen = choose(self._local.rng, hunt.selection, shares)
            hunt.offers = [offer for offer in hunt.offers if offer.ref != chosen.ref]
            pick = self._pick(request, chosen.ref, chosen.scope, only=True)
            wait_s = self._settings.hop_timeout_s * self._settings.hop_tries + self._settings.request_timeout_s
            hunt.due = min(now + wait_s, hunt.end)
            self._local.timers.set(HuntDue(request), hunt.due)
            self._start(now, pick, out)
            return
        self._select(now, request, Picked(request, hunt.phase, None, None, 0), out)
